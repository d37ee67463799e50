"""A commit that fails: nothing of it is there, everyone hears of it in the right order, and the store goes on."""

import asyncio
import time

import pytest

from tests.daemon.store.stores import Log, Place, result_row, sha
from waybread_daemon.store.contract import LARGE_BYTES, Store, StoreFault


async def test_a_broken_disk_fails_the_record_with_a_sentence(place: Place, store: Store, log: Log) -> None:
    session = await log.session()
    place.break_disk()
    with pytest.raises(StoreFault, match="Nothing of this was stored: send it again") as caught:
        await log.result(session)
    assert caught.value.code == "internal"


async def test_a_full_disk_is_storage_full_and_looks_go_on(place: Place, store: Store, log: Log) -> None:
    session = await log.session()
    await log.result(session, b"before")
    place.break_disk(full=True)
    with pytest.raises(StoreFault, match=r"is full.* free some space there and send it again") as caught:
        await log.result(session)
    assert caught.value.code == "storage_full"
    assert (await result_row(store, session, 1)).body == b"before"


async def test_after_the_fault_ends_the_store_takes_records_again(place: Place, store: Store, log: Log) -> None:
    session = await log.session()
    for full in (False, True, False):
        place.break_disk(full=full)
        for _ in range(3):
            seq, results = log.seq, log.results.get(session, 0)
            with pytest.raises(StoreFault):
                await log.result(session)
            log.seq, log.results[session] = seq, results
        place.mend_disk()
        await log.result(session, b"after")
    rows = await store.look(lambda reader: reader.rows(1, 1, None, 99))
    assert [(row.seq, row.number, row.body) for row in rows] == [(n + 1, n, b"after") for n in (1, 2, 3)]


async def test_the_reset_comes_once_before_the_first_fault_and_after_the_last_success(
    place: Place, store: Store, log: Log
) -> None:
    session = await log.session()
    heard: list[str] = []
    store.on_reset = lambda: heard.append("reset")

    def hear(future: asyncio.Future[None]) -> None:
        heard.append("fault" if future.exception() else "done")

    log.result(session).add_done_callback(hear)
    await store.settled()
    place.break_disk()
    for _ in range(2500):
        # More than one batch: those behind the one that failed were appended in the belief that it would succeed.
        log.result(session).add_done_callback(hear)
    await store.settled()
    await asyncio.sleep(0)
    assert heard == ["done", "reset", *["fault"] * 2500]


async def test_what_was_appended_after_a_failed_record_fails_even_where_the_disk_is_well_again(
    place: Place, store: Store, log: Log
) -> None:
    session = await log.session()
    place.break_disk()
    first = log.result(session)
    # The loop hears nothing of the fault meanwhile, and the disk recovers before the second record is appended.
    time.sleep(0.3)  # noqa: ASYNC251 - it is meant to block
    place.mend_disk()
    second = log.result(session)
    for future in (first, second):
        with pytest.raises(StoreFault):
            await future
    assert await store.look(lambda reader: reader.head(1)) == 1


async def test_a_fault_rolls_back_all_that_its_record_would_have_changed(place: Place, store: Store, log: Log) -> None:
    session = await log.session()
    place.break_disk()
    record = log.next_result(session)
    record.turn_begun = record.current_turn = "turn"
    failed = [log.append(record), log.read(session, sha(b"x"), b"x"), log.open("b")[1], log.delete(session)]
    for future in failed:
        with pytest.raises(StoreFault):
            await future
    place.mend_disk()
    rows = await store.look(lambda reader: reader.rows(1, 0, None, 9))
    assert [row.kind for row in rows] == ["opened"]
    assert await store.look(lambda reader: reader.turn(session, "turn")) is None
    assert await store.look(lambda reader: reader.content(1, sha(b"x"))) is None
    assert await store.look(lambda reader: reader.session(1, "b")) is None
    facts = await store.look(lambda reader: reader.session(1, "a"))
    assert facts is not None
    assert (facts.gone, facts.results, facts.turn, facts.newest_key, facts.head) == (False, 0, "", "", 1)


async def test_staging_on_a_broken_disk_raises_and_the_next_try_succeeds(place: Place, store: Store, log: Log) -> None:
    session = await log.session()
    data = bytes(range(256)) * (LARGE_BYTES // 64)
    place.break_disk(full=True)
    with pytest.raises(StoreFault) as caught:
        await store.stage(1, sha(data), data, text=False)
    assert caught.value.code == "storage_full"
    place.mend_disk()
    await log.read(session, sha(data), await store.stage(1, sha(data), data, text=False))
    row = await result_row(store, session, 1)
    assert row.content is not None
    assert row.content.size_bytes == len(data)


async def test_accounts_on_a_broken_disk_raise_and_reset_no_log(place: Place, store: Store, log: Log) -> None:
    resets: list[None] = []
    store.on_reset = lambda: resets.append(None)
    await log.session()
    place.break_disk()
    with pytest.raises(StoreFault):
        await store.add_device("d", "phone", 1)
    place.mend_disk()
    assert (await store.add_device("d", "phone", 1)).name == "phone"
    assert resets == []


async def test_settled_never_raises(place: Place, store: Store, log: Log) -> None:
    session = await log.session()
    place.break_disk()
    failed = log.result(session)
    await store.settled()
    assert isinstance(failed.exception(), StoreFault)
