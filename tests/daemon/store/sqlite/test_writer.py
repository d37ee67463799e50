"""The writing thread: what waits goes into one transaction, and nothing stops it."""

import asyncio
import threading
from pathlib import Path

import pytest

from tests.daemon.store.opened import opening
from tests.daemon.store.stores import Log, SqlitePlace
from waybread_daemon.clock import now_ms
from waybread_daemon.store.contract import StoreFault
from waybread_daemon.store.sqlite import SqliteStore, open_reader


async def syncs(place: SqlitePlace, records: int, body: bytes) -> int:
    """How many commits that many records take that wait all at once behind a commit that hangs, and that one."""
    store = await place.open()
    log = Log(store)
    session = await log.session()
    reached, go_on = threading.Event(), threading.Event()

    def hang(kind: str, _: str) -> None:
        if kind == "sync":
            reached.set()
            assert go_on.wait(60)

    place.vfs.before = hang
    try:
        log.result(session, b"the first")
        assert await asyncio.to_thread(reached.wait, 60)
        for _ in range(records):
            log.result(session, body)
        place.vfs.fail("sync", from_call=10**9)
    finally:
        go_on.set()
    await store.settled()
    commits = len(place.vfs.calls)
    place.mend_disk()
    await store.close()
    return commits


async def test_what_waits_is_one_transaction_up_to_1000_records(tmp_path: Path) -> None:
    assert await syncs(SqlitePlace(tmp_path), 3000, b"x") == 4


async def test_what_waits_is_one_transaction_up_to_two_mib(tmp_path: Path) -> None:
    assert await syncs(SqlitePlace(tmp_path), 100, b"x" * 100_000) == 6


async def test_a_fault_of_the_programs_own_ends_no_thread(tmp_path: Path) -> None:
    place = SqlitePlace(tmp_path)
    store = await place.open()
    log = Log(store)
    session = await log.session()
    record = log.next_result(session)
    record.body = "text"  # type: ignore[assignment] # what must not stop the thread
    with pytest.raises(StoreFault, match=r"TypeError") as caught:
        await log.append(record)
    assert isinstance(caught.value.__cause__, TypeError)
    log.seq, log.results[session] = 1, 0
    await log.result(session)
    await store.close()


def test_a_loop_that_was_closed_without_the_store_ends_the_thread_without_a_word(tmp_path: Path) -> None:
    store = SqliteStore.open(tmp_path / "store.sqlite", clock_ms=now_ms)
    before = threading.enumerate()
    asyncio.run(store.start())
    (writer,) = (thread for thread in threading.enumerate() if thread.name == "store-writer" and thread not in before)
    store.append(opening(1, store.new_session()), lambda _: None)
    writer.join(10)
    assert not writer.is_alive()
    # What it was given is durable all the same.
    with open_reader(tmp_path / "store.sqlite") as reader:
        assert reader.head(1) == 1


async def test_records_of_an_ended_generation_fail_with_the_fault_that_ended_it(tmp_path: Path) -> None:
    place = SqlitePlace(tmp_path)
    store = await place.open()
    log = Log(store)
    session = await log.session()
    committing, told = threading.Event(), threading.Event()

    def before(kind: str, file: str) -> None:
        if kind == "sync" and file.endswith("-wal") and not told.is_set():
            committing.set()
            told.wait(10)

    place.break_disk()
    place.vfs.before = before
    first = log.result(session)
    place.vfs.fail("sync")
    await asyncio.to_thread(committing.wait, 10)
    # The commit of the first is under way when the second is appended; it fails, and the disk is well at once.
    second = log.result(session)
    told.set()
    with pytest.raises(StoreFault):
        await first
    place.mend_disk()
    with pytest.raises(StoreFault):
        await second
    # Nothing had looked before, so the writer's connection was the only one beside the store's own.
    assert await store.look(lambda reader: reader.head(1)) == 1
    log.seq, log.results[session] = 1, 0
    await log.result(session)
    await store.close()


async def test_batches_are_counted_with_their_records_and_those_that_failed_apart(tmp_path: Path) -> None:
    place = SqlitePlace(tmp_path)
    store = await place.open()
    log = Log(store)
    session = await log.session()
    await log.result(session, b"x" * 1000)
    await log.result(session, b"y" * 10)
    assert store.counts.batch_records.sum == 3
    assert sum(store.counts.batch_records.counts) == sum(store.counts.commit_s.counts) == 3
    raw_bytes, written_bytes = store.written_bytes
    assert raw_bytes >= 1010
    assert 0 < written_bytes < 200
    place.break_disk()
    with pytest.raises(StoreFault):
        await log.result(session, b"z" * 1000)
    assert store.counts.failed_commits == 1
    assert sum(store.counts.commit_s.counts) == 3
    assert store.written_bytes == (raw_bytes, written_bytes)
    place.mend_disk()
    await store.close()
    assert store.waiting == 0
