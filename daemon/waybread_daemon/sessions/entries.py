"""Entries of the log as the wire tells of them, and pages of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from waybread_daemon.hygiene.answer import Shape
from waybread_daemon.hygiene.ids import result_id
from waybread_daemon.hygiene.lines import count_chars
from waybread_daemon.sessions.bodies import cut_text, text_of
from waybread_daemon.store.contract import Reader, Row
from waybread_protocol.limits import ENTRY_ARGS_BYTES
from waybread_protocol.messages import Entry

_ROWS_FIRST = 8
_ROWS_MOST = 256
"""Rows fetched at a time: few at first, because each comes with its text and a few large ones fill a page."""


class Entries(NamedTuple):
    """Entries that fit a page, in the order of the rows, and whether rows were left over."""

    entries: list[Entry]
    more: bool


def fill(reader: Reader, rows: Iterable[Row], page_bytes: int, most: int) -> Entries:
    """As many entries as fit into `page_bytes` of text and arguments, `most` at most, and at least one."""
    entries: list[Entry] = []
    left = page_bytes
    for row in rows:
        if len(entries) == most:
            return Entries(entries, more=True)
        args, args_bytes = _args(row)
        text = text_of(reader, row)
        size = len(text) + args_bytes
        if size > left and entries:
            return Entries(entries, more=True)
        entries.append(_entry(row, args, text, max(left - args_bytes, 0)))
        left -= size
    return Entries(entries, more=False)


def rows_after(reader: Reader, device: int, after: int, session: int | None) -> Iterator[Row]:
    """All entries after a cursor, fetched some at a time."""
    wanted = _ROWS_FIRST
    while True:
        rows = reader.rows(device, after, session, wanted)
        yield from rows
        if len(rows) < wanted:
            return
        after, wanted = rows[-1].seq, min(8 * wanted, _ROWS_MOST)


def rows_before(reader: Reader, session: int, before: int) -> Iterator[Row]:
    """A session's entries before a cursor (0: all), the last first, fetched some at a time."""
    wanted = _ROWS_FIRST
    while True:
        rows = reader.rows_before(session, before, wanted)
        yield from rows
        if len(rows) < wanted:
            return
        before, wanted = rows[-1].seq, min(8 * wanted, _ROWS_MOST)


def _args(row: Row) -> tuple[dict[str, Any], int]:
    if not row.args or len(row.args) > ENTRY_ARGS_BYTES:
        return {}, 2
    return msgspec.json.decode(row.args), len(row.args)


def _entry(row: Row, args: dict[str, Any], text: bytes, text_bytes: int) -> Entry:
    facts = row.facts
    shown, _ = cut_text(text, 0, text_bytes)
    return Entry(
        seq=row.seq,
        session=row.session,
        at_ms=facts.at_ms,
        kind=row.kind,
        turn=facts.turn,
        role=facts.role,
        result=result_id(row.number) if row.number else "",
        tool=facts.tool,
        call=facts.call,
        args=args,
        args_chars=count_chars(row.args),
        body=facts.body,
        error=facts.error,
        capped=facts.shape == Shape.CUT,
        text=shown.decode(),
        text_chars=count_chars(text),
        stub_of=result_id(facts.stub_of) if facts.stub_of else None,
        turns=list(facts.turns),
        session_kind=facts.session_kind,
        title=facts.title,
    )
