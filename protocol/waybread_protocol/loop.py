"""The numbers and texts of context hygiene, read from `loop.json`: the one place where each of them stands."""

from __future__ import annotations

import importlib.resources

import msgspec


class Ids(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`digits`: the least number of hex digits of an id (section 1)."""

    digits: int


class ReadNumbers(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`sha_digits` of the hash in a bracket; `window_lines` that one read shows at most (sections 1 and 3)."""

    sha_digits: int
    window_lines: int


class CapNumbers(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Above `max_lines` or `max_chars` a result keeps its head and tail (section 3)."""

    max_lines: int
    max_chars: int
    head_lines: int
    head_chars: int
    tail_lines: int
    tail_chars: int


class RecallNumbers(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`window_lines` that one recall shows; `argument_chars` of an unknown id that the answer repeats (section 4)."""

    window_lines: int
    argument_chars: int


class Dedupe(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`by_result`: the tools whose repeated result is a stub (section 6)."""

    by_result: tuple[str, ...]


class DiffNumbers(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`context_lines` around each change (section 5)."""

    context_lines: int


class CompactionNumbers(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`rows` of the table at most (section 7)."""

    rows: int


class Texts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Every text that a model sees, as a template of `str.format` with named fields."""

    id: str
    result: str
    read: str
    read_empty: str
    read_line: str
    read_past_end: str
    unchanged: str
    same: str
    cut: str
    elided: str
    recall: str
    recall_empty: str
    recall_past_end: str
    recall_unknown: str
    change: str
    change_deleted: str
    patched: str
    patched_deleted: str
    created: str
    table_head: str
    table_row: str
    table_lines: str
    table_empty: str


class Context(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The object `context` of `loop.json`."""

    ids: Ids
    read: ReadNumbers
    cap: CapNumbers
    recall: RecallNumbers
    dedupe: Dedupe
    diff: DiffNumbers
    compaction: CompactionNumbers
    texts: Texts


class Loop(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole of `loop.json`."""

    context: Context


def _read(*path: str) -> bytes:
    return importlib.resources.files("waybread_protocol").joinpath(*path).read_bytes()


LOOP_JSON = _read("loop.json")
CONTEXT = msgspec.json.decode(LOOP_JSON, type=Loop).context
PROMPT = _read("prompts", "blocks", "context.md").decode()
"""What a model is told in every session that has recall (section 9)."""
