"""What goes into the plain model and what comes out of it."""

from __future__ import annotations

from dataclasses import dataclass


class Refused(Exception):  # noqa: N818 - an answer of the session, no fault
    """The step is answered with an error of this code and changes nothing."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True)
class Change:
    """One file of a change: `before` None is a new file, `after` None a deleted one."""

    path: str
    absolute: str
    before: bytes | None
    after: bytes | None


@dataclass(frozen=True)
class Outcome:
    repeated: bool


@dataclass(frozen=True)
class Answer:
    """What an insertion is answered with; `text` goes to the model, `body` is what recall shows."""

    number: int
    result: str
    text: str
    body: str
    stub_of: str | None = None
    capped: bool = False
    error: bool = False


@dataclass(frozen=True)
class Shown:
    result: str
    text: str
    first: int
    last: int
    lines: int


@dataclass(frozen=True)
class ReadRow:
    """A full read: `path` as called, `lines` the file's length, `first` and `last` 0 for an empty file."""

    path: str
    absolute: str
    first: int
    last: int
    lines: int
    sha256: str
    result: str
    in_request: bool
    changed: bool


@dataclass(frozen=True)
class Compaction:
    table: str
    rows: list[ReadRow]
