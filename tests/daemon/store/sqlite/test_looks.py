"""Threads that look."""

import asyncio
import threading
from pathlib import Path

import pytest

from tests.daemon.store.stores import SqlitePlace
from waybread_daemon.store.contract import Reader, StoreFault


async def test_two_looks_go_on_at_once(tmp_path: Path) -> None:
    place = SqlitePlace(tmp_path)
    store = await place.open()
    both = threading.Barrier(2, timeout=10)
    assert sorted(await asyncio.gather(*(store.look(lambda _: both.wait()) for _ in range(2)))) == [0, 1]
    await store.close()


@pytest.mark.parametrize("kind", ["open", "read"])
async def test_a_look_at_a_broken_disk_raises_and_the_next_one_is_well(tmp_path: Path, kind: str) -> None:
    place = SqlitePlace(tmp_path)
    store = await place.open()
    place.vfs.fail(kind)
    for _ in range(3):
        with pytest.raises(StoreFault, match="gave an error"):
            await store.look(lambda reader: reader.head(1))
    place.mend_disk()
    for _ in range(3):
        assert await store.look(lambda reader: reader.head(1)) == 0
    await store.close()


async def test_close_waits_for_a_look_under_way(tmp_path: Path) -> None:
    place = SqlitePlace(tmp_path)
    store = await place.open()
    begun, may_end = threading.Event(), threading.Event()

    def look(reader: Reader) -> int:
        begun.set()
        may_end.wait(10)
        return reader.head(1)

    looking = asyncio.ensure_future(asyncio.wait_for(store.look(look), 20))
    await asyncio.to_thread(begun.wait, 10)
    closing = asyncio.ensure_future(store.close())
    await asyncio.sleep(0.05)
    assert not closing.done()
    may_end.set()
    assert await looking == 0
    await closing
