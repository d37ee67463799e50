"""The state of a session: a fold over its events.

The laws. A result gets its number when it is inserted, and no number is given twice. What a stub may name is in the
**dedupe table**: full answers that the request being built carries. Events change the table in these ways:

| event | agent | chat | opaque |
|---|---|---|---|
| a full answer is inserted | enters | enters | does not enter |
| a turn begins | stays | empties | empties |
| turns are taken back | their answers leave | their answers leave | their answers leave |
| the harness says what it carries | is that | is that | is that |
| compaction | empties | empties | empties |

Nothing else changes it, and nothing puts an answer back but the harness's own word.

A state may be folded from the newest compaction on (`complete` False): it answers all requests alike but for those
that `lacks_*` names, for which it has to be folded from the beginning.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from waybread_daemon.hygiene.events import (
    Answered,
    Carried,
    Changed,
    Compacted,
    Event,
    Opened,
    Read,
    Searched,
    TakenBack,
    TurnBegan,
)

UNNAMED = ""
"""The turn of results inserted before the first turn, or after the current one was taken back."""


class State:
    """What a session's answers depend on. Only `apply` changes it."""

    def __init__(self) -> None:
        self.kind = ""
        self.results = 0
        self.turn = UNNAMED
        self.complete = True
        self.turns: dict[str, bool] = {}
        """Names of turns that were begun, and whether they are in the history. Partial where not `complete`."""
        self._turn_of: dict[int, str] = {}
        self._reads: dict[int, Read] = {}
        self._searches: dict[int, Searched] = {}
        self._changes: dict[str, int] = {}
        self._compactions: list[tuple[str, int]] = []
        self._carried: dict[int, None] = {}
        self._by_file: dict[tuple[str, bytes], dict[int, None]] = {}
        self._by_call: dict[bytes, dict[int, None]] = {}
        self._answers_of_turn: dict[str, list[int]] = {}
        self._carried_earlier = False
        self._carries_all = True
        """Whether the table is known to hold every full answer since the compaction: then saying so changes nothing."""

    # --- Looking -----------------------------------------------------------------------------------------------------

    def reads_carried(self, absolute: str, sha256: bytes) -> Iterator[Read]:
        """Full reads of this very file and content in the dedupe table, newest first (empty files are none to name)."""
        for number in reversed(self._by_file.get((absolute, sha256), {})):
            yield self._reads[number]

    def search_carried(self, same: bytes) -> int | None:
        """The newest search or listing in the dedupe table with this call and body."""
        numbers = self._by_call.get(same)
        return next(reversed(numbers)) if numbers else None

    def is_carried(self, number: int) -> bool:
        """Whether the request being built carries this full answer."""
        return number in self._carried

    def changed_since(self, read: Read) -> bool:
        """Whether a change to the file was inserted after this read, taken back or not."""
        return self._changes.get(read.absolute, 0) > read.number

    def floor(self) -> int:
        """The last number given before the newest compaction that is still in the history."""
        return next((results for turn, results in reversed(self._compactions) if self._stands(turn)), 0)

    def standing_reads(self, above: int) -> Iterator[Read]:
        """Full reads of turns not taken back, with numbers above `above`, in order."""
        return (read for number, read in self._reads.items() if number > above and self._stands(self._turn_of[number]))

    def standing(self, turns: Iterable[str]) -> tuple[str, ...]:
        """Those of `turns` that were begun and are in the history, each once."""
        return tuple(turn for turn in dict.fromkeys(turns) if self.turns.get(turn, False))

    def full_answers(self, numbers: Iterable[int]) -> tuple[int, ...]:
        """Those of `numbers` that are full answers of turns not taken back, ascending, each once."""
        known = (number for number in sorted(set(numbers)) if number in self._turn_of)
        return tuple(number for number in known if self._stands(self._turn_of[number]))

    def lacks_turns(self, turns: Iterable[str]) -> list[str]:
        """Names of which this state cannot tell whether they were begun."""
        return [] if self.complete else [turn for turn in dict.fromkeys(turns) if turn not in self.turns]

    def lacks_for_taking_back(self, turns: Sequence[str]) -> bool:
        """Whether taking these back uncovers what lies before the compaction that this state begins with."""
        return not self.complete and self._compactions[0][0] in turns

    def lacks_beginning(self) -> bool:
        """Whether the fold itself met what lies before the compaction that this state begins with.

        So it is where that compaction was taken back later, and where a request carried results from before it.
        """
        return not self.complete and (self._carried_earlier or not self._stands(self._compactions[0][0]))

    def lacks_for_carrying(self, numbers: Iterable[int]) -> bool:
        """Whether some of these results lie before the compaction that this state begins with."""
        return not self.complete and any(number <= self._compactions[0][1] for number in numbers)

    def learn_turn(self, turn: str, *, stands: bool) -> None:
        """Tells a state that is not complete of a turn begun before its compaction."""
        self.turns.setdefault(turn, stands)

    def _stands(self, turn: str) -> bool:
        return self.turns.get(turn, True)

    # --- The fold ----------------------------------------------------------------------------------------------------

    def apply(self, event: Event) -> None:
        """Takes the next event. An insertion's number is the next one."""
        match event:
            case Answered():
                self.results = event.number
            case Read():
                self._insert(event.number)
                self._reads[event.number] = event
                if self.kind != "opaque":
                    self._carry(event.number)
                else:
                    self._carries_all = False
            case Searched():
                self._insert(event.number)
                self._searches[event.number] = event
                if self.kind != "opaque":
                    self._carry(event.number)
                else:
                    self._carries_all = False
            case Changed():
                self.results = event.number
                for absolute in event.absolutes:
                    self._changes[absolute] = event.number
            case TurnBegan():
                self.turn = event.turn
                self.turns[event.turn] = True
                if self.kind != "agent":
                    self._empty()
                    self._carries_all = False
            case TakenBack():
                self._take_back(event.turns)
            case Carried():
                self._carry_only(event.numbers)
            case Compacted():
                self._compact(event)
            case Opened():
                self.kind = event.kind

    def _insert(self, number: int) -> None:
        self.results = number
        self._turn_of[number] = self.turn
        self._answers_of_turn.setdefault(self.turn, []).append(number)

    def _take_back(self, turns: tuple[str, ...]) -> None:
        for turn in turns:
            self.turns[turn] = False
            for number in self._answers_of_turn.get(turn, ()):
                self._leave(number)
            if turn == self.turn:
                self.turn = UNNAMED
        if any(turn in turns for turn, _ in self._compactions):
            # The reads before that compaction are covered again, and they are not in the table: it stays as it is.
            self._carries_all = False

    def _carry_only(self, numbers: tuple[int, ...] | None) -> None:
        if numbers is None and self._carries_all:
            return
        self._empty()
        if numbers is None:
            floor = self.floor()
            numbers = tuple(number for number in self._turn_of if number > floor)
            self._carries_all = True
        else:
            self._carries_all = False
            self._carried_earlier |= self.lacks_for_carrying(numbers)
        # Newest last, whatever the order of the harness's list: a stub names the newest.
        for number in self.full_answers(numbers):
            self._carry(number)

    def _compact(self, event: Compacted) -> None:
        if not self.kind:
            # The first event of a state that begins here.
            self.kind, self.results, self.turn, self.complete = event.kind, event.results, event.turn, False
            if event.turn != UNNAMED:
                self.turns[event.turn] = True
        self._compactions.append((event.turn, event.results))
        self._empty()
        self._carries_all = True

    # --- The dedupe table --------------------------------------------------------------------------------------------

    def _carry(self, number: int) -> None:
        self._carried[number] = None
        read = self._reads.get(number)
        if read is None:
            self._by_call.setdefault(self._searches[number].same, {})[number] = None
        elif read.lines:
            self._by_file.setdefault((read.absolute, read.sha256), {})[number] = None

    def _leave(self, number: int) -> None:
        if number not in self._carried:
            return
        del self._carried[number]
        read = self._reads.get(number)
        if read is None:
            self._by_call[self._searches[number].same].pop(number)
        elif read.lines:
            self._by_file[read.absolute, read.sha256].pop(number)

    def _empty(self) -> None:
        self._carried.clear()
        self._by_file.clear()
        self._by_call.clear()


def fold(events: Iterable[Event]) -> State:
    """The state after these events: all of a session's, or those from its newest compaction on."""
    state = State()
    for event in events:
        state.apply(event)
    return state
