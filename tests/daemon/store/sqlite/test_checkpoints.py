"""The log stays short, whatever readers do, and no commit has to copy it."""

import asyncio
import random
import threading
import time
from pathlib import Path

from tests.daemon.store.opened import Opened, opened, opening, result
from tests.daemon.store.stores import Log, SqlitePlace
from waybread_daemon.store.contract import Reader
from waybread_daemon.store.sqlite.checkpoints import PAGES_BETWEEN, LogKeeper, start_over
from waybread_daemon.store.sqlite.connection import BUSY_TIMEOUT_MS, connect_writer
from waybread_daemon.store.sqlite.statements import value

__all__ = ["opened"]

MIB = 1024 * 1024


def log_bytes(place: SqlitePlace) -> int:
    return place.path.with_name(place.path.name + "-wal").stat().st_size


async def write(log: Log, session: int, mib: int) -> None:
    noise = random.Random(1)
    for _ in range(mib):
        for _ in range(10):
            log.result(session, noise.randbytes(MIB // 10))
        await log.store.settled()


async def test_the_log_stays_short_under_load_while_readers_come_and_go(tmp_path: Path) -> None:
    place = SqlitePlace(tmp_path)
    store = await place.open()
    log = Log(store)
    session = await log.session()

    async def look() -> None:
        while True:
            await store.look(lambda reader: reader.rows(1, 0, session, 5))

    looking = asyncio.ensure_future(look())
    await write(log, session, 150)
    looking.cancel()
    assert log_bytes(place) < 48 * MIB
    await store.close()


async def test_a_reader_that_stays_holds_back_nobody_and_the_log_is_cut_afterwards(tmp_path: Path) -> None:
    place = SqlitePlace(tmp_path)
    store = await place.open()
    log = Log(store)
    session = await log.session()
    enough = threading.Event()

    def stay(reader: Reader) -> tuple[int, int]:
        before = reader.head(1)
        enough.wait(30)
        return before, reader.head(1)

    held = asyncio.ensure_future(asyncio.wait_for(store.look(stay), 60))
    await asyncio.sleep(0.1)
    await write(log, session, 80)
    assert log_bytes(place) > 70 * MIB
    enough.set()
    assert await held == (1, 1)
    async with asyncio.timeout(120):
        while log_bytes(place) > 64 * MIB:
            await write(log, session, 1)
    await store.close()


def test_it_checkpoints_after_enough_pages_and_asks_the_writer_to_start_over(opened: Opened) -> None:
    keeper = LogKeeper(lambda: connect_writer(opened.path, None))
    keeper.start()
    noise = random.Random(1)
    opened.batch.write(opened.cursor, [opening(1, 1)])
    seq = 1
    while not keeper.ready:
        seq += 1
        opened.batch.write(opened.cursor, [result(seq, 1, seq - 1, noise.randbytes(400_000))])
        keeper.note(opened.connection)
        assert seq < 200
    assert seq * 100 > PAGES_BETWEEN
    keeper.stop()
    assert start_over(opened.connection, BUSY_TIMEOUT_MS)
    opened.batch.write(opened.cursor, [result(seq + 1, 1, seq)])
    # What is written next stands at the log's beginning again.
    assert opened.connection.wal_checkpoint()[0] < 10
    assert value(opened.cursor, "PRAGMA busy_timeout") == BUSY_TIMEOUT_MS


def test_a_log_that_is_to_be_cut_is_copied_at_once_and_cut_to_nothing_when_no_reader_is_in_the_way(
    opened: Opened,
) -> None:
    log = opened.path.with_name(f"{opened.path.name}-wal")
    keeper = LogKeeper(lambda: connect_writer(opened.path, None))
    keeper.start()
    opened.batch.write(opened.cursor, [opening(1, 1)])
    keeper.cut()
    end_s = time.monotonic() + 10
    while not keeper.ready:
        time.sleep(0.005)
        assert time.monotonic() < end_s
    keeper.stop()
    assert keeper.cutting
    with opened.reader.snapshot():
        opened.reader.head(1)
        opened.batch.write(opened.cursor, [result(2, 1, 1)])
        assert not start_over(opened.connection, BUSY_TIMEOUT_MS, cut=True)
    assert log.stat().st_size > 0
    assert start_over(opened.connection, BUSY_TIMEOUT_MS, cut=True)
    assert log.stat().st_size == 0
    assert opened.reader.head(1) == 2


def test_starting_over_waits_for_no_reader(opened: Opened) -> None:
    opened.batch.write(opened.cursor, [opening(1, 1)])
    with opened.reader.snapshot():
        opened.reader.head(1)
        opened.batch.write(opened.cursor, [result(2, 1, 1)])
        assert not start_over(opened.connection, BUSY_TIMEOUT_MS)
    assert start_over(opened.connection, BUSY_TIMEOUT_MS)
    assert value(opened.cursor, "PRAGMA busy_timeout") == BUSY_TIMEOUT_MS


def test_a_checkpoint_that_fails_is_tried_again_on_a_fresh_connection(tmp_path: Path) -> None:
    place = SqlitePlace(tmp_path)
    opened = Opened(place.path)
    keeper = LogKeeper(lambda: connect_writer(place.path, place.vfs.name))
    keeper.start()
    place.vfs.fail("sync", "write")
    opened.batch.write(opened.cursor, [opening(1, 1)])
    for _ in range(3):
        keeper.check()
    place.mend_disk()
    opened.batch.write(opened.cursor, [result(2, 1, 1)])
    keeper.check()
    keeper.stop()
    assert opened.reader.head(1) == 2
    opened.close()
