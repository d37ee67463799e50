"""What stored things take: raw and stored, a session and a device, before and after deletions and restarts."""

from __future__ import annotations

import random

import pytest

from tests.daemon.store.stores import Log, Place, session_facts, sha
from waybread_daemon.store.contract import Facts, FileContent, Staged, Store
from waybread_daemon.store.sizes import DeviceSizes, FileSizes, OldSession, SessionSizes

FILE = b"a line of a file\n" * 1000
NOISE = random.Random(3).randbytes(1_000_000)


async def the_device(store: Store) -> DeviceSizes:
    sizes = {size.device: size for size in await store.look(lambda reader: reader.sizes())}
    return sizes[1]


async def largest(store: Store, limit: int = 9) -> list[SessionSizes]:
    return await store.look(lambda reader: reader.largest_sessions(limit))


async def test_a_device_that_stored_nothing_takes_nothing(store: Store) -> None:
    await store.add_device("dev", "phone", 1)
    assert await store.look(lambda reader: reader.sizes()) == [DeviceSizes(1, 0, 0, 0, 0)]
    assert store.used_bytes(1) == 0


async def test_raw_is_arguments_bodies_and_contents_as_they_came(store: Store, log: Log) -> None:
    await store.add_device("dev", "phone", 1)
    session = await log.session()
    record = log.next_result(session)
    record.args, record.body = b"a" * 300, b"b" * 5000
    await log.append(record)
    await log.read(session, sha(FILE), FILE)
    # The same content again brings nothing that is not there.
    await log.read(session, sha(FILE), None)
    device = await the_device(store)
    assert (device.sessions, device.raw_bytes) == (1, 300 + 5000 + len(FILE))
    assert device.stored_bytes == device.used_bytes == store.used_bytes(1)
    # Five thousand equal letters take next to nothing; four rows and their shares of the indexes are most of it.
    assert 500 < device.stored_bytes < 1500
    (row,) = await largest(store)
    assert (row.device, row.session, row.results, row.raw_bytes) == (1, "a", 3, device.raw_bytes)
    assert row.stored_bytes == device.stored_bytes


async def test_what_was_written_ahead_is_no_part_of_what_a_record_brings(log: Log) -> None:
    record = log.next_result(1)
    record.args, record.body, record.own = b"a" * 300, b"b" * 5000, Staged(1)
    record.contents = FileContent(sha(FILE), FILE), FileContent(sha(NOISE), Staged(2)), FileContent(sha(b""), None)
    assert record.raw_bytes == 300 + 5000 + len(FILE)


async def test_what_cannot_be_compressed_is_stored_as_large_as_it_came(store: Store, log: Log) -> None:
    await store.add_device("dev", "phone", 1)
    session = await log.session()
    await log.result(session, NOISE[:100_000])
    await log.read(session, sha(NOISE), await store.stage(1, sha(NOISE), NOISE, text=False))
    device = await the_device(store)
    assert device.raw_bytes == 1_100_000
    assert 1_100_000 < device.stored_bytes < 1_102_000


async def test_content_counts_once_in_the_device_and_once_in_each_session_that_holds_it(store: Store, log: Log) -> None:
    await store.add_device("dev", "phone", 1)
    for name in ("a", "b"):
        session = await log.session(name)
        for _ in range(2):
            await log.read(session, sha(NOISE), await store.stage(1, sha(NOISE), NOISE, text=False))
    device = await the_device(store)
    assert device.raw_bytes == 1_000_000
    assert 1_000_000 < device.stored_bytes < 1_003_000
    assert [(row.session, row.raw_bytes) for row in await largest(store)] == [("a", 1_000_000), ("b", 1_000_000)]


async def test_content_of_another_device_counts_there(store: Store, log: Log) -> None:
    for number in (1, 2):
        await store.add_device(f"dev-{number}", "phone", 1)
        other = Log(store, number)
        session, opened = other.open()
        await opened
        await other.read(session, sha(FILE), FILE)
    assert [size.raw_bytes for size in await store.look(lambda reader: reader.sizes())] == [len(FILE)] * 2
    assert store.used_bytes(1) == store.used_bytes(2) > 0
    assert store.used_bytes(3) == 0


async def test_a_deleted_session_counts_until_it_is_purged_and_a_restart_changes_no_number(place: Place) -> None:
    store = await place.open(grace_ms=0)
    log = Log(store)
    await store.add_device("dev", "phone", 1)
    kept, gone = await log.session("kept"), await log.session("gone")
    for session in (kept, gone):
        await log.read(session, sha(FILE), FILE)
        await log.result(session, b"own")
    before = await the_device(store)
    for _ in range(600):
        log.result(gone, NOISE[:1000])
    own = log.next_result(gone)
    own.own = await store.stage(1, b"", NOISE, text=True)
    await log.append(own)
    full = store.used_bytes(1)
    assert full > before.used_bytes + 1_600_000
    await log.delete(gone)
    await store.purged()
    device = await the_device(store)
    assert device == DeviceSizes(1, 1, len(FILE) + 3, store.used_bytes(1), 0)
    # What the one session takes, and its file.
    (row,) = await largest(store)
    assert row.stored_bytes == store.used_bytes(1) < before.used_bytes
    await store.close()
    store = await place.open()
    assert store.used_bytes(1) == device.stored_bytes
    assert await the_device(store) == device
    await store.close()


