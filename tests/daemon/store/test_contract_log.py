"""The laws of the log: order, durability, looks that see one moment."""

import asyncio
from functools import partial

import pytest

from tests.daemon.store.stores import Log, Place, result_row, session_facts
from waybread_daemon.store.contract import Cut, EventRow, Facts, Opening, Reader, Span, Store, StoreFault, TurnFacts


async def test_a_new_store_is_empty(store: Store) -> None:
    def look(reader: Reader) -> tuple[object, ...]:
        return reader.head(1), reader.sessions(1, 0, 10), reader.rows(1, 0, None, 10), reader.session(1, "a")

    assert await store.look(look) == (0, [], [], None)


def note(order: list[int], number: int, _: object) -> None:
    order.append(number)


async def test_records_are_there_in_the_order_in_which_they_were_appended(store: Store, log: Log) -> None:
    session = await log.session()
    order: list[int] = []
    for number in range(1, 1501):
        log.result(session, b"%d" % number).add_done_callback(partial(note, order, number))
    await store.settled()
    await asyncio.sleep(0)
    assert order == list(range(1, 1501))
    rows = await store.look(lambda reader: reader.rows(1, 1, None, 2000))
    assert [(row.seq, row.number, row.body) for row in rows] == [(n + 1, n, b"%d" % n) for n in range(1, 1501)]
    assert await store.look(lambda reader: reader.head(1)) == 1501


async def test_a_record_comes_out_as_it_went_in(store: Store, log: Log) -> None:
    session = await log.session()
    record = log.next_result(session)
    record.facts = Facts(
        at_ms=1_700_000_000_000,
        turn="t",
        lead="[#0001]\n",
        shape=2,
        cut=Cut(3, "…\n", 9),
        span=Span(1, 2, 5, numbered=True),
        role="assistant",
        tool="grep",
        call="call-1",
        body="text",
        error=True,
        stub_of=7,
        turns=("a", "b"),
        session_kind="chat",
        title="tïtle",
        digest=b"\x00" * 32,
        answer=b"\xff",
    )
    record.event, record.args, record.body = b"\x00event", b'{"a":1}', "bödy\n\x00".encode() * 100
    await log.append(record)
    row = await result_row(store, session, 1)
    assert row.facts == record.facts
    assert (row.seq, row.session, row.session_number, row.kind, row.number) == (2, "a", session, "result", 1)
    assert (row.args, row.body, row.content, row.root) == (record.args, record.body, None, 0)
    assert await store.look(lambda reader: reader.events(session)) == [EventRow(2, b"\x00event")]


async def test_a_row_is_found_by_its_number_its_key_and_its_seq(store: Store, log: Log) -> None:
    session = await log.session()
    await log.result(session)

    def look(reader: Reader) -> None:
        row = reader.result(session, 1)
        assert row is not None
        assert reader.keyed(session, "key-000000001") == row
        assert reader.entry(1, 2) == row
        assert reader.rows(1, 1, session, 5) == [row]
        assert reader.rows_before(session, 0, 1) == [row]
        assert reader.result(session, 2) is None
        assert reader.result(session, 0) is None
        assert reader.keyed(session, "key-000000002") is None
        assert reader.keyed(session, "") is None
        assert reader.result(session + 1, 1) is None
        assert [reader.entry(1, seq) for seq in (0, 3, -1, 1 << 40, 1 << 52)] == [None] * 5

    await store.look(look)


async def test_what_is_done_is_there_after_a_restart(place: Place) -> None:
    store = await place.open()
    log = Log(store)
    session = await log.session()
    for _ in range(20):
        log.result(session)
    epoch = store.epoch
    await store.close()
    store = await place.open()
    rows = await store.look(lambda reader: reader.rows(1, 0, None, 100))
    assert [row.seq for row in rows] == list(range(1, 22))
    assert store.epoch == epoch
    assert store.new_session() > session
    await store.close()


