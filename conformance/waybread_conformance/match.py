"""Placeholders of link.json: what a sent message is filled with, and what an expected one fits (README, "Messages")."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from waybread_conformance.describe import (
    DescriptionError,
    as_list,
    as_map,
    expand_bytes,
    expand_text,
    list_or_none,
    map_or_none,
)

_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "boolean": bool,
    "list": list,
    "map": dict,
}


@dataclass
class Scope:
    """What the placeholders of a case stand for: it lives as long as one run of one case."""

    run: str
    """Makes session ids unique to this run."""

    tokens: Mapping[str, str]
    encode: Callable[[Mapping[str, object]], bytes]
    named: Mapping[str, object]
    saved: dict[str, object] = field(default_factory=dict[str, object])
    sessions: set[str] = field(default_factory=set[str])
    """The session ids that were used."""

    def fill(self, value: object) -> object:
        """`value` with its placeholders replaced. Raises `DescriptionError` for an unknown one."""
        items = list_or_none(value)
        if items is not None:
            return [self.fill(item) for item in items]
        fields = map_or_none(value)
        if fields is None:
            return value
        if any(name.startswith("$") for name in fields):
            return self._placeholder(fields)
        return {name: self.fill(item) for name, item in fields.items()}

    def mismatch(self, expected: object, got: object, at: str = "") -> str:
        """Where `got` does not fit `expected`, as a sentence; empty where it fits. Saves what `$save` names."""
        fields = map_or_none(expected)
        if fields is not None:
            return self._map_mismatch(fields, got, at)
        wanted = list_or_none(expected)
        if wanted is not None:
            return self._list_mismatch(wanted, got, at)
        if type(got) is type(expected) and got == expected:
            return ""
        return f"{at or 'the message'}: {_short(expected)} is wanted, got {_short(got)}"

    def _placeholder(self, fields: Mapping[str, object]) -> object:
        match fields:
            case {"$session": str(label)}:
                session = f"{label}-{self.run}"
                self.sessions.add(session)
                return session
            case {"$var": str(name)} if name in self.saved:
                return self.saved[name]
            case {"$token": str(role)} if role in self.tokens:
                return self.tokens[role]
            case {"$text": description}:
                return expand_text(description, self.named)
            case {"$bytes": description}:
                return expand_bytes(description, self.named)
            case {"$sha256": description}:
                return hashlib.sha256(expand_bytes(description, self.named)).hexdigest()
            case {"$nested": int(depth)}:
                return _nested(depth)
            case {"$encoded": message}:
                encoded = self.encode(as_map(self.fill(message), "`$encoded`"))
                return encoded[cast("int", fields.get("from", 0)) : cast("int | None", fields.get("to"))]
            case _:
                raise DescriptionError(f"no placeholder: {_short(dict(fields))}")

    def _map_mismatch(self, expected: Mapping[str, object], got: object, at: str) -> str:
        match expected:
            case {"$any": str(kind)}:
                fits = isinstance(got, _TYPES[kind]) and (kind == "boolean" or not isinstance(got, bool))
                return "" if fits else f"{at}: any {kind} is wanted, got {_short(got)}"
            case {"$save": str(name)}:
                self.saved[name] = got
                return ""
            case {"$contains": str(piece)}:
                fits = isinstance(got, str) and piece in got
                return "" if fits else f"{at}: text with {piece!r} is wanted, got {_short(got)}"
            case {"$not": value}:
                return "" if self.mismatch(value, got, at) else f"{at}: anything but {_short(value)} is wanted"
            case {"$has": items}:
                return self._lacks(as_list(items, "`$has`"), got, at)
            case _:
                pass
        if any(name.startswith("$") for name in expected):
            return self.mismatch(self._placeholder(expected), got, at)
        fields = map_or_none(got)
        if fields is None:
            return f"{at or 'the message'}: a map is wanted, got {_short(got)}"
        for name, value in expected.items():
            place = f"{at}.{name}" if at else name
            if name not in fields:
                return f"{place}: the field is missing in {_short(fields)}"
            wrong = self.mismatch(value, fields[name], place)
            if wrong:
                return wrong
        return ""

    def _list_mismatch(self, expected: Sequence[object], got: object, at: str) -> str:
        items = list_or_none(got)
        if items is None:
            return f"{at}: a list is wanted, got {_short(got)}"
        if len(items) != len(expected):
            return f"{at}: {len(expected)} items are wanted, got {len(items)}: {_short(items)}"
        for index, (want, item) in enumerate(zip(expected, items, strict=True)):
            wrong = self.mismatch(want, item, f"{at}[{index}]")
            if wrong:
                return wrong
        return ""

    def _lacks(self, wanted: Sequence[object], got: object, at: str) -> str:
        items = list_or_none(got)
        if items is None:
            return f"{at}: a list is wanted, got {_short(got)}"
        for want in wanted:
            if all(self.mismatch(want, item, at) for item in items):
                return f"{at}: an item like {_short(want)} is wanted, got {_short(items)}"
        return ""


def _nested(depth: int) -> Mapping[str, object]:
    """Maps in maps: `depth` of them, the innermost empty."""
    nested: dict[str, object] = {}
    for _ in range(depth - 1):
        nested = {"deeper": nested}
    return nested


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 400 else f"{text[:400]}…"
