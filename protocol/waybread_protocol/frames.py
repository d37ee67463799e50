"""What can be told of a message that does not decode: its type, its id, or that it is no message at all.

Only messages that failed come here, so the way is a slow and patient one. It never recurses: a message nested a million
deep costs no stack, and time in proportion to its length, up to a bound on the values that it looks at.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple, cast

import msgspec

from waybread_protocol.errors import CloseCode, FrameError


class Head(NamedTuple):
    """`type` and `number` (the field `id`, or `re` in an answer) as they stand in the message, None where there is none.

    `fault` says what else was seen.
    """

    type: object
    number: object
    fault: str = ""


_VALUES_MAX = 2_500_000
"""More values than any message has that a client means well with: a second's walk."""
_TOKENS_MAX = 2 * _VALUES_MAX
"""The same for JSON, where brackets, colons and commas count, too."""


def json_head(data: bytes, number: str = "id") -> Head:
    """The head of a JSON text. Raises `FrameError` where the text is no JSON."""
    odd: list[str] = []
    try:
        message: object = json.loads(data.decode(), parse_constant=odd.append, parse_int=_integer)
    except RecursionError:
        return _deep_json_head(data, number)
    except ValueError:
        raise FrameError(CloseCode.UNDECODABLE, "the message is not JSON") from None
    if not isinstance(message, dict):
        return Head(None, None, "a message is a map")
    fields = cast("dict[str, object]", message)
    return Head(fields.get("type"), fields.get(number), f"{odd[0]} is no JSON number" if odd else "")


def _integer(digits: str) -> int | None:
    """Python refuses to read integers of thousands of digits; none that long is a number of ours."""
    return int(digits) if len(digits) <= 20 else None


_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{}:,]|[^\s\[\]{}:,"]+', re.DOTALL)


def _deep_json_head(data: bytes, number: str) -> Head:
    """The first level's `type` and `number`, by tokens."""
    depth, key, last = 0, b"", b""
    wanted = (b'"type"', f'"{number}"'.encode())
    found: dict[bytes, object] = {}
    for count, match in enumerate(_TOKEN.finditer(data)):
        token = match.group()
        if token in (b"{", b"["):
            depth += 1
        elif token in (b"}", b"]"):
            depth -= 1
        elif token == b":" and depth == 1:
            key = last
        elif depth == 1 and key in wanted and token != b",":
            try:
                found[key] = json.loads(token, parse_int=_integer)
            except ValueError:
                found[key] = None
            key = b""
        last = token
        if count >= _TOKENS_MAX:
            return Head(found.get(wanted[0]), found.get(wanted[1]))
    if depth != 0:
        raise FrameError(CloseCode.UNDECODABLE, "the message is not JSON: it is cut short")
    return Head(found.get(wanted[0]), found.get(wanted[1]))


def msgpack_head(data: bytes, number: str = "id") -> Head:
    """The head of a MessagePack message. Raises `FrameError` where it is truncated or malformed."""
    try:
        _skip_msgpack(data, 0, whole=True)
    except _TooManyValuesError:
        return Head(None, None, f"a message has at most {_VALUES_MAX} values")
    count, at = _map_length(data)
    found: dict[str, object] = {}
    for _ in range(count):
        key_end = _skip_msgpack(data, at)
        end = _skip_msgpack(data, key_end)
        key = _value(data[at:key_end]) if key_end - at <= 8 else None
        if isinstance(key, str) and key in ("type", number):
            found[key] = _value(data[key_end:end]) if end - key_end <= 1024 else None
        at = end
    return Head(found.get("type"), found.get(number))


def _value(encoded: bytes) -> object:
    try:
        return msgspec.msgpack.decode(encoded)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


class _TooManyValuesError(Exception):
    """The walk ends before the message does."""


def _map_length(data: bytes) -> tuple[int, int]:
    first = data[0]
    if first & 0xF0 == 0x80:
        return first & 0x0F, 1
    if first == 0xDE:
        return int.from_bytes(data[1:3]), 3
    if first == 0xDF:
        return int.from_bytes(data[1:5]), 5
    return 0, 1


_FIXED = {0xC0: 0, 0xC2: 0, 0xC3: 0, 0xCA: 4, 0xCB: 8, 0xCC: 1, 0xCD: 2, 0xCE: 4, 0xCF: 8, 0xD0: 1, 0xD1: 2, 0xD2: 4,
          0xD3: 8, 0xD4: 2, 0xD5: 3, 0xD6: 5, 0xD7: 9, 0xD8: 17}  # fmt: skip
"""Bytes that follow the first one, for values of a fixed size."""
_SIZED = {0xC4: (1, 0), 0xC5: (2, 0), 0xC6: (4, 0), 0xC7: (1, 1), 0xC8: (2, 1), 0xC9: (4, 1), 0xD9: (1, 0),
          0xDA: (2, 0), 0xDB: (4, 0)}  # fmt: skip
"""Width of the length, and bytes between it and the data, for values that tell their own length."""
_NESTED = {0xDC: (2, 1), 0xDD: (4, 1), 0xDE: (2, 2), 0xDF: (4, 2)}
"""Width of the count, and values for each, for arrays and maps."""


def _skip_msgpack(data: bytes, at: int, *, whole: bool = False) -> int:
    """The end of the value that begins at `at`. Raises `FrameError` where it is cut short or malformed."""
    left, size, walked = 1, len(data), 0
    while left:
        walked += 1
        if walked > _VALUES_MAX:
            raise _TooManyValuesError
        if at >= size:
            raise FrameError(CloseCode.UNDECODABLE, "the message is cut short")
        first = data[at]
        at += 1
        left -= 1
        if first <= 0x7F or first >= 0xE0:
            continue
        if first <= 0x8F:
            left += 2 * (first & 0x0F)
        elif first <= 0x9F:
            left += first & 0x0F
        elif first <= 0xBF:
            at += first & 0x1F
        elif first in _FIXED:
            at += _FIXED[first]
        elif first in _SIZED:
            width, gap = _SIZED[first]
            at += width + gap + int.from_bytes(data[at : at + width])
        elif first in _NESTED:
            width, each = _NESTED[first]
            left += each * int.from_bytes(data[at : at + width])
            at += width
        else:
            raise FrameError(CloseCode.UNDECODABLE, "the message is not MessagePack")
        if left > size - at:
            # Every value takes a byte at least: no need to walk on to find that they are not there.
            raise FrameError(CloseCode.UNDECODABLE, "the message is cut short")
    if at > size or (whole and at != size):
        raise FrameError(CloseCode.UNDECODABLE, "the message is cut short, or has bytes behind its end")
    return at
