"""The state of a session: a fold over its events."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.daemon.hygiene.stories import (
    CONTENTS,
    PATHS,
    STEPS,
    TURNS,
    Step,
    asked,
    insert_read,
    insert_text,
    opened,
    sha256_of,
    take_step,
    told,
)
from waybread_daemon.hygiene.compaction import covered_reads
from waybread_daemon.hygiene.events import (
    Carried,
    Changed,
    Compacted,
    Event,
    Read,
    TakenBack,
    TurnBegan,
    decode_event,
    encode_event,
)
from waybread_daemon.hygiene.lines import count_file_lines
from waybread_daemon.hygiene.read import read_answer
from waybread_daemon.hygiene.repeat import result_answer
from waybread_daemon.hygiene.session import State, fold

KINDS = ("agent", "chat", "opaque")


def carried(state: State) -> list[int]:
    return [number for number in range(1, state.results + 1) if state.is_carried(number)]


@pytest.mark.parametrize(
    "kind, inserted, after_turn", [("agent", [1, 3], [1, 3]), ("chat", [1, 3], []), ("opaque", [], [])]
)
def test_what_enters_the_table_and_what_a_turn_leaves_in_it(
    kind: str, inserted: list[int], after_turn: list[int]
) -> None:
    state = opened(kind)
    insert_read(state)
    insert_text(state)
    insert_text(state, tool="grep")
    insert_text(state, "no", tool="grep", error=True)
    state.apply(Changed(5, ("/x/a.py",)))
    assert carried(state) == inserted
    state.apply(TurnBegan("t"))
    assert carried(state) == after_turn
    assert state.results == 5


@pytest.mark.parametrize("kind", KINDS)
def test_carry_fills_the_table_with_full_answers_of_turns_that_stand(kind: str) -> None:
    state = opened(kind)
    insert_read(state, "a")
    insert_text(state)
    state.apply(TurnBegan("t"))
    insert_read(state, "b")
    state.apply(TurnBegan("u"))
    insert_text(state, tool="grep")
    state.apply(TakenBack(("t",)))
    assert state.full_answers([4, 3, 2, 1, 99, 4]) == (1, 4)
    state.apply(Carried((1, 4)))
    assert carried(state) == [1, 4]
    state.apply(Carried(()))
    assert carried(state) == []
    state.apply(Carried(None))
    assert carried(state) == [1, 4]
    insert_read(state, "c")
    assert carried(state) == ([1, 4] if kind == "opaque" else [1, 4, 5])


def test_all_is_what_came_after_the_last_compaction_that_stands() -> None:
    state = opened()
    insert_read(state, "a")
    state.apply(Compacted("agent", 1, ""))
    insert_read(state, "b")
    state.apply(TurnBegan("t"))
    state.apply(Compacted("agent", 2, "t"))
    insert_read(state, "c")
    state.apply(Carried(None))
    assert carried(state) == [3]
    state.apply(TakenBack(("t",)))
    assert carried(state) == []
    state.apply(Carried(None))
    assert carried(state) == [2]


def test_taking_back_puts_nothing_back_into_the_table() -> None:
    state = opened()
    insert_read(state, "a")
    state.apply(TurnBegan("t"))
    state.apply(Compacted("agent", 1, "t"))
    insert_read(state, "b")
    state.apply(TakenBack(("t",)))
    assert carried(state) == []
    assert state.turn == ""


def test_the_newest_is_named_whatever_order_the_harness_lists_its_results_in() -> None:
    state = opened()
    for _ in range(2):
        insert_read(state, "a")
        state.apply(Carried(()))
    state.apply(Carried(state.full_answers([2, 1])))
    assert [read.number for read in state.reads_carried("/x/a", asked("a").sha256)] == [2, 1]


def test_numbers_go_on_past_everything() -> None:
    state = opened()
    for event in (TurnBegan("t"), TakenBack(("t",)), Carried(()), Compacted("agent", 0, "")):
        before = state.results
        state.apply(event)
        assert state.results == before
        insert_text(state)
        assert state.results == before + 1


def test_a_change_is_seen_by_the_reads_before_it_alone() -> None:
    state = opened()
    insert_read(state, "a")
    state.apply(Changed(2, ("/x/b", "/x/a")))
    insert_read(state, "a", b"after the change\n")
    assert [(read.number, state.changed_since(read)) for read in state.standing_reads(0)] == [(1, True), (3, False)]
    other = Read(9, "b", "/x/b", sha256_of(b""), 0, 0, 0)
    assert state.changed_since(other) is False


def test_standing_turns_are_told_once_and_in_the_order_asked() -> None:
    state = opened()
    state.apply(TurnBegan("t"))
    state.apply(TurnBegan("u"))
    state.apply(TakenBack(("t",)))
    assert state.standing(["never", "u", "t", "u"]) == ("u",)
    assert state.turn == "u"


def test_a_whole_state_lacks_nothing() -> None:
    state, _ = told("agent", [("compact", 0, 0, 1)])
    assert state.complete
    assert state.lacks_turns(["never"]) == []
    assert not state.lacks_for_taking_back(["never"])
    assert not state.lacks_for_carrying([0])
    assert not state.lacks_beginning()


# --- Folding again ---------------------------------------------------------------------------------------------------


def probed(state: State) -> dict[str, Any]:
    """All that answers depend on, seen from outside."""
    answers: list[object] = []
    for path, content in itertools.product(PATHS, CONTENTS):
        for offset, limit in ((1, 2000), (1, 1), (2, 1), (3, 5)):
            answer = read_answer(state, asked(path, content, offset, limit), count_file_lines(content))
            answers.append((answer.lead, answer.stub_of, answer.event))
    for args, body in itertools.product(range(3), range(3)):
        data = f"hit {body}".encode()
        searched = result_answer(state, "grep", b"%d" % args, data, sha256_of(data), error=False)
        answers.append((searched.lead, searched.stub_of))
    return {
        "answers": answers,
        "results": state.results,
        "turn": state.turn,
        "kind": state.kind,
        "covered": [(read, state.is_carried(read.number), state.changed_since(read)) for read in covered_reads(state)],
    }


@given(st.sampled_from(KINDS), STEPS)
def test_a_state_folded_from_stored_events_is_the_live_one(kind: str, steps: list[Step]) -> None:
    live, events = told(kind, steps)
    again = fold(decode_event(encode_event(event)) for event in events)
    assert probed(again) == probed(live)
    assert again.turns == live.turns
    assert carried(again) == carried(live)
    assert [again.full_answers([number]) for number in range(live.results + 1)] == [
        live.full_answers([number]) for number in range(live.results + 1)
    ]


def from_newest_compaction(events: list[Event]) -> list[Event] | None:
    at = [index for index, event in enumerate(events) if isinstance(event, Compacted)]
    return events[at[-1] :] if at else None


@settings(max_examples=150)
@given(st.sampled_from(KINDS), STEPS, STEPS)
def test_a_state_folded_from_the_newest_compaction_answers_as_the_whole_one(
    kind: str, steps: list[Step], later: list[Step]
) -> None:
    _, events = told(kind, [*steps, ("compact", 0, 0, 1), *later])
    recent = from_newest_compaction(events)
    assert recent is not None
    short = fold(recent)
    whole = fold(events)
    assert not short.complete
    if short.lacks_beginning():
        return
    assert probed(short) == probed(whole)
    assert carried(short) == carried(whole)


@settings(max_examples=150)
@given(st.sampled_from(KINDS), STEPS, STEPS)
def test_it_goes_on_answering_so_for_every_request_that_it_does_not_lack(
    kind: str, steps: list[Step], later: list[Step]
) -> None:
    _, events = told(kind, [*steps, ("compact", 0, 0, 1)])
    recent = from_newest_compaction(events)
    assert recent is not None
    short, whole = fold(recent), fold(events)
    for step in later:
        what, one, two, three = step
        named = [TURNS[one], TURNS[two]] if what == "take_back" else [TURNS[one]] if what == "turn" else []
        # What the daemon asks its store for, before it decides.
        for turn in short.lacks_turns(named):
            if turn in whole.turns:
                short.learn_turn(turn, stands=whole.turns[turn])
        if what == "take_back" and short.lacks_for_taking_back(short.standing(named)):
            return
        if what == "carry" and short.lacks_for_carrying(range(one, short.results + 1, three)):
            return
        assert take_step(short, step) == take_step(whole, step)
        assert probed(short) == probed(whole)


def test_a_partial_state_says_what_it_lacks() -> None:
    events: list[Event] = [Compacted("agent", 9, "t"), TurnBegan("u")]
    state = fold(events)
    assert (state.kind, state.results, state.turn, state.complete) == ("agent", 9, "u", False)
    assert state.lacks_turns(["s", "t", "u", "s"]) == ["s"]
    state.learn_turn("s", stands=False)
    assert state.lacks_turns(["s"]) == []
    assert state.standing(["s", "t"]) == ("t",)
    assert state.lacks_for_taking_back(["t"])
    assert not state.lacks_for_taking_back(["u"])
    assert state.lacks_for_carrying([10, 9])
    assert not state.lacks_for_carrying([10, 11])


def test_what_is_learnt_of_a_turn_does_not_overrule_what_happened_since() -> None:
    state = fold([Compacted("agent", 0, "t"), TakenBack(("t",))])
    state.learn_turn("t", stands=True)
    assert state.standing(["t"]) == ()
    assert state.lacks_beginning()
