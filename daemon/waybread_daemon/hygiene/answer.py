"""An answer: the text that goes to the model, in the pieces in which it is stored."""

from __future__ import annotations

import enum

import msgspec

from waybread_daemon.hygiene.bracket import result_bracket
from waybread_daemon.hygiene.cap import Capped, cap
from waybread_daemon.hygiene.events import Event


class Shape(enum.IntEnum):
    """What follows an answer's `lead`: nothing, its body, or its body without its middle."""

    BARE = 0
    WHOLE = 1
    CUT = 2


class Answer(msgspec.Struct, frozen=True):
    """An insertion, decided and not yet done: `State.apply(answer.event)` does it.

    `lead` is the text up to the body. `body` is the stored body of its own; where `lines` are given it is those lines of
    a source instead (of the file for a read, of the body of result `shares` for a recall), and where only `shares` is
    given, the whole body of that result.
    """

    number: int
    event: Event
    lead: str
    shape: Shape = Shape.BARE
    capped: Capped | None = None
    body: bytes = b""
    lines: tuple[int, int] | None = None
    shares: int = 0
    stub_of: int = 0
    error: bool = False


def sentence_answer(number: int, event: Event, sentence: str, *, error: bool = False) -> Answer:
    """The id, one space, and a sentence, which is the body."""
    return Answer(number, event, f"{result_bracket(number)} ", Shape.WHOLE, body=sentence.encode(), error=error)


def text_answer(number: int, event: Event, body: bytes, *, error: bool = False) -> Answer:
    """The id and the body under it, capped; the id alone for an empty body (sections 1 and 3)."""
    bracket = result_bracket(number)
    if not body:
        return Answer(number, event, bracket, error=error)
    capped = cap(body)
    shape = Shape.WHOLE if capped is None else Shape.CUT
    return Answer(number, event, f"{bracket}\n", shape, capped, body, error=error)


def text_of(answer: Answer, body: bytes) -> str:
    """The text that goes to the model. `body` is the answer's body, wherever it came from."""
    if answer.shape is Shape.BARE:
        return answer.lead
    if answer.capped is None:
        return answer.lead + body.decode()
    capped = answer.capped
    head, tail = body[: capped.head_end].decode(), body[capped.tail_start :].decode()
    return f"{answer.lead}{head}{capped.middle(answer.number)}{tail}"
