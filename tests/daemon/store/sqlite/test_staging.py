"""Large content, written ahead."""

import asyncio
import random
from collections.abc import Callable
from functools import partial
from pathlib import Path

import apsw
import pytest

from tests.daemon.store.stores import Log, SqlitePlace, result_row, sha, whole
from waybread_daemon.store.sqlite.statements import run, value

DATA = random.Random(1).randbytes(9_000_000)


def look(place: SqlitePlace, sql: str) -> int:
    return int(value(apsw.Connection(str(place.path)).cursor(), sql))


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not true():  # noqa: ASYNC110 - the file tells no one of its changes
            await asyncio.sleep(0.001)


async def test_a_piece_is_a_transaction_of_two_mib(tmp_path: Path) -> None:
    place = SqlitePlace(tmp_path)
    store = await place.open()
    await asyncio.sleep(0.1)
    place.vfs.fail("sync", from_call=10**9)
    await store.stage(1, sha(DATA), DATA, text=False)
    # The beginning, five pieces, the end; and some of checkpoints.
    assert 7 <= len(place.vfs.calls) <= 16
    place.mend_disk()
    await store.close()
    sizes = run(apsw.Connection(str(place.path)).cursor(), "SELECT length(data) FROM chunk")
    assert len(sizes) == 69
    assert max(size for (size,) in sizes) < 132_000


async def test_what_was_staged_before_it_was_cancelled_is_dropped(tmp_path: Path) -> None:
    place = SqlitePlace(tmp_path)
    store = await place.open()
    staging = asyncio.ensure_future(asyncio.wait_for(store.stage(1, sha(DATA), DATA, text=False), 20))
    await until(lambda: look(place, "SELECT count(*) FROM chunk") > 0)
    staging.cancel()
    with pytest.raises(asyncio.CancelledError):
        await staging
    await until(lambda: look(place, "SELECT (SELECT count(*) FROM chunk) + (SELECT count(*) FROM content)") == 0)
    await store.close()


async def test_what_is_staged_first_thing_after_the_start_is_no_leftover(tmp_path: Path) -> None:
    place = SqlitePlace(tmp_path)
    for n in range(3):
        store = await place.open()
        staged = await store.stage(1, b"", DATA[:1_000_000], text=True)
        await asyncio.sleep(0.1)
        log = Log(store, seq=n * 2)
        record = log.next_result(await log.session(f"s{n}"))
        record.own = staged
        await log.append(record)
        await store.close()


async def test_several_are_staged_at_once(tmp_path: Path) -> None:
    place = SqlitePlace(tmp_path)
    store = await place.open()
    log = Log(store)
    session = await log.session()
    contents = [random.Random(n).randbytes(2_500_000) for n in range(4)]
    staged = await asyncio.gather(*(store.stage(1, b"", data, text=True) for data in contents))
    for one in staged:
        record = log.next_result(session)
        record.own = one
        log.append(record)
    await store.settled()
    for number, data in enumerate(contents, 1):
        row = await result_row(store, session, number)
        assert row.content is not None
        assert await store.look(partial(whole, content=row.content)) == data
    await store.close()


async def test_the_loop_stays_free_meanwhile(tmp_path: Path) -> None:
    place = SqlitePlace(tmp_path)
    store = await place.open()
    text = ("a line of text ☃\n" * 1_000_000).encode()
    clock = asyncio.get_running_loop().time
    staging = asyncio.ensure_future(asyncio.wait_for(store.stage(1, b"", text, text=True), 60))
    longest, before = 0.0, clock()
    while not staging.done():
        await asyncio.sleep(0)
        longest, before = max(longest, clock() - before), clock()
    assert longest < 0.5
    await staging
    await store.close()
