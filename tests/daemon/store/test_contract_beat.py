"""Whether the thread that writes still comes round: asked often, so it must cost nothing."""

import asyncio
import threading
from pathlib import Path

from tests.daemon.store.stores import Log, Place, SqlitePlace
from waybread_daemon.store.contract import Store


async def test_a_beat_comes_after_what_was_appended_and_writes_nothing(store: Store, place: Place, log: Log) -> None:
    session = await log.session()
    log.result(session)
    await store.beat()
    size = place.size_bytes()
    for _ in range(50):
        await store.beat()
    assert place.size_bytes() == size


async def test_a_disk_that_takes_no_writes_does_not_keep_it_from_coming(store: Store, place: Place) -> None:
    place.break_disk(full=True)
    async with asyncio.timeout(5):
        await store.beat()


async def test_a_disk_that_hangs_does(tmp_path: Path) -> None:
    place = SqlitePlace(tmp_path)
    store = await place.open()
    hung, reached = threading.Event(), threading.Event()

    def hang(kind: str, _: str) -> None:
        if kind == "sync":
            reached.set()
            hung.wait()

    place.vfs.before = hang
    try:
        _, opened = Log(store).open()
        await asyncio.to_thread(reached.wait)
        beat = asyncio.ensure_future(store.beat())
        await asyncio.wait((beat,), timeout=0.3)
        assert not beat.done()
        hung.set()
        await opened
        async with asyncio.timeout(5):
            await beat
    finally:
        hung.set()
        await store.close()
