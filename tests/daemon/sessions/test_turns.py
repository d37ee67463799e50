"""Opening, turns, carrying, taking back, transcript and deletion, and what stubs make of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.daemon.office import Office, an_office, opening, read, recall, text
from tests.daemon.sessions.story import LINES, SHA, Story
from waybread_protocol.messages import (
    Carry,
    Compact,
    Content,
    Delete,
    Done,
    History,
    Inserted,
    Message,
    Open,
    Opened,
    Page,
    ReadList,
    Reads,
    SessionList,
    Sessions,
    Show,
    Shown,
    TakeBack,
    Turn,
)

# --- Opening ---------------------------------------------------------------------------------------------------------


async def test_opening_tells_where_the_session_stands_and_changes_nothing_the_second_time(office: Office) -> None:
    first = await office.ask(opening("new", "chat", title="T", directory="/d"), Opened)
    assert first == Opened(re=first.re, seq=2, session="new", kind="chat", created=True, results=0, turn="")
    story = Story(office, "new")
    await story.read()
    await story.turn("t")
    again = await office.ask(opening("new", "chat", title="other"), Opened)
    assert again == Opened(re=again.re, seq=2, session="new", kind="chat", created=False, results=1, turn="t")
    await office.restart()
    restarted = await office.ask(opening("new", "chat"), Opened)
    assert (restarted.seq, restarted.results, restarted.turn) == (2, 1, "t")
    await office.error(opening("new", "agent"), "key_conflict")
    rows = await office.ask(Sessions(id=1), SessionList)
    assert [(row.session, row.title, row.directory) for row in rows.sessions] == [("new", "T", "/d"), ("s", "", "")]


async def test_opening_twice_at_once_makes_one_session(office: Office) -> None:
    answers = [await future for future in [office.send(opening("new")) for _ in range(5)]]
    assert [answer.created for answer in answers if isinstance(answer, Opened)] == [True, False, False, False, False]
    assert {answer.seq for answer in answers if isinstance(answer, Opened)} == {2}


# --- Turns -----------------------------------------------------------------------------------------------------------


async def test_a_turn_begun_again_is_a_repeat_and_changes_nothing(story: Story) -> None:
    first = await story.turn("t")
    assert (first.seq, first.repeated) == (2, False)
    await story.turn("u")
    for _ in range(2):
        again = await story.turn("t")
        assert (again.seq, again.repeated) == (2, True)
        await story.office.restart()
    # The current turn is still `u`: taking it back takes what was read now.
    await story.read()
    await story.take_back("u")
    assert (await story.read()).stub_of is None


async def test_a_turn_of_a_name_that_was_taken_back_is_a_conflict_also_after_restart_and_compaction(
    story: Story,
) -> None:
    await story.turn("t")
    await story.take_back("t")
    await story.office.error(Turn(id=1, session="s", turn="t"), "key_conflict")
    await story.compact()
    await story.office.restart()
    await story.office.error(Turn(id=1, session="s", turn="t"), "key_conflict")
    assert (await story.turn("u")).repeated is False


async def test_a_turn_begun_before_the_compaction_is_a_repeat_after_a_restart(story: Story) -> None:
    first = await story.turn("t")
    await story.turn("u")
    await story.compact()
    await story.office.restart()
    again = await story.turn("t")
    assert (again.seq, again.repeated) == (first.seq, True)


# --- Stubs, by kind of session ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind, same_turn, next_turn", [("agent", True, True), ("chat", True, False), ("opaque", False, False)]
)
async def test_what_a_stub_may_name_by_the_kind_of_session(
    tmp_path: Path, kind: str, same_turn: bool, next_turn: bool
) -> None:
    async with an_office(tmp_path, "s", kind=kind) as office:
        story = Story(office)
        await story.turn("1")
        await story.read()
        await story.grep()
        assert ((await story.read()).stub_of is not None) == same_turn
        assert ((await story.grep()).stub_of is not None) == same_turn
        await office.restart()
        assert ((await story.read()).stub_of is not None) == same_turn
        await story.turn("2")
        assert ((await story.read()).stub_of is not None) == next_turn
        assert ((await story.grep()).stub_of is not None) == next_turn


async def test_two_sessions_and_two_devices_share_no_stubs(office: Office) -> None:
    await office.ask(opening("t"), object)
    one, two = Story(office), Story(office, "t")
    await one.read()
    assert (await two.read()).stub_of is None
    office.device = await office.another_device()
    await office.ask(opening("s"), object)
    assert (await Story(office).read()).stub_of is None


@pytest.mark.parametrize("restarted", [False, True])
@pytest.mark.parametrize("gone_by", ["take_back", "compact", "carry none", "carry others"])
async def test_after_what_takes_a_result_out_of_the_request_the_next_read_is_full(
    story: Story, gone_by: str, restarted: bool
) -> None:
    await story.turn("t")
    await story.read()
    await story.read("b")
    await story.grep()
    if gone_by == "take_back":
        await story.take_back("t")
    elif gone_by == "compact":
        await story.compact()
    elif gone_by == "carry none":
        await story.carry("none")
    else:
        await story.carry(["2"])
    if restarted:
        await story.office.restart()
    # Five at once: none of them may name what is not there, and the later ones name the first.
    futures = [story.office.send(read(f"five {number}", LINES, absolute="/x/a")) for number in range(5)]
    answers = [answer for answer in [await future for future in futures] if isinstance(answer, Inserted)]
    assert [answer.stub_of for answer in answers] == [None] + ["#0004"] * 4
    assert (await story.grep()).stub_of is None
    assert (await story.read("b")).stub_of == ("#0002" if gone_by == "carry others" else None)


async def test_taking_back_in_the_middle_leaves_the_other_turns(story: Story) -> None:
    for number, turn in enumerate("tuv"):
        await story.turn(turn)
        await story.read(f"f{number}")
    await story.take_back("u", "never", "u")
    assert [await story.stub(f"f{number}") for number in range(3)] == ["#0001", None, "#0003"]
    page = await story.office.page()
    assert [entry.turns for entry in page.entries if entry.kind == "taken_back"] == [["u"]]


async def test_taking_back_the_current_turn_goes_on_in_the_unnamed_one(story: Story) -> None:
    await story.turn("t")
    await story.take_back("t")
    await story.read()
    assert (await story.office.ask(opening("s"), Opened)).turn == ""
    await story.take_back("t", "x")
    assert await story.stub() == "#0001"


async def test_taking_back_only_unknown_turns_is_done_and_changes_no_stub(story: Story) -> None:
    await story.read()
    done = await story.take_back("never", "nor this")
    assert done.repeated is False
    assert await story.stub() == "#0001"
    entry = (await story.office.page(2)).entries[0]
    assert (entry.kind, entry.turns) == ("taken_back", [])


# --- Carrying --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["agent", "chat", "opaque"])
@pytest.mark.parametrize("restarted", [False, True])
async def test_carry_says_what_the_request_holds(tmp_path: Path, kind: str, restarted: bool) -> None:
    async with an_office(tmp_path, "s", kind=kind) as office:
        story = Story(office)
        await story.turn("t")
        await story.read("a")
        await story.read("b")
        await office.insert(recall("r", "1"))
        await story.turn("u")
        # A recall, an unknown id and what is no id are passed over; the newest counts whatever the order.
        await story.carry(["#0003", "ffff", "zz", "", "2", "0001"])
        if restarted:
            await office.restart()
        assert await story.stub("a") == "#0001"
        assert await story.stub("b") == "#0002"
        await story.carry("none")
        if restarted:
            await office.restart()
        assert (await story.read("a")).stub_of is None
        # In an opaque session what is inserted is not known to be carried: the second read is full as well.
        assert ((await story.read("a")).stub_of is not None) == (kind != "opaque")
        await story.carry("all")
        if restarted:
            await office.restart()
        assert await story.stub("a") == ("#0007" if kind == "opaque" else "#0006")


@pytest.mark.parametrize("restarted", [False, True])
async def test_ids_from_before_a_compaction_may_be_carried(story: Story, restarted: bool) -> None:
    await story.turn("t")
    await story.read("a")
    await story.read("b")
    await story.compact()
    await story.read("c")
    if restarted:
        await story.office.restart()
    await story.carry(["1", "3"])
    if restarted:
        await story.office.restart()
    assert [await story.stub(name) for name in "abc"] == ["#0001", None, "#0003"]
    await story.office.restart()
    await story.carry("all")
    assert [await story.stub(name) for name in "bc"] == ["#0005", "#0003"]


async def test_an_id_of_a_turn_that_was_taken_back_is_not_carried(story: Story) -> None:
    await story.turn("t")
    await story.read("a")
    await story.turn("u")
    await story.read("b")
    await story.take_back("t")
    await story.carry(["1", "2"])
    assert await story.stub("b") == "#0002"
    assert (await story.read("a")).stub_of is None


async def test_carry_has_a_number_and_no_entry(story: Story) -> None:
    done = await story.carry("none")
    assert done.seq == 2
    page = await story.office.page()
    assert ([entry.seq for entry in page.entries], page.head, page.next) == ([1], 2, 2)
    history = await story.office.ask(History(id=1, session="s"), Page)
    assert [entry.kind for entry in history.entries] == ["opened"]


# --- Transcript and deletion -----------------------------------------------------------------------------------------


async def test_a_message_is_a_line_of_the_transcript_in_its_turn_and_takes_no_id(story: Story) -> None:
    await story.turn("t")
    done = await story.office.ask(Message(id=1, session="s", key="m", role="assistant", text="é\n"), Done)
    entry = (await story.office.page(done.seq - 1)).entries[0]
    assert (entry.kind, entry.role, entry.text, entry.turn, entry.result, entry.text_chars) == (
        "message",
        "assistant",
        "é\n",
        "t",
        "",
        2,
    )
    assert (await story.read()).result == "#0001"


async def test_a_deleted_session_is_gone_for_every_request_and_its_id_is_never_taken_again(story: Story) -> None:
    office = story.office
    await story.read()
    deleted = await office.ask(Delete(id=1, session="s"), Done)
    assert (deleted.seq, deleted.repeated) == (3, False)
    for _ in range(2):
        for request in (
            opening("s"),
            text("k", "x"),
            read("k", Content(sha256=SHA)),
            recall("k", "1"),
            Turn(id=1, session="s", turn="t"),
            Carry(id=1, session="s", key="k", results="all"),
            TakeBack(id=1, session="s", key="k", turns=["t"]),
            Compact(id=1, session="s", key="k"),
            Message(id=1, session="s", key="k", role="user", text="x"),
            Show(id=1, session="s", result="1"),
            Reads(id=1, session="s"),
            History(id=1, session="s"),
        ):
            await office.error(request, "gone")
        again = await office.ask(Delete(id=1, session="s"), Done)
        assert (again.seq, again.repeated) == (3, True)
        await office.restart()
    assert [(entry.seq, entry.kind) for entry in (await office.page()).entries] == [(3, "deleted")]
    assert (await office.ask(Sessions(id=1), SessionList)).sessions == []
    await office.error(Delete(id=1, session="never"), "unknown_session")


async def test_a_request_sent_behind_a_deletion_is_gone_and_one_ahead_of_it_is_answered(story: Story) -> None:
    futures = [
        story.office.send(request)
        for request in (text("1", "x"), Delete(id=1, session="s"), text("2", "x"), Delete(id=1, session="s"))
    ]
    kinds = [getattr(answer, "code", type(answer).__name__) for answer in [await future for future in futures]]
    assert kinds == ["Inserted", "Done", "gone", "Done"]


async def test_a_session_from_before_a_restore_may_be_read_shown_and_deleted_and_nothing_more(story: Story) -> None:
    office = story.office
    await story.turn("t")
    await story.read()
    await office.restore()
    for request in (
        Turn(id=1, session="s", turn="u"),
        Carry(id=1, session="s", key="k", results="all"),
        TakeBack(id=1, session="s", key="k", turns=["t"]),
        Compact(id=1, session="s", key="k"),
        Message(id=1, session="s", key="k", role="user", text="x"),
        read("k", LINES),
    ):
        await office.error(request, "read_only")
    assert (await office.ask(Show(id=1, session="s", result="1", limit=1), Shown)).text == "1: line 1\n"
    assert len((await office.ask(Reads(id=1, session="s"), ReadList)).reads) == 1
    assert len((await office.ask(History(id=1, session="s"), Page)).entries) == 3
    assert (await office.ask(Open(id=1, session="s", kind="agent"), Opened)).created is False
    assert (await office.ask(Delete(id=1, session="s"), Done)).repeated is False
