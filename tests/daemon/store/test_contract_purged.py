"""What was deleted leaves the disk, the whole of it; and a device goes with all that it stored."""

from __future__ import annotations

import asyncio
import random

import pytest

from tests.daemon.store.stores import Log, Place, content_facts, session_facts, sha
from waybread_daemon.store.contract import Reader, Store, StoreFault

NOISE = random.Random(5).randbytes(3_000_000)


async def fill(store: Store, log: Log, name: str = "a") -> int:
    """A session of about seven megabytes that cannot be compressed."""
    session = await log.session(name)
    data = random.Random(name).randbytes(3_000_000)
    log.read(session, sha(data), await store.stage(log.device, sha(data), data, text=False))
    body = log.next_result(session)
    body.own = await store.stage(log.device, b"", NOISE, text=True)
    log.append(body)
    for _ in range(20):
        log.result(session, NOISE[:50_000])
    await store.settled()
    return session


async def test_the_files_shrink_while_the_store_is_open(place: Place) -> None:
    store = await place.open()
    log = Log(store)
    await log.session("kept")
    sessions = [await fill(store, log, name) for name in "abc"]
    assert place.size_bytes() > 20_000_000
    for session in sessions:
        await log.delete(session)
    await store.purged(skip_grace=True)
    files = await store.look(lambda reader: reader.files())
    assert (files.log_bytes, files.free_bytes) == (0, 0)
    assert place.size_bytes() < 300_000
    await log.result((await session_facts(store, "kept")).number, b"after")
    await store.close()


async def test_what_another_process_left_to_be_purged_and_cut_is_done_at_the_start(place: Place) -> None:
    store = await place.open()
    log = Log(store)
    session = await fill(store, log)
    await log.delete(session)
    await store.close()
    store = await place.open(grace_ms=0)
    await store.purged()
    assert place.size_bytes() < 300_000
    await store.close()


async def test_content_in_its_grace_is_waited_for_and_at_once_gone_without_it(place: Place) -> None:
    store = await place.open(grace_ms=400)
    log = Log(store)
    for skip_grace, least_s, most_s in ((False, 0.35, 5), (True, 0, 0.35)):
        session = await log.session(f"session {skip_grace}")
        await log.read(session, sha(b"x"), b"x")
        start_s = asyncio.get_running_loop().time()
        await log.delete(session)
        await store.purged(skip_grace=skip_grace)
        assert least_s <= asyncio.get_running_loop().time() - start_s < most_s
    await store.close()


async def test_where_nothing_is_to_be_purged_it_is_done_at_once(store: Store, log: Log) -> None:
    await log.session()
    async with asyncio.timeout(2):
        await asyncio.gather(store.purged(), store.purged(skip_grace=True))


async def test_a_purge_that_the_disk_does_not_let_through_is_told_and_goes_on_later(place: Place) -> None:
    store = await place.open(grace_ms=0)
    log = Log(store)
    session = await fill(store, log)
    deleted = log.delete(session)
    await deleted
    place.break_disk()
    with pytest.raises(StoreFault):
        await store.purged()
    place.mend_disk()
    await store.close()
    store = await place.open(grace_ms=0)
    await store.purged()
    assert place.size_bytes() < 300_000
    await store.close()


async def test_who_waits_when_the_store_is_closed_is_told(place: Place) -> None:
    store = await place.open(grace_ms=60_000)
    log = Log(store)
    session = await log.session()
    await log.read(session, sha(b"x"), b"x")
    await log.delete(session)
    waiting = asyncio.ensure_future(store.purged())
    await asyncio.sleep(0.1)
    await store.close()
    with pytest.raises(StoreFault, match="was closed meanwhile"):
        await waiting


async def test_a_purge_goes_on_beside_records_that_never_stop(place: Place) -> None:
    store = await place.open(grace_ms=0)
    log = Log(store)
    kept = await log.session("kept")
    gone = await fill(store, log)
    await log.delete(gone)
    purged = asyncio.ensure_future(store.purged())
    async with asyncio.timeout(30):
        while not purged.done():
            for _ in range(50):
                log.result(kept)
            await log.result(kept)
    await purged
    await store.close()


