"""Ids of results: the number of the result in its session, in hex (section 1)."""

from __future__ import annotations

import re

from waybread_protocol.loop import CONTEXT

_BEFORE, _AFTER = CONTEXT.texts.id.split("{number}")
_FORM = f"0{CONTEXT.ids.digits}x"
_SPACES = "\t\n\v\f\r "
_HEX = re.compile(r"[0-9a-fA-F]+", re.ASCII)
_MOST_DIGITS = 13
"""Hex digits of the greatest number that a session can give (2**53): no argument beyond it names a result."""


def result_id(number: int) -> str:
    """`#0012` for 18: lower-case hex, padded to `ids.digits`."""
    return f"{_BEFORE}{number:{_FORM}}{_AFTER}"


def bare_argument(argument: str) -> str:
    """A recall's argument without the spaces around it and without its own `#`."""
    return argument.strip(_SPACES).removeprefix("#")


def result_number(argument: str) -> int:
    """The number that an argument names, 0 where it is no id. The number decides, not how it is written (section 4)."""
    bare = bare_argument(argument)
    if _HEX.fullmatch(bare) is None:
        return 0
    digits = bare.lstrip("0")
    return int(digits, 16) if digits and len(digits) <= _MOST_DIGITS else 0
