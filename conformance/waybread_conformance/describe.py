"""The description language: long text as a few words of JSON (README, "Described text").

A description is a string, which stands for itself, or a map with one of the forms below. It stands for text, or for
bytes where a form of bytes is part of it.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import cast

Plain = str | bytes


class DescriptionError(ValueError):
    """A description that stands for nothing: `what` says where it goes wrong."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what

    def __str__(self) -> str:
        return f"description: {self.what}"


def expand(description: object, named: Mapping[str, object] | None = None) -> Plain:
    """The text or the bytes that `description` stands for; `named` are the descriptions that `use` may name.

    Raises:
        DescriptionError: the map has no known form, a field is missing or of a wrong type, a name is unknown.

    """
    names: Mapping[str, object] = named if named is not None else {}
    if isinstance(description, str):
        return description
    fields = as_map(description, "a description")
    match fields:
        case {"use": str(name)}:
            if name not in names:
                raise DescriptionError(f"no text is defined as {name!r}")
            rest = {other: names[other] for other in names if other != name}
            return expand(names[name], rest)
        case {"hex": str(digits)}:
            return _from_hex(digits)
        case {"base64": str(encoded)}:
            return _from_base64(encoded)
        case {"repeat": piece, "times": int(times)} if times >= 0:
            return expand(piece, names) * times
        case {"lines": block}:
            return _lines(as_map(block, "`lines`"))
        case {"join": pieces}:
            joined = [expand(piece, names) for piece in as_list(pieces, "`join`")]
            return _join(joined, expand(fields.get("with", ""), names))
        case _:
            raise DescriptionError(f"a map with the fields {', '.join(sorted(fields)) or '(none)'} has no known form")


def expand_text(description: object, named: Mapping[str, object] | None = None) -> str:
    """The text that `description` stands for.

    Raises:
        DescriptionError: as `expand`, and where it stands for bytes.

    """
    plain = expand(description, named)
    if isinstance(plain, bytes):
        raise DescriptionError("text is wanted here, not bytes")
    return plain


def expand_bytes(description: object, named: Mapping[str, object] | None = None) -> bytes:
    """The bytes that `description` stands for: text as its UTF-8."""
    return to_bytes(expand(description, named))


def to_bytes(plain: Plain) -> bytes:
    """Text as its UTF-8, bytes as they are."""
    return plain.encode() if isinstance(plain, str) else plain


def as_map(value: object, name: str) -> Mapping[str, object]:
    """`value`, which has to be a JSON map. Raises `DescriptionError` where it is none."""
    fields = map_or_none(value)
    if fields is None:
        raise DescriptionError(f"{name} has to be a map, not {value!r:.60}")
    return fields


def as_list(value: object, name: str) -> Sequence[object]:
    """`value`, which has to be a JSON list. Raises `DescriptionError` where it is none."""
    items = list_or_none(value)
    if items is None:
        raise DescriptionError(f"{name} has to be a list, not {value!r:.60}")
    return items


def map_or_none(value: object) -> Mapping[str, object] | None:
    """`value` where it is a JSON map."""
    return cast("dict[str, object]", value) if isinstance(value, dict) else None


def list_or_none(value: object) -> Sequence[object] | None:
    """`value` where it is a JSON list."""
    return cast("list[object]", value) if isinstance(value, list) else None


def _lines(block: Mapping[str, object]) -> str:
    match block:
        case {"from": int(first), "to": int(last), "text": str(text)}:
            pieces = [text.replace("{n}", str(number)) for number in range(first, last + 1)]
        case _:
            raise DescriptionError("`lines` needs `from`, `to` and `text`")
    final = block.get("final_newline", False)
    return "\n".join(pieces) + ("\n" if final and pieces else "")


def _join(pieces: list[Plain], between: Plain) -> Plain:
    texts = [piece for piece in pieces if isinstance(piece, str)]
    if isinstance(between, str) and len(texts) == len(pieces):
        return between.join(texts)
    return to_bytes(between).join(to_bytes(piece) for piece in pieces)


def _from_hex(digits: str) -> bytes:
    try:
        return bytes.fromhex(digits)
    except ValueError as error:
        raise DescriptionError(f"{digits!r:.60} is not hex: {error}") from error


def _from_base64(encoded: str) -> bytes:
    try:
        return base64.b64decode(encoded, validate=True)
    except binascii.Error as error:
        raise DescriptionError(f"{encoded!r:.60} is not base64: {error}") from error
