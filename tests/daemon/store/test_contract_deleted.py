"""Deleted sessions: gone for every reader at once, purged afterwards, their ids never free again."""

import asyncio
import random

import pytest

from tests.daemon.store.stores import Log, Place, content_facts, result_row, session_facts, sha
from waybread_daemon.store.contract import Facts, Reader, Store, StoreFault


async def test_a_deleted_session_is_gone_for_every_reader(store: Store, log: Log) -> None:
    session = await log.session()
    begin = log.record(session, "turn")
    begin.turn_begun = "turn"
    log.append(begin)
    log.read(session, sha(b"x"), b"x")
    await log.delete(session)

    def look(reader: Reader) -> None:
        facts = reader.session(1, "a")
        assert facts is not None
        assert facts.gone
        assert reader.sessions(1, 0, 9) == []
        assert reader.events(session) == []
        assert reader.turn(session, "turn") is None
        assert reader.result(session, 1) is None
        assert reader.keyed(session, "key-000000001") is None
        assert [reader.entry(1, seq) for seq in (1, 2, 3, 4)] == [None] * 4
        assert reader.content(1, sha(b"x")) is None
        assert reader.head(1) == 4
        assert [(row.seq, row.kind, row.session) for row in reader.rows(1, 0, None, 9)] == [(4, "deleted", "a")]
        assert [row.seq for row in reader.rows(1, 0, session, 9)] == [4]
        assert reader.rows_before(session, 0, 9) == []

    await store.look(look)


async def test_its_id_and_the_end_of_the_log_stay_after_the_purge_and_a_restart(place: Place) -> None:
    store = await place.open(grace_ms=0)
    log = Log(store)
    session = await log.session()
    for _ in range(1200):
        log.result(session)
    await log.delete(session)
    for _ in range(3):
        await asyncio.sleep(0.2)
        await store.close()
        store = await place.open(grace_ms=0)
        assert (await session_facts(store)).gone
        assert await store.look(lambda reader: reader.head(1)) == 1202
        assert [row.kind for row in await store.look(lambda reader: reader.rows(1, 0, None, 9))] == ["deleted"]
        assert store.new_session() > session
    await store.close()


async def test_other_sessions_keep_all_that_is_theirs(place: Place) -> None:
    store = await place.open(grace_ms=0)
    log = Log(store)
    gone, kept = await log.session("gone"), await log.session("kept")
    for session in (gone, kept):
        log.read(session, sha(b"shared"), b"shared")
        log.result(session, b"own")
    log.read(gone, sha(b"alone"), b"alone")
    await log.delete(gone)
    await asyncio.sleep(0.3)
    shared = await content_facts(store, sha(b"shared"))
    assert await store.look(lambda reader: reader.whole(shared)) == b"shared"
    assert await store.look(lambda reader: reader.content(1, sha(b"alone"))) is None
    assert (await result_row(store, kept, 2)).body == b"own"
    assert [row.seq for row in await store.look(lambda reader: reader.rows(1, 0, kept, 9))] == [2, 5, 6]
    await store.close()


async def test_what_it_stored_makes_room_again(place: Place) -> None:
    store = await place.open(grace_ms=0)
    log = Log(store)
    noise = random.Random(1)

    async def fill(name: str) -> int:
        session = await log.session(name)
        data = noise.randbytes(3_000_000)
        log.read(session, sha(data), await store.stage(1, sha(data), data, text=False))
        body = log.next_result(session)
        body.own = await store.stage(1, b"", noise.randbytes(3_000_000), text=True)
        log.append(body)
        for _ in range(30):
            log.result(session, noise.randbytes(100_000))
        await store.settled()
        return session

    session = await fill("s0")
    await store.close()
    once = place.size_bytes()
    assert once > 9_000_000
    store = await place.open(grace_ms=0)
    log.store = store
    for n in range(1, 5):
        await log.delete(session)
        await asyncio.sleep(0.5)
        session = await fill(f"s{n}")
    await store.close()
    assert place.size_bytes() < 1.2 * once


async def test_content_that_a_record_on_its_way_names_is_still_taken_up(store: Store, log: Log) -> None:
    first, second = await log.session("a"), await log.session("b")
    await log.read(first, sha(b"x"), b"x")
    await log.delete(first)
    assert await store.look(lambda reader: reader.content(1, sha(b"x"))) is None
    await log.read(second, sha(b"x"), None)
    facts = await content_facts(store, sha(b"x"))
    assert await store.look(lambda reader: reader.whole(facts)) == b"x"


async def test_after_the_grace_it_is_needed_again(place: Place) -> None:
    store = await place.open(grace_ms=0)
    log = Log(store)
    first, second = await log.session("a"), await log.session("b")
    await log.read(first, sha(b"x"), b"x")
    await log.delete(first)
    await asyncio.sleep(0.3)
    seq = log.seq
    with pytest.raises(StoreFault, match="send it again with the content"):
        await log.read(second, sha(b"x"), None)
    log.seq, log.results[second] = seq, 0
    await log.read(second, sha(b"x"), b"x")
    assert (await content_facts(store, sha(b"x"))).size_bytes == 1
    await store.close()


async def test_content_taken_up_in_the_grace_outlives_it(place: Place) -> None:
    store = await place.open(grace_ms=300)
    log = Log(store)
    first, second = await log.session("a"), await log.session("b")
    await log.read(first, sha(b"x"), b"x")
    await log.delete(first)
    await asyncio.sleep(0.1)
    await log.read(second, sha(b"x"), None)
    await asyncio.sleep(0.8)
    facts = await content_facts(store, sha(b"x"))
    assert await store.look(lambda reader: reader.whole(facts)) == b"x"
    await store.close()
    store = await place.open(grace_ms=0)
    await asyncio.sleep(0.3)
    assert await content_facts(store, sha(b"x")) == facts
    await store.close()


async def test_records_go_on_while_a_large_session_is_purged(place: Place) -> None:
    store = await place.open(grace_ms=0)
    log = Log(store)
    gone, kept = await log.session("gone"), await log.session("kept")
    for _ in range(20_000):
        log.result(gone)
    await log.delete(gone)
    waits: list[float] = []
    clock = asyncio.get_running_loop().time
    for _ in range(50):
        start = clock()
        await log.result(kept)
        waits.append(clock() - start)
    assert sorted(waits)[25] < 0.1
    await store.close()


async def test_only_a_record_of_kind_deleted_deletes(store: Store, log: Log) -> None:
    session = await log.session()
    record = log.record(session, "result", Facts(1))
    with pytest.raises(ValueError, match="kind `deleted`, not `result`"):
        store.delete(record, lambda _: None)