async def test_close_makes_durable_what_was_appended_before(place: Place) -> None:
    store = await place.open()
    log = Log(store)
    _, opened = log.open()
    await store.close()
    assert opened.done()
    store = await place.open()
    assert (await session_facts(store)).results == 0
    await store.close()


async def test_devices_have_logs_of_their_own(store: Store) -> None:
    first, second = Log(store, 1), Log(store, 2)
    one, two = await first.session("x"), await second.session("x")
    await first.result(one, b"of one")
    await second.result(two, b"of two")

    def look(reader: Reader) -> None:
        assert [(row.seq, row.body) for row in reader.rows(1, 0, None, 9)] == [(1, b""), (2, b"of one")]
        assert [(row.seq, row.body) for row in reader.rows(2, 0, None, 9)] == [(1, b""), (2, b"of two")]
        assert (reader.head(1), reader.head(2), reader.head(3)) == (2, 2, 0)
        assert [facts.number for facts in reader.sessions(1, 0, 9)] == [one]
        assert reader.rows(1, 2**52, None, 9) == []

    await store.look(look)


async def test_a_record_that_is_not_the_next_of_its_log_is_refused(store: Store, log: Log) -> None:
    session = await log.session()
    log.seq += 1
    with pytest.raises(StoreFault, match="Record 3 of the log of device 1 came where 2 is next"):
        await log.result(session)
    log.seq -= 2
    log.results[session] = 0
    await log.result(session)
    assert (await result_row(store, session, 1)).seq == 2


async def test_a_number_or_a_key_given_twice_is_refused_and_leaves_the_first(store: Store, log: Log) -> None:
    session = await log.session()
    await log.result(session, b"first")
    log.results[session] = 0
    with pytest.raises(StoreFault):
        await log.result(session, b"second")
    assert (await result_row(store, session, 1)).body == b"first"


async def test_the_store_knows_a_session_as_its_last_record_left_it(store: Store, log: Log) -> None:
    session = await log.session("näme")
    begin = log.record(session, "turn")
    begin.turn_begun = begin.current_turn = log.turns[session] = "turn-1"
    log.append(begin)
    log.result(session)
    compacted = log.record(session, "compacted", Facts(at_ms=77))
    compacted.key, compacted.event = "key-000000000", b"base"
    await log.append(compacted)
    facts = await session_facts(store, "näme")
    assert (facts.number, facts.session, facts.kind) == (session, "näme", "agent")
    assert (facts.title, facts.directory, facts.gone, facts.read_only) == ("title of näme", "/home", False, False)
    assert (facts.results, facts.turn, facts.head, facts.base_seq) == (1, "turn-1", 4, 4)
    assert (facts.opened_seq, facts.opened_ms, facts.changed_ms) == (1, 1, 77)
    assert facts.newest_key == "key-000000001"


async def test_the_newest_key_is_the_greatest_by_code_points(store: Store, log: Log) -> None:
    session = await log.session()
    for key in ("\ue000", "\U0001f600", "z"):
        record = log.next_result(session)
        record.key = key
        await log.append(record)
    assert (await session_facts(store)).newest_key == "\U0001f600"


async def test_events_come_in_order_and_only_where_there_is_one(store: Store, log: Log) -> None:
    session, other = await log.session("a"), await log.session("b")
    for event in (b"one", b"", b"three"):
        log.result(session, event=event)
        log.result(other, event=b"other")
    await store.settled()
    assert await store.look(lambda reader: reader.events(session)) == [EventRow(3, b"one"), EventRow(7, b"three")]
    assert await store.look(lambda reader: reader.events(session, 4)) == [EventRow(7, b"three")]


async def test_a_turn_is_known_with_whether_it_was_taken_back(store: Store, log: Log) -> None:
    session = await log.session()
    for name in ("one", "two"):
        begin = log.record(session, "turn")
        begin.turn_begun = name
        log.append(begin)
    back = log.record(session, "taken_back")
    back.turns_ended = ("one", "unknown")
    await log.append(back)

    def look(reader: Reader) -> None:
        assert reader.turn(session, "one") == TurnFacts(2, taken_back=True)
        assert reader.turn(session, "two") == TurnFacts(3, taken_back=False)
        assert reader.turn(session, "unknown") is None

    await store.look(look)


