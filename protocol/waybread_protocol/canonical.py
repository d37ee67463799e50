"""The canonical form of a call's arguments, by which two calls are compared (context hygiene, section 6)."""

from __future__ import annotations

import math
from typing import Any, cast

import msgspec

from waybread_protocol.errors import ErrorCode, RequestError
from waybread_protocol.limits import ARGS_MAX_BYTES, ARGS_MAX_DEPTH

_INTEGER_LEAST = -(2**63)
_INTEGER_MOST = 2**64 - 1
_PLAIN = frozenset({str, bool, type(None)})
_ENCODER = msgspec.json.Encoder(order="deterministic")


def canonical_args(args: dict[str, Any]) -> bytes:
    """JSON of `args` with keys sorted at every depth, no spaces, and a number without a fraction as an integer.

    Raises `RequestError`: `bad_message` for what JSON does not hold (binary, extension types, keys that are no
    strings, NaN, infinities, integers beyond 64 bits), `too_large` past the depth or the size that is taken.
    """
    encoded = _ENCODER.encode(_plain_object(args, 1))
    if len(encoded) > ARGS_MAX_BYTES:
        raise RequestError(
            ErrorCode.TOO_LARGE,
            f"`args` has {len(encoded)} bytes as JSON and the limit is {ARGS_MAX_BYTES}: send less",
        )
    return encoded


def _plain_object(args: dict[Any, Any], depth: int) -> dict[str, Any]:
    """`args` itself where it is canonical already, else a copy: most calls have a few strings and cost nothing."""
    if depth > ARGS_MAX_DEPTH:
        raise RequestError(ErrorCode.TOO_LARGE, f"`args` is nested more than {ARGS_MAX_DEPTH} deep: send it flatter")
    changed: dict[str, Any] | None = None
    for key, value in args.items():
        if type(key) is not str:
            raise RequestError(ErrorCode.BAD_MESSAGE, f"`args` has a key that is no string, but {_name(key)}")
        if type(value) in _PLAIN:
            continue
        plain = _plain(value, depth)
        if plain is not value:
            if changed is None:
                changed = dict(args)
            changed[key] = plain
    return args if changed is None else changed


def _plain(value: object, depth: int) -> object:
    if isinstance(value, dict):
        return _plain_object(cast("dict[object, object]", value), depth + 1)
    if isinstance(value, list):
        if depth + 1 > ARGS_MAX_DEPTH:
            raise RequestError(
                ErrorCode.TOO_LARGE, f"`args` is nested more than {ARGS_MAX_DEPTH} deep: send it flatter"
            )
        items = cast("list[object]", value)
        return [item if type(item) in _PLAIN else _plain(item, depth + 1) for item in items]
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, int):
        if not _INTEGER_LEAST <= value <= _INTEGER_MOST:
            raise RequestError(ErrorCode.BAD_MESSAGE, "`args` has an integer beyond 64 bits: send it as a string")
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise RequestError(ErrorCode.BAD_MESSAGE, "`args` has a number that is NaN or infinite: JSON has none")
        whole = value.is_integer() and _INTEGER_LEAST <= value <= _INTEGER_MOST
        return int(value) if whole else value
    raise RequestError(ErrorCode.BAD_MESSAGE, f"`args` has {_name(value)}, which JSON does not hold: send text")


def _name(value: object) -> str:
    names = {"bytes": "binary data", "Ext": "an extension type", "datetime": "a timestamp", "NoneType": "null"}
    name = type(value).__name__
    return names.get(name, f"a value of type {name}")
