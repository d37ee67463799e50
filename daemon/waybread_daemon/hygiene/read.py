"""Reads: a bracket that says what is shown, and a stub for what the request shows already (sections 1 and 2)."""

from __future__ import annotations

from typing import NamedTuple

from waybread_daemon.hygiene.answer import Answer, Shape, sentence_answer
from waybread_daemon.hygiene.bracket import one_line, read_bracket
from waybread_daemon.hygiene.events import Answered, Read
from waybread_daemon.hygiene.ids import result_id
from waybread_daemon.hygiene.lines import shown_range
from waybread_daemon.hygiene.session import State
from waybread_protocol.loop import CONTEXT


class Asked(NamedTuple):
    """What a read asks for. `sha256` is the hash of the file's whole content."""

    path: str
    absolute: str
    sha256: bytes
    offset: int
    limit: int


def known_lines(state: State, asked: Asked) -> int | None:
    """The file's length where the state alone tells it: some read in the request showed this very content."""
    for read in state.reads_carried(asked.absolute, asked.sha256):
        return read.lines
    return None


def read_answer(state: State, asked: Asked, lines: int) -> Answer:
    """The answer to a read of a file of `lines` lines.

    Of a full read, the body is `lines` of the file behind their numbers; a stub shares the source of the read it names.
    """
    number = state.results + 1
    if lines == 0:
        event = Read(number, asked.path, asked.absolute, asked.sha256, 0, 0, 0)
        return Answer(number, event, read_bracket(number, asked.path, asked.sha256, 0, 0, 0))
    texts = CONTEXT.texts
    shown = shown_range(asked.offset, asked.limit, lines, CONTEXT.read.window_lines)
    if shown is None:
        sentence = texts.read_past_end.format(absolute=one_line(asked.absolute), lines=lines, offset=asked.offset)
        return sentence_answer(number, Answered(number), sentence, error=True)
    first, last = shown
    bracket = read_bracket(number, asked.path, asked.sha256, first, last, lines)
    for earlier in state.reads_carried(asked.absolute, asked.sha256):
        # Only a read that contains the whole range: two reads are never joined to cover it.
        if earlier.first <= first and last <= earlier.last:
            sentence = texts.unchanged.format(earlier=result_id(earlier.number), first=earlier.first, last=earlier.last)
            return Answer(
                number,
                Answered(number),
                f"{bracket} {sentence}",
                lines=shown,
                shares=earlier.number,
                stub_of=earlier.number,
            )
    event = Read(number, asked.path, asked.absolute, asked.sha256, first, last, lines)
    return Answer(number, event, f"{bracket}\n", Shape.WHOLE, lines=shown)