async def test_a_failed_record_counts_for_nothing(place: Place, store: Store, log: Log) -> None:
    await store.add_device("dev", "phone", 1)
    session = await log.session()
    before = store.used_bytes(1)
    place.break_disk()
    failed = [log.read(session, sha(FILE), FILE), log.result(session, NOISE[:5000])]
    await store.settled()
    assert all(future.exception() for future in failed)
    place.mend_disk()
    assert store.used_bytes(1) == before
    assert (await the_device(store)).raw_bytes == 0


async def test_staged_content_that_was_there_already_counts_once(store: Store, log: Log) -> None:
    await store.add_device("dev", "phone", 1)
    session = await log.session()
    first, second = [await store.stage(1, sha(NOISE), NOISE, text=False) for _ in range(2)]
    log.read(session, sha(NOISE), first)
    await log.read(session, sha(NOISE), second)
    assert (await the_device(store)).raw_bytes == 1_000_000


async def test_the_largest_sessions_come_first_and_no_more_than_asked_for(store: Store, log: Log) -> None:
    for name, size in (("small", 10), ("large", 90_000), ("middle", 5000), ("gone", 80_000)):
        await log.result(await log.session(name), NOISE[:size])
    await log.delete((await session_facts(store, "gone")).number)
    assert [row.session for row in await largest(store)] == ["large", "middle", "small"]
    assert [row.session for row in await largest(store, 2)] == ["large", "middle"]


@pytest.mark.parametrize("size", [100, 2_000_000])
async def test_numbers_hold_for_every_way_in_which_content_comes_and_goes(store: Store, size: int) -> None:
    """A change of several files, one of them twice, one known; a window; all of it deleted again."""
    await store.add_device("dev", "phone", 1)
    log = Log(store)
    noise = random.Random(size)
    files = [noise.randbytes(size) for _ in range(3)]

    async def content(data: bytes) -> FileContent:
        staged: bytes | Staged = data if size < 1000 else await store.stage(1, sha(data), data, text=False)
        return FileContent(sha(data), staged)

    first, second = await log.session("a"), await log.session("b")
    record = log.next_result(first)
    record.contents = tuple([await content(data) for data in files[:2]])
    log.append(record)
    record = log.next_result(second)
    record.contents = (FileContent(sha(files[0]), None), await content(files[2]))
    record.source = sha(files[2])
    await log.append(record)
    assert (await the_device(store)).raw_bytes == 3 * size
    assert sorted(row.raw_bytes for row in await largest(store)) == [2 * size, 2 * size]
    await log.delete(first)
    await store.purged(skip_grace=True)
    assert (await the_device(store)).raw_bytes == 2 * size
    await log.delete(second)
    await store.purged(skip_grace=True)
    assert await the_device(store) == DeviceSizes(1, 0, 0, 0, 0)
    assert store.used_bytes(1) == 0


async def test_sessions_are_as_old_as_their_last_change_or_as_what_stands_before_it(store: Store, log: Log) -> None:
    async def changed(session: int, at_ms: int) -> None:
        await log.append(log.record(session, "message", Facts(at_ms)))

    early, clockless, late = [await log.session(name) for name in ("early", "clockless", "late")]
    other = Log(store, 2)
    number, opened = other.open("other")
    await opened
    await other.append(other.record(number, "message", Facts(50)))
    await changed(early, 100)
    await changed(late, 1000)
    # Its clock had been reset when it was written; but it was written after 1000.
    await changed(clockless, 7)

    async def old(before_ms: int) -> list[OldSession]:
        return await store.look(lambda reader: reader.old_sessions(before_ms))

    assert await old(50) == []
    assert await old(101) == [OldSession(1, "early", 4), OldSession(2, "other", 2)]
    assert await old(1000) == [OldSession(1, "early", 4), OldSession(2, "other", 2)]
    assert [session.session for session in await old(1001)] == ["early", "late", "clockless", "other"]
    await log.delete(late)
    assert [session.session for session in await old(1001)] == ["early", "clockless", "other"]


async def test_the_files_are_as_large_as_the_disk_says(place: Place, store: Store, log: Log) -> None:
    session = await log.session()
    await log.result(session, NOISE[:200_000])
    files = await store.look(lambda reader: reader.files())
    assert isinstance(files, FileSizes)
    assert files.log_bytes > 200_000
    # The index of the log stands beside the two in shared memory.
    assert place.size_bytes() - files.database_bytes - files.log_bytes in (0, 32_768)


async def test_the_volume_has_room(store: Store) -> None:
    volume = await store.volume()
    assert 0 < volume.free_bytes <= volume.total_bytes
