"""The daemon against a plain model, through real sockets, while links are cut and the daemon is killed.

Hypothesis draws what is done; a failure is told as the shortest list of steps that brings it out.
"""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import cast

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tests.daemon.wire import CODECS
from tests.differential.steps import CONTENTS, LIMITS, OFFSETS, Step
from tests.machine import acts
from tests.machine.acts import NAMES, request_of
from tests.machine.house import House, house_in
from tests.machine.seat import Seat

LARGE_CHARS = 280_000
LAG_MESSAGES = 40
"""More than the kernel's buffers and the daemon's own take for a follower that does not read."""

seats = st.sampled_from((0, 0, 0, 1))
names = st.sampled_from(NAMES[:3])
picks = st.integers(0, 10**6)
hows = st.sampled_from(("cut", "cut", "cut", "kill", "restart"))


class Counts:
    """What all examples of a run did, so that a run that proves nothing is seen."""

    def __init__(self) -> None:
        self.rules: dict[str, int] = {}
        self.lagged = 0

    def note(self, rule_name: str) -> None:
        self.rules[rule_name] = self.rules.get(rule_name, 0) + 1


class Machine(RuleBasedStateMachine):
    """Two devices with sessions of the same names, and whatever may befall them."""

    def __init__(self, house: House, counts: Counts) -> None:
        super().__init__()
        self.house = house
        self.counts = counts
        self.seats = [Seat(house), Seat(house)]
        self.since_start = 0
        """Steps since the daemon was started last: killing it again at once shows nothing."""
        self.since_revoke = 0

    def step(self, rule_name: str) -> None:
        self.counts.note(rule_name)
        self.since_start += 1
        self.since_revoke += 1

    def opened(self, seat: int, pick: int) -> tuple[Seat, str]:
        """A session that is open: of this device where it has one."""
        chosen = self.seats[seat] if self.seats[seat].world.open_sessions else self.working[0]
        known = chosen.world.open_sessions
        return chosen, known[pick % len(known)]

    @property
    def working(self) -> list[Seat]:
        return [seat for seat in self.seats if seat.world.open_sessions]

    def all_dead(self) -> None:
        for seat in self.seats:
            seat.cut()

    def all_back(self) -> None:
        self.since_start = 0
        for seat in self.seats:
            seat.link()
            seat.check_log()

    # --- What a harness does -----------------------------------------------------------------------------------------

    @initialize(opening=acts.openings, turn=acts.turns)
    def begin(self, opening: Step, turn: Step) -> None:
        self.seats[0].do("a", opening)
        self.seats[0].do("a", turn)

    @rule(seat=seats, name=names, opening=acts.openings)
    def open(self, seat: int, name: str, opening: Step) -> None:
        self.step("open")
        self.seats[seat].do(name, opening)

    @precondition(lambda self: self.working)
    @rule(seat=seats, pick=picks, inserts=st.lists(acts.inserts, min_size=1, max_size=4))
    def insert(self, seat: int, pick: int, inserts: list[Step]) -> None:
        chosen, name = self.opened(seat, pick)
        for insert in inserts:
            self.step(insert.do)
            chosen.do(name, insert)

    @precondition(lambda self: self.working)
    @rule(seat=seats, pick=picks, step=st.one_of(acts.reads, acts.recalls, acts.messages))
    def insert_one(self, seat: int, pick: int, step: Step) -> None:
        self.step(step.do)
        chosen, name = self.opened(seat, pick)
        chosen.do(name, step)

    @precondition(lambda self: self.working)
    @rule(seat=seats, pick=picks, steps=st.lists(acts.arrangements, min_size=1, max_size=3))
    def arrange(self, seat: int, pick: int, steps: list[Step]) -> None:
        chosen, name = self.opened(seat, pick)
        for step in steps:
            self.step(step.do)
            chosen.do(name, step)

    @precondition(lambda self: self.working)
    @rule(
        seat=seats,
        pick=picks,
        turn=acts.turns,
        inserts=st.lists(acts.inserts, min_size=1, max_size=3),
        end=acts.endings,
    )
    def whole_turn(self, seat: int, pick: int, turn: Step, inserts: list[Step], end: Step) -> None:
        """A turn with results, which is taken back, compacted, or carried on; then the first of them again."""
        chosen, name = self.opened(seat, pick)
        for step in (turn, *inserts, end, inserts[0]):
            self.step(step.do)
            chosen.do(name, step)

    @rule(
        seat=seats,
        name=st.sampled_from(NAMES),
        step=st.one_of(acts.deletions, acts.inserts, acts.turns, acts.compactions),
    )
    def anywhere(self, seat: int, name: str, step: Step) -> None:
        """Where there was never a session, or it is deleted, the answer says so."""
        self.step("delete" if step.do == "delete" else "anywhere")
        self.seats[seat].do(name, step)

    @rule(
        seat=seats,
        name=names,
        result=st.integers(0, 14),
        offset=st.sampled_from(OFFSETS),
        limit=st.sampled_from(LIMITS),
    )
    def look(self, seat: int, name: str, result: int, offset: int, limit: int) -> None:
        self.step("look")
        chosen = self.seats[seat]
        if name in chosen.world.sessions:
            chosen.look(name)
        if name in chosen.world.open_sessions:
            chosen.show(name, {"result": f"{result:x}", "offset": offset, "limit": limit})

    # --- Keys --------------------------------------------------------------------------------------------------------

    @precondition(lambda self: self.seats[0].answered)
    @rule(pick=picks, same=st.booleans())
    def again(self, pick: int, same: bool) -> None:
        """A request once more, or another one with its key."""
        if same:
            self.step("again")
            self.seats[0].again(pick)
        else:
            self.step("another_with_its_key")
            self.seats[0].with_its_key(pick)

    # --- What befalls them -------------------------------------------------------------------------------------------

    @precondition(lambda self: self.working)
    @rule(
        seat=seats,
        picked=st.lists(st.tuples(picks, acts.dropped), min_size=1, max_size=6),
        heard=st.integers(0, 6),
        how=hows,
    )
    def drop(self, seat: int, picked: list[tuple[int, Step]], heard: int, how: str) -> None:
        """The answers are lost, some or all; perhaps the daemon dies with them. Every request is sent again."""
        self.step(f"drop, {how}")
        chosen, _ = self.opened(seat, 0)
        known = chosen.world.open_sessions
        chosen_acts = [(known[pick % len(known)], step) for pick, step in picked]
        if how != "cut":
            for other in self.seats:
                other.watch.cut()
                if other is not chosen:
                    other.line.cut()
        chosen.drop(chosen_acts, heard, how)
        if how == "cut":
            chosen.drain()
        else:
            self.all_dead()
            self.all_back()

    @rule(seat=seats, codec=st.sampled_from(CODECS))
    def reconnect(self, seat: int, codec: str) -> None:
        self.step("reconnect")
        chosen = self.seats[seat]
        chosen.cut()
        chosen.codec = codec
        chosen.link()

    @precondition(lambda self: self.since_start > 8)
    @rule()
    def kill(self) -> None:
        self.step("kill")
        self.house.kill()
        self.all_dead()
        self.all_back()

    @precondition(lambda self: self.since_start > 8)
    @rule()
    def restart(self) -> None:
        self.step("restart")
        self.house.restart()
        for seat in self.seats:
            assert (seat.line.close_code(), seat.watch.close_code()) == (1012, 1012)
        self.all_dead()
        self.all_back()

    @precondition(lambda self: self.since_revoke > 15)
    @rule(seat=seats)
    def revoke(self, seat: int) -> None:
        self.step("revoke")
        self.since_revoke = 0
        self.seats[seat].revoke()

    @rule(seat=seats, session=st.sampled_from(("", "", *NAMES[:2])), back=st.integers(0, 12), on=st.integers(0, 4))
    def follow(self, seat: int, session: str, back: int, on: int) -> None:
        """From a cursor on, or no more."""
        chosen = self.seats[seat]
        if on:
            self.step("follow")
            chosen.follow(session, max(chosen.world.head - back, 0))
        else:
            self.step("unfollow")
            chosen.unfollow()

    @precondition(lambda self: self.seats[0].following is not None and self.seats[0].world.open_sessions)
    @rule(pick=picks)
    def lag(self, pick: int) -> None:
        """Much is pushed to a follower that does not read meanwhile."""
        self.step("lag")
        seat = self.seats[0]
        name = seat.world.open_sessions[pick % len(seat.world.open_sessions)]
        steps = [
            Step("message", {"role": "user", "text": f"{number} " + chr(0x61 + pick % 26) * LARGE_CHARS})
            for number in range(LAG_MESSAGES)
        ]
        requests = [request_of(step, name) for step in steps]
        ids = seat.line.send_all(requests)
        answers = seat.line.answers(ids, len(ids))
        for number, request, step in zip(ids, requests, steps, strict=True):
            seat.compare(name, step, request, answers[number])
        seat.drain()

    # --- What always holds -------------------------------------------------------------------------------------------

    @invariant()
    def the_daemon_runs(self) -> None:
        assert self.house.daemon.process.poll() is None

    def teardown(self) -> None:
        for seat in self.seats:
            seat.check_log()
            for name in seat.world.sessions:
                seat.look(name)
            self.counts.lagged += seat.lagged
            seat.cut()


