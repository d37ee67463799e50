"""Sessions as lists of events, for the rules without a store."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from hypothesis import strategies as st

from waybread_daemon.hygiene.answer import Answer
from waybread_daemon.hygiene.events import (
    Answered,
    Carried,
    Changed,
    Compacted,
    Event,
    Opened,
    TakenBack,
    TurnBegan,
)
from waybread_daemon.hygiene.lines import count_file_lines
from waybread_daemon.hygiene.read import Asked, read_answer
from waybread_daemon.hygiene.repeat import result_answer
from waybread_daemon.hygiene.session import State

CONTENT = "".join(f"line {number}\n" for number in range(1, 341)).encode()


def sha256_of(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()


def opened(kind: str = "agent") -> State:
    """The state of a session just opened."""
    state = State()
    state.apply(Opened(kind))
    return state


def asked(
    path: str = "a.py", content: bytes = CONTENT, offset: int = 1, limit: int = 2000, absolute: str | None = None
) -> Asked:
    return Asked(path, f"/x/{path}" if absolute is None else absolute, sha256_of(content), offset, limit)


def insert_read(
    state: State, path: str = "a.py", content: bytes = CONTENT, offset: int = 1, limit: int = 2000
) -> Answer:
    """Reads and inserts what that answers."""
    answer = read_answer(state, asked(path, content, offset, limit), count_file_lines(content))
    state.apply(answer.event)
    return answer


def insert_text(
    state: State, body: str = "out", tool: str = "bash", args: bytes = b"{}", *, error: bool = False
) -> Answer:
    """A text result, inserted."""
    data = body.encode()
    answer = result_answer(state, tool, args, data, sha256_of(data), error=error)
    state.apply(answer.event)
    return answer


# --- Random sessions -------------------------------------------------------------------------------------------------

PATHS = ("a", "b", "c")
CONTENTS = (b"", b"one\n", b"one\ntwo\nthree\n")
TURNS = ("t", "u", "v")

Step = tuple[str, int, int, int]
OTHERS = ("text", "change", "take_back", "carry", "carry all", "carry none", "compact")
STEPS = st.lists(
    st.tuples(
        st.sampled_from([*["read"] * 4, *["search"] * 2, *["turn"] * 2, *OTHERS]),
        st.integers(0, 2),
        st.integers(0, 2),
        st.integers(1, 3),
    ),
    max_size=40,
)


def take_step(state: State, step: Step) -> Event | None:
    """Applies one step as the daemon would, and returns its event; None where the daemon refuses it."""
    what, one, two, three = step
    event: Event
    if what == "read":
        answer = read_answer(state, asked(PATHS[one], CONTENTS[two], three, one + 1), count_file_lines(CONTENTS[two]))
        event = answer.event
    elif what == "search":
        body = f"hit {two}".encode()
        event = result_answer(state, "grep", b"%d" % one, body, sha256_of(body), error=False).event
    elif what == "text":
        event = Answered(state.results + 1)
    elif what == "change":
        event = Changed(state.results + 1, (f"/x/{PATHS[one]}",))
    elif what == "turn":
        if TURNS[one] in state.turns:
            return None
        event = TurnBegan(TURNS[one])
    elif what == "take_back":
        event = TakenBack(state.standing([TURNS[one], TURNS[two]]))
    elif what == "carry":
        event = Carried(state.full_answers(range(one, state.results + 1, three)))
    elif what == "carry all":
        event = Carried(None)
    elif what == "carry none":
        event = Carried(())
    else:
        event = Compacted(state.kind, state.results, state.turn)
    state.apply(event)
    return event


def told(kind: str, steps: Sequence[Step]) -> tuple[State, list[Event]]:
    """The live state after the steps, and the events that made it."""
    state, events = opened(kind), list[Event]([Opened(kind)])
    for step in steps:
        event = take_step(state, step)
        if event is not None:
            events.append(event)
    return state, events
