"""recall: any stored result again, in full, by windows (section 4)."""

from __future__ import annotations

from waybread_daemon.hygiene.answer import Answer, Shape, sentence_answer
from waybread_daemon.hygiene.bracket import one_line, recall_bracket
from waybread_daemon.hygiene.events import Answered
from waybread_daemon.hygiene.ids import bare_argument, result_id, result_number
from waybread_daemon.hygiene.lines import shown_range
from waybread_daemon.hygiene.session import State
from waybread_protocol.loop import CONTEXT


def recalled_number(state: State, argument: str) -> int:
    """The stored result that an argument names; 0 where the session never gave that id.

    To be asked before the recall takes a number of its own.
    """
    number = result_number(argument)
    return number if 1 <= number <= state.results else 0


def unknown_answer(state: State, argument: str) -> Answer:
    """The answer where no result has that id."""
    number = state.results + 1
    named = one_line(bare_argument(argument)[: CONTEXT.recall.argument_chars])
    sentence = CONTEXT.texts.recall_unknown.format(argument=named)
    return sentence_answer(number, Answered(number), sentence, error=True)


def recall_answer(state: State, recalled: int, lines: int, offset: int, limit: int) -> Answer:
    """The answer where result `recalled` has a body of `lines` lines: those lines of it, not numbered, not capped."""
    number = state.results + 1
    event = Answered(number)
    if lines == 0:
        return Answer(number, event, recall_bracket(number, recalled, 0, 0, 0))
    shown = shown_range(offset, limit, lines, CONTEXT.recall.window_lines)
    if shown is None:
        sentence = CONTEXT.texts.recall_past_end.format(recalled=result_id(recalled), lines=lines, offset=offset)
        return sentence_answer(number, event, sentence, error=True)
    lead = f"{recall_bracket(number, recalled, *shown, lines)}\n"
    return Answer(number, event, lead, Shape.WHOLE, lines=shown, shares=recalled)
