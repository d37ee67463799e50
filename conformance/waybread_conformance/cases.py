"""The cases as they stand in context.json and link.json, loaded and checked for their frame."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

KINDS = ("agent", "chat", "opaque")
CODECS = ("msgpack", "json")

Step = Mapping[str, object]


class CaseError(Exception):
    """A file of cases that cannot be used: `file` and `what` say which and why."""

    def __init__(self, file: Path, what: str) -> None:
        super().__init__(file, what)
        self.file = file
        self.what = what

    def __str__(self) -> str:
        return f"{self.file}: {self.what}"


@dataclass(frozen=True)
class ContextCase:
    """A session from its beginning: steps and the answers that they have to get."""

    name: str
    sentences: Sequence[str]
    kind: str
    steps: Sequence[Step]
    why: str = ""
    define: Mapping[str, object] = field(default_factory=dict[str, object])
    long: bool = False


@dataclass(frozen=True)
class LinkCase:
    """A conversation on the wire, from connecting to closing."""

    name: str
    sentences: Sequence[str]
    steps: Sequence[Step]
    why: str = ""
    define: Mapping[str, object] = field(default_factory=dict[str, object])
    codecs: Sequence[str] = CODECS


def data_file(name: str) -> Path:
    """Where `name` stands: beside the package's modules (installed) or one folder up (a checkout).

    Raises:
        CaseError: it stands in neither place.

    """
    package = Path(__file__).parent
    for folder in (package, package.parent):
        if (folder / name).is_file():
            return folder / name
    raise CaseError(package / name, f"there is no such file here or in {package.parent}: install the package again")


def load_context(path: Path | None = None) -> list[ContextCase]:
    """The cases of context.json, in the file's order. Raises `CaseError` where one misses a field."""
    path = path if path is not None else data_file("context.json")
    cases: list[ContextCase] = []
    for raw in _raw_cases(path):
        kind = _text(path, raw, "kind")
        if kind not in KINDS:
            raise CaseError(path, f"{raw.get('name')}: no such kind of session: {kind}")
        cases.append(
            ContextCase(
                name=_text(path, raw, "name"),
                sentences=_texts(path, raw, "sentences"),
                kind=kind,
                steps=_maps(path, raw, "steps"),
                why=str(raw.get("why", "")),
                define=cast("Mapping[str, object]", raw.get("define", {})),
                long=raw.get("long") is True,
            )
        )
    return cases


def load_link(path: Path | None = None) -> list[LinkCase]:
    """The cases of link.json, in the file's order. Raises `CaseError` where one misses a field."""
    path = path if path is not None else data_file("link.json")
    return [
        LinkCase(
            name=_text(path, raw, "name"),
            sentences=_texts(path, raw, "sentences"),
            steps=_maps(path, raw, "steps"),
            why=str(raw.get("why", "")),
            define=cast("Mapping[str, object]", raw.get("define", {})),
            codecs=_texts(path, raw, "codecs") if "codecs" in raw else CODECS,
        )
        for raw in _raw_cases(path)
    ]


def _raw_cases(path: Path) -> list[Mapping[str, object]]:
    try:
        document: object = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CaseError(path, f"cannot be read: {error}") from error
    if not isinstance(document, dict):
        raise CaseError(path, "has to be a map with the field `cases`")
    return _maps(path, cast("Mapping[str, object]", document), "cases")


def _text(path: Path, raw: Mapping[str, object], name: str) -> str:
    value = raw.get(name)
    if not isinstance(value, str):
        raise CaseError(path, f"{raw.get('name', 'a case')}: `{name}` has to be a string")
    return value


def _texts(path: Path, raw: Mapping[str, object], name: str) -> list[str]:
    value = raw.get(name)
    if not isinstance(value, list):
        raise CaseError(path, f"{raw.get('name', 'a case')}: `{name}` has to be a list of strings")
    return [str(item) for item in cast("list[object]", value)]


def _maps(path: Path, raw: Mapping[str, object], name: str) -> list[Mapping[str, object]]:
    value = raw.get(name)
    items = cast("list[object]", value) if isinstance(value, list) else [None]
    if not all(isinstance(item, dict) for item in items):
        raise CaseError(path, f"{raw.get('name', 'the file')}: `{name}` has to be a list of maps")
    return cast("list[Mapping[str, object]]", items)
