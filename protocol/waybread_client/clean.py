"""Text that can travel: lone surrogates, which a Python string may hold and valid Unicode may not, become U+FFFD."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

from waybread_protocol.limits import ARGS_MAX_DEPTH

_SURROGATES = re.compile("([\ud800-\udbff])([\udc00-\udfff])|[\ud800-\udfff]")


def clean(text: str) -> str:
    """`text` with pairs of surrogates joined to the character that they mean, and U+FFFD for each lone one."""
    if text.isascii():
        return text
    return _SURROGATES.sub(_mend, text)


def _mend(match: re.Match[str]) -> str:
    high, low = match.groups()
    if high is None:
        return "\ufffd"
    return chr(0x10000 + ((ord(high) - 0xD800) << 10) + (ord(low) - 0xDC00))


def clean_args(args: Mapping[str, Any]) -> dict[str, Any]:
    """A call's arguments with every string clean, keys included. The caller's own map stays as it is."""
    return _clean_map(args, 1)


def _clean_map(values: Mapping[Any, Any], depth: int) -> dict[Any, Any]:
    return {_clean_value(key, depth): _clean_value(value, depth) for key, value in values.items()}


def _clean_value(value: object, depth: int) -> object:
    if isinstance(value, str):
        return clean(value)
    if depth > ARGS_MAX_DEPTH:
        # The daemon refuses what is nested deeper, and says so better than a stack that runs out.
        return value
    if isinstance(value, Mapping):
        return _clean_map(cast("Mapping[object, object]", value), depth + 1)
    if isinstance(value, (list, tuple)):
        return [_clean_value(item, depth + 1) for item in cast("list[object]", value)]
    return value
