"""A second opinion on bytes: whether they hold a message at all. Nothing of the product is imported.

It is plain and knows only the two formats. What it says about a frame decides what has to come of it: a message is
answered, once; what is no message closes the link with 1007.
"""

from __future__ import annotations

import enum
import json
from typing import cast


class Opinion(enum.Enum):
    MESSAGE = "a message: it is answered, and the link goes on"
    NONE = "no message: the link closes with 1007"
    UNSURE = "it may be a part, or is nested deeper than this looks"


def of_json(text: str) -> Opinion:
    """A JSON text."""
    try:
        value: object = json.loads(text, parse_int=lambda digits: digits, parse_constant=lambda name: name)
    except RecursionError:
        return Opinion.UNSURE
    except ValueError:
        return Opinion.NONE
    if isinstance(value, dict) and cast("dict[str, object]", value).get("type") == "part":
        return Opinion.UNSURE
    return Opinion.MESSAGE


def of_msgpack(data: bytes) -> Opinion:
    """A MessagePack value from the first byte to the last."""
    if _end(data) != len(data):
        return Opinion.NONE
    return Opinion.UNSURE if b"part" in data else Opinion.MESSAGE


def _end(data: bytes) -> int:
    """Where the first value ends, -1 where there is no whole one."""
    at, wanted = 0, 1
    while wanted:
        if at >= len(data):
            return -1
        first = data[at]
        at += 1
        wanted -= 1
        kind = _KINDS[first]
        if kind is None:
            return -1
        width, base, scale, values = kind
        if at + width > len(data):
            return -1
        number = int.from_bytes(data[at : at + width]) if width else 0
        at += width + base + number * scale
        wanted += number * values + _FIXED_VALUES.get(first, 0)
        if at > len(data) or wanted > len(data):
            return -1
    return at


_Kind = tuple[int, int, int, int]
"""Bytes of a length; bytes that always follow it; bytes that follow for each of it; values that follow for each of it."""


def _kind(first: int) -> _Kind | None:
    if first <= 0x9F or first >= 0xE0:
        return 0, 0, 0, 0
    if first <= 0xBF:
        return 0, first & 0x1F, 0, 0
    return {
        0xC0: (0, 0, 0, 0), 0xC2: (0, 0, 0, 0), 0xC3: (0, 0, 0, 0),
        0xC4: (1, 0, 1, 0), 0xC5: (2, 0, 1, 0), 0xC6: (4, 0, 1, 0),
        0xC7: (1, 1, 1, 0), 0xC8: (2, 1, 1, 0), 0xC9: (4, 1, 1, 0),
        0xCA: (0, 4, 0, 0), 0xCB: (0, 8, 0, 0),
        0xCC: (0, 1, 0, 0), 0xCD: (0, 2, 0, 0), 0xCE: (0, 4, 0, 0), 0xCF: (0, 8, 0, 0),
        0xD0: (0, 1, 0, 0), 0xD1: (0, 2, 0, 0), 0xD2: (0, 4, 0, 0), 0xD3: (0, 8, 0, 0),
        0xD4: (0, 2, 0, 0), 0xD5: (0, 3, 0, 0), 0xD6: (0, 5, 0, 0), 0xD7: (0, 9, 0, 0), 0xD8: (0, 17, 0, 0),
        0xD9: (1, 0, 1, 0), 0xDA: (2, 0, 1, 0), 0xDB: (4, 0, 1, 0),
        0xDC: (2, 0, 0, 1), 0xDD: (4, 0, 0, 1), 0xDE: (2, 0, 0, 2), 0xDF: (4, 0, 0, 2),
    }.get(first)  # fmt: skip


_KINDS = [_kind(first) for first in range(256)]
_FIXED_VALUES = {
    **{0x80 | count: 2 * count for count in range(16)},
    **{0x90 | count: count for count in range(16)},
}