async def test_staging_that_is_not_allowed_ends_and_leaves_nothing(place: Place, store: Store, log: Log) -> None:
    session = await log.session()
    pieces: list[int] = []

    def allow(piece_bytes: int) -> None:
        pieces.append(piece_bytes)
        if len(pieces) == 2:
            raise PermissionError

    data = random.Random(6).randbytes(20_000_000)
    with pytest.raises(PermissionError):
        await store.stage(1, sha(data), data, text=False, allow=allow)
    assert len(pieces) == 2
    assert 2_000_000 < pieces[0] < 2_200_000
    await store.purged()
    assert place.size_bytes() < 300_000
    await log.result(session)


async def test_staged_content_that_is_dropped_is_purged(place: Place, store: Store) -> None:
    staged = await store.stage(1, sha(NOISE), NOISE, text=False)
    store.drop(staged)
    await store.purged()
    assert place.size_bytes() < 300_000


async def test_a_deleted_device_is_gone_with_its_tokens_sessions_and_contents(place: Place, store: Store) -> None:
    phone, tablet = [await store.add_device(name, name, 1) for name in ("phone", "tablet")]
    for device in (phone, tablet):
        await store.add_token(f"token of {device.name}", device.number, "device", b"", 1)
    log, other = Log(store, phone.number), Log(store, tablet.number)
    for name in "ab":
        await fill(store, log, name)
    deleted = await log.session("deleted before")
    await log.delete(deleted)
    kept = await other.session()
    await other.read(kept, sha(b"x"), b"x")
    assert await store.delete_device(phone.number, 77) == 2

    def look(reader: Reader) -> None:
        assert reader.devices() == [tablet]
        assert [token.token for token in reader.tokens()] == ["token of tablet"]
        revoked = reader.token("token of phone")
        assert revoked is not None
        assert revoked.revoked_ms == 77
        assert reader.sessions(phone.number, 0, 9) == []
        assert reader.rows(phone.number, 0, None, 999) == []
        assert [size.device for size in reader.sizes()] == [tablet.number]
        assert [row.session for row in reader.largest_sessions(9)] == ["a"]

    await store.purged(skip_grace=True)
    await store.look(look)
    assert store.used_bytes(phone.number) == 0
    assert place.size_bytes() < 300_000
    assert (await content_facts(store, sha(b"x"), tablet.number)).size_bytes == 1
    await other.result(kept)


async def test_its_number_and_its_id_are_never_given_again(place: Place) -> None:
    store = await place.open()
    phone = await store.add_device("dev", "phone", 1)
    await store.delete_device(phone.number, 2)
    await store.purged()
    with pytest.raises(StoreFault):
        await store.add_device("dev", "phone", 3)
    await store.close()
    store = await place.open()
    assert (await store.add_device("dev-2", "phone", 3)).number > phone.number
    await store.close()


async def test_a_deleted_device_gets_no_token_any_more(store: Store) -> None:
    phone = await store.add_device("dev", "phone", 1)
    await store.delete_device(phone.number, 2)
    with pytest.raises(StoreFault, match="This device was deleted"):
        await store.add_token("late", phone.number, "device", b"", 3)
    assert await store.look(lambda reader: reader.token("late")) is None


async def test_a_device_whose_deletion_failed_is_there_with_all_its_sessions(place: Place, store: Store) -> None:
    phone = await store.add_device("dev", "phone", 1)
    log = Log(store, phone.number)
    session = await log.session()
    place.break_disk()
    with pytest.raises(StoreFault):
        await store.delete_device(phone.number, 2)
    place.mend_disk()
    await log.result(session)
    await store.purged()
    assert not (await session_facts(store, device=phone.number)).gone
    assert await store.look(lambda reader: reader.devices()) == [phone]


async def test_records_that_came_after_the_deletion_are_found_at_the_next_start(place: Place) -> None:
    store = await place.open()
    phone = await store.add_device("dev", "phone", 1)
    log = Log(store, phone.number)
    await store.delete_device(phone.number, 2)
    # No daemon does this; if one ever did, it would not stay for good.
    session = await log.session()
    await log.result(session, NOISE[:200_000])
    await store.close()
    store = await place.open(grace_ms=0)
    await store.purged()
    assert store.used_bytes(phone.number) == 0
    assert await store.look(lambda reader: reader.rows(phone.number, 0, None, 9)) == []
    await store.close()