async def test_what_a_request_carries_has_a_key_and_an_event_and_no_entry(store: Store, log: Log) -> None:
    session = await log.session()
    carry = log.record(session, "carry")
    carry.key, carry.event = "k", b"carried"
    await log.append(carry)

    def look(reader: Reader) -> None:
        keyed = reader.keyed(session, "k")
        assert keyed is not None
        assert (keyed.seq, keyed.kind) == (2, "carry")
        assert [row.seq for row in reader.rows(1, 0, None, 9)] == [1]
        assert [row.seq for row in reader.rows(1, 0, session, 9)] == [1]
        assert [row.seq for row in reader.rows_before(session, 0, 9)] == [1]
        assert reader.entry(1, 2) is None
        assert reader.head(1) == 2
        assert reader.events(session) == [EventRow(2, b"carried")]

    await store.look(look)


async def test_pages_forward_and_backward_hold_every_row_once(store: Store, log: Log) -> None:
    session, other = await log.session("a"), await log.session("b")
    for _ in range(50):
        log.result(session)
        log.result(other)
    await store.settled()

    def forward(reader: Reader) -> list[int]:
        found: list[int] = []
        while rows := reader.rows(1, found[-1] if found else 0, session, 7):
            found += [row.seq for row in rows]
        return found

    def backward(reader: Reader) -> list[int]:
        found: list[int] = []
        while rows := reader.rows_before(session, found[-1] if found else 0, 7):
            found += [row.seq for row in rows]
        return found

    expected = [1, *range(3, 103, 2)]
    assert await store.look(forward) == expected
    assert await store.look(backward) == expected[::-1]


async def test_sessions_come_last_changed_first_in_pages(store: Store, log: Log) -> None:
    numbers = [await log.session(f"s{n}") for n in range(5)]
    await log.result(numbers[1])

    def look(reader: Reader) -> None:
        page = reader.sessions(1, 0, 3)
        assert [facts.session for facts in page] == ["s1", "s4", "s3"]
        assert [facts.session for facts in reader.sessions(1, page[-1].head, 3)] == ["s2", "s0"]

    await store.look(look)


async def test_a_look_sees_one_moment_while_records_go_on(store: Store, log: Log) -> None:
    session = await log.session()
    loop = asyncio.get_running_loop()

    def look(reader: Reader) -> tuple[int, int]:
        before = reader.head(1)
        # The writer waits for no reader: the record is durable while this look goes on.
        asyncio.run_coroutine_threadsafe(append(), loop).result(30)
        return before, reader.head(1)

    async def append() -> None:
        await log.result(session)

    assert await store.look(look) == (1, 1)
    assert await store.look(lambda reader: reader.head(1)) == 2


async def test_a_look_raises_what_its_function_raises(store: Store) -> None:
    def look(reader: Reader) -> None:
        raise KeyError(reader.head(1))

    with pytest.raises(KeyError, match="0"):
        await store.look(look)
    assert await store.look(lambda reader: reader.head(1)) == 0


async def test_one_answer_that_fails_keeps_no_other_from_its_own(store: Store, log: Log) -> None:
    reported: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context["message"]))

    def fail(fault: StoreFault | None) -> None:
        raise KeyError(str(fault))

    number = store.new_session()
    record = log.record(number, "opened")
    record.opening = Opening("a", "agent", "", "")
    store.append(record, fail)
    await log.result(number)
    assert reported == ["an answer to a record failed"]


async def test_settled_waits_for_what_was_appended_and_for_nothing_else(store: Store, log: Log) -> None:
    await store.settled()
    _, opened = log.open()
    await store.settled()
    assert opened.done()
