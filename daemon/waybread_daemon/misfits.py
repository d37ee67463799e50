"""What each setting may be, and the sentence about a value that it may not: both from the setting's type alone."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Literal, cast, get_args, get_origin

import msgspec
from msgspec import Meta

from waybread_daemon.forms import shown

_SHOWN_CHARS = 80
_MOST_BITS = 256
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")


def span_of(kind: Any) -> str:  # what msgspec takes for a type
    """What a setting of that type may be, in a few words: `1,024 to 16,777,216`, `true or false`, `text`."""
    plain, limits = _parts(kind)
    if get_origin(plain) is tuple:
        return "a list of texts"
    if get_origin(plain) is Literal:
        *first, last = map(str, get_args(plain))
        return f"{', '.join(first)} or {last}"
    if plain is bool:
        return "true or false"
    if plain is str:
        return "a text that is not empty" if limits.min_length else "a text"
    least = f"above {limits.gt:,}, " if limits.gt is not None else f"{limits.ge:,} "
    return f"{least}{'at most' if limits.gt is not None else 'to'} {limits.le:,}"


def misfit(name: str, kind: Any, value: object, source: str) -> str:
    """The sentence about a value of the setting `name` that its type does not take, empty where it takes it.

    What may be a password in the value is not said again.
    """
    if _fits(kind, value):
        return ""
    return f"{name} is {_shown(value)} in {source}: {_remedy(kind, value)}"


def _fits(kind: Any, value: object) -> bool:
    try:
        taken = msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return False
    return not _is_unprintable(taken)


def _is_unprintable(value: object) -> bool:
    """Whether there is something in a text that no path, no address and no header may hold."""
    texts: Iterable[object] = cast("Iterable[object]", value) if isinstance(value, list | tuple) else (value,)
    return any(isinstance(text, str) and _UNPRINTABLE.search(text) is not None for text in texts)


def _remedy(kind: Any, value: object) -> str:
    plain, limits = _parts(kind)
    if isinstance(value, dict):
        return f"settings stand in no section, so take its [line] away and give {span_of(kind)}"
    if _is_unprintable(value):
        return "it has a control character, or is no UTF-8: write it anew without that"
    if get_origin(plain) is tuple:
        return 'give a list of texts, each in quotes, like ["one", "two"]'
    if get_origin(plain) is Literal:
        return f"choose {span_of(kind)}"
    if plain is str:
        return "it may not be empty: give a value, or take the line away" if value == "" else "give a text, in quotes"
    if plain is bool:
        return "give true or false, without quotes"
    whole = "whole number" if plain is int else "number"
    if limits.gt is not None:
        return f"give a {whole} {span_of(kind)}"
    return f"give a {whole} from {span_of(kind)}"


def _parts(kind: Any) -> tuple[Any, Meta]:
    """A type without its limits, and the limits."""
    for limits in getattr(kind, "__metadata__", ()):
        return kind.__origin__, limits
    return kind, Meta()


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        return "a number too large to show"
    text = shown(value) if isinstance(value, str) else re.sub(r"//[^/@]*@", "//…@", repr(value))
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}…"
