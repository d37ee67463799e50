"""Which results a request carries, seen from its messages: what `carry` is told.

Only the head of a result's text counts, where the daemon put the id. An id that a model or a tool quotes somewhere in a
text, and a result whose text was replaced or dropped, carry nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from waybread_protocol.loop import CONTEXT

_TEXTS = CONTEXT.texts
_OPENING, _CLOSING = _TEXTS.result.split("{result}")
_SIGN = _TEXTS.id.removesuffix("{number}")
_HEAD = re.compile(
    # The bracket is one line: control characters of a path stand in it as escapes.
    f"{re.escape(_OPENING + _SIGN)}(?P<digits>[0-9a-f]+)(?: [^\\n]*)?{re.escape(_CLOSING)}(?=[ \\n]|\\Z)"
)

_OUTPUT_ITEMS = frozenset({"function_call_output", "custom_tool_call_output"})
_TEXT_PARTS = frozenset({"text", "input_text", "output_text"})


def carried(messages: Iterable[object]) -> list[str]:
    """The ids at the heads of the tool results in `messages`, in their order, each once.

    `messages` is what the harness sends to the model, in the shape of OpenAI (messages of the role `tool`, or items of
    the type `function_call_output`) or of Anthropic (blocks of the type `tool_result`). Of a content in several parts the
    first text counts. Stubs and recalls are in the list as well: the daemon passes over them. Context hygiene, section 2.
    """
    found: dict[str, None] = {}
    for message in messages:
        if not isinstance(message, Mapping):
            continue
        for content in _contents(cast("Mapping[str, Any]", message)):
            result = head_id(_first_text(content))
            if result:
                found[result] = None
    return list(found)


def head_id(text: str) -> str:
    """The id at the head of a result's text, empty where there is none."""
    match = _HEAD.match(text)
    if match is None:
        return ""
    digits = match["digits"]
    # The very spelling that the daemon gives: a number from 1, with zeros up to the least number of digits.
    number = int(digits, 16)
    return _SIGN + digits if number > 0 and digits == f"{number:0{CONTEXT.ids.digits}x}" else ""


def _contents(message: Mapping[str, Any]) -> Iterable[object]:
    """The content of each tool result that a message holds."""
    if message.get("role") in ("tool", "function"):
        yield message.get("content")
    elif message.get("type") in _OUTPUT_ITEMS:
        yield message.get("output")
    elif message.get("role") == "user":
        for block in _parts(message.get("content")):
            if block.get("type") == "tool_result":
                yield block.get("content")


def _first_text(content: object) -> str:
    if isinstance(content, str):
        return content
    for part in _parts(content):
        text = part.get("text")
        if part.get("type") in _TEXT_PARTS and isinstance(text, str):
            return text
    return ""


def _parts(content: object) -> list[Mapping[str, Any]]:
    if isinstance(content, str) or not isinstance(content, Sequence):
        return []
    return [cast("Mapping[str, Any]", part) for part in cast("Sequence[object]", content) if isinstance(part, Mapping)]