@pytest.fixture
def house(tmp_path: Path) -> Generator[House]:
    with house_in(tmp_path / "data") as house:
        yield house


def drive(house: House, examples: int, steps: int, *, derandomize: bool) -> Counts:
    counts = Counts()
    phases = [phase for phase in tuple(Phase) if phase is not Phase.explain]
    run_state_machine_as_test(
        cast("type[RuleBasedStateMachine]", lambda: Machine(house, counts)),
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            derandomize=derandomize,
            database=None,
            phases=phases,
            suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much),
        ),
    )
    print(f"\nmachine: {sum(counts.rules.values())} steps, {house.lives} lives, lagged {counts.lagged}, {counts.rules}")
    return counts


EVERYTHING = {
    "open", "turn", "result", "read", "change", "recall", "take_back", "carry", "compact", "message", "delete", "anywhere",
    "look", "again", "another_with_its_key", "drop, cut", "drop, kill", "drop, restart", "reconnect", "kill", "restart",
    "revoke", "follow", "unfollow", "lag",
}  # fmt: skip


def test_everything_once_in_a_row_is_equal_to_the_plain_model(house: House) -> None:
    counts = Counts()
    machine = Machine(house, counts)
    read = Step("read", {"path": "a.py", "absolute": "/p/a.py", "content": CONTENTS[4]}, "hash")
    change = {"path": "a.py", "absolute": "/p/a.py", "before": CONTENTS[4], "after": CONTENTS[5]}
    listing = Step("result", {"tool": "grep", "args": {}, "text": "found\n", "error": False})
    machine.begin(Step("open", {"kind": "agent", "title": "one"}), Step("turn", {"turn": "t1"}))
    machine.open(0, "b", Step("open", {"kind": "chat", "title": ""}))
    machine.open(1, "a", Step("open", {"kind": "opaque", "title": ""}))
    machine.follow(0, "", 0, on=1)
    machine.insert(0, 0, [read, read, listing, listing, Step("change", {"changes": [change], "note": "why"}, "hash")])
    machine.insert(1, 0, [read, read, listing, listing])
    for step in (Step("recall", {"result": "#0001"}), Step("message", {"role": "user", "text": "hello"})):
        machine.insert_one(0, 0, step)
    for how in ("cut", "kill", "restart"):
        machine.drop(0, [(0, listing), (1, listing), (0, Step("turn", {"turn": f"after {how}"})), (0, listing)], 2, how)
        machine.look(0, "a", 3, 1, 2000)
    machine.lag(0)
    back = Step("take_back", {"turns": ["t1", "t2"]})
    machine.arrange(0, 0, [Step("turn", {"turn": "t2"}), back, Step("carry", {"results": "all"}), Step("compact")])
    machine.whole_turn(0, 0, Step("turn", {"turn": "t3"}), [read], Step("take_back", {"turns": ["t3"]}))
    machine.again(0, same=True)
    machine.again(3, same=False)
    machine.reconnect(0, CODECS[1])
    machine.kill()
    machine.restart()
    machine.revoke(0)
    machine.anywhere(0, "b", Step("delete"))
    machine.anywhere(0, "b", listing)
    machine.anywhere(0, "d", listing)
    machine.follow(0, "", 0, on=0)
    machine.teardown()
    assert set(counts.rules) == EVERYTHING
    assert counts.lagged > 0
    assert house.lives == 5


def test_whatever_is_done_and_whatever_befalls_it_the_daemon_is_equal_to_the_plain_model(house: House) -> None:
    counts = drive(house, examples=40, steps=40, derandomize=True)
    assert sum(counts.rules.values()) > 500
    assert house.lives > 10


@pytest.mark.long
def test_in_a_thousand_other_lives_the_daemon_is_equal_to_the_plain_model(house: House) -> None:
    counts = drive(house, examples=400, steps=60, derandomize=False)
    assert set(counts.rules) == EVERYTHING
    assert house.lives > 1000
