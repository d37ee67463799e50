"""What any other tool answered, and the same search or listing twice (sections 3 and 6)."""

from __future__ import annotations

import hashlib

from waybread_daemon.hygiene.answer import Answer, text_answer
from waybread_daemon.hygiene.bracket import result_bracket
from waybread_daemon.hygiene.events import Answered, Searched
from waybread_daemon.hygiene.ids import result_id
from waybread_daemon.hygiene.session import State
from waybread_protocol.loop import CONTEXT

_BY_RESULT = frozenset(CONTEXT.dedupe.by_result)


def result_answer(state: State, tool: str, args: bytes, body: bytes, sha256: bytes, *, error: bool) -> Answer:
    """The answer to a text result. `args` are canonical JSON, `sha256` is the hash of `body`."""
    number = state.results + 1
    if error or tool not in _BY_RESULT:
        return text_answer(number, Answered(number), body, error=error)
    same = _same(tool, args, sha256)
    earlier = state.search_carried(same)
    if earlier is None:
        return text_answer(number, Searched(number, same), body)
    sentence = CONTEXT.texts.same.format(earlier=result_id(earlier))
    lead = f"{result_bracket(number)} {sentence}"
    return Answer(number, Answered(number), lead, shares=earlier, stub_of=earlier)


def _same(tool: str, args: bytes, sha256: bytes) -> bytes:
    """One hash for a call and its body. The name goes first and holds no NUL that could move its border: lengths do."""
    head = f"{len(tool)} {len(args)} ".encode()
    return hashlib.sha256(head + tool.encode() + args + sha256).digest()
