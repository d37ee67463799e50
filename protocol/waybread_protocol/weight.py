"""What a large message may be made of: text and bytes without end, but not millions of small things.

Making a million values holds the interpreter for longer than another client should wait. So a large message is looked at
before it is decoded: only texts and contents may be large.
"""

from __future__ import annotations

from typing import Any

import msgspec

from waybread_protocol.errors import ErrorCode, RequestError
from waybread_protocol.limits import ARGS_MAX_BYTES, CHANGES_MAX, INTEGER_MAX, REQUEST_MAX_BYTES, Struct

ARGS_MAX_SENT_BYTES = 8 * ARGS_MAX_BYTES
"""More than arguments within their limit take in any encoding that is not made to be wasteful."""

_LARGE_TYPES = frozenset({"result", "message"})
_NOTHING = msgspec.Raw(b"")


class _Outline(Struct, frozen=True, kw_only=True):
    type: str = ""
    id: Any = 0
    args: msgspec.Raw = _NOTHING
    body: msgspec.Raw = _NOTHING


class _Body(Struct, frozen=True, kw_only=True):
    changes: list[msgspec.Raw] = []


_JSON = msgspec.json.Decoder(_Outline), msgspec.json.Decoder(_Body)
_MSGPACK = msgspec.msgpack.Decoder(_Outline), msgspec.msgpack.Decoder(_Body)


def check_weight(data: bytes | str, *, text: bool) -> None:
    """Raises `RequestError` (`too_large`) for a message that is large where it may not be. `text`: it is JSON.

    A message that cannot be read so far passes: decoding it finds the fault.
    """
    decoder, body_decoder = _JSON if text else _MSGPACK
    try:
        outline = decoder.decode(data)  # type: ignore[arg-type]  # MessagePack comes as bytes
        args, body = memoryview(outline.args), memoryview(outline.body)
        changes = body_decoder.decode(body).changes if outline.type == "result" and body else []
    except (msgspec.DecodeError, RecursionError, ValueError):
        return
    sentence = ""
    if outline.type not in _LARGE_TYPES and len(data) > REQUEST_MAX_BYTES:
        sentence = f"a message of this type has at most {REQUEST_MAX_BYTES} bytes, and this one has {len(data)}: send it in several"
    elif len(args) > ARGS_MAX_SENT_BYTES:
        sentence = f"`args` has {len(args)} bytes and the limit is {ARGS_MAX_BYTES} as JSON: send less"
    elif len(changes) > CHANGES_MAX:
        sentence = f"`body.changes` has {len(changes)} changes and the limit is {CHANGES_MAX}: send them in several"
    if sentence:
        number = outline.id
        re = number if type(number) is int and 1 <= number <= INTEGER_MAX else 0
        raise RequestError(ErrorCode.TOO_LARGE, sentence, re=re)
