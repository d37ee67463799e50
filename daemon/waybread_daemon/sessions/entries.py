"""Entries of the log as the wire tells of them, and pages of them."""

from __future__ import annotations

from collections.abc import Callable
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

Fetch = Callable[[int], list[Row]]
"""The next rows, at most so many; fewer where there are no more."""


class Entries(NamedTuple):
    """Entries that fit a page, in the order of the rows, and whether rows were left over."""

    entries: list[Entry]
    more: bool


def fill(reader: Reader, fetch: Fetch, page_bytes: int, most: int) -> Entries:
    """As many entries as fit into `page_bytes` of text and arguments, `most` at most, and at least one."""
    entries: list[Entry] = []
    left, wanted = page_bytes, _ROWS_FIRST
    while True:
        rows = fetch(wanted)
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
        if len(rows) < wanted:
            return Entries(entries, more=False)
        # As many as the rest of the page holds if they are like those so far, and one that shows whether more are left.
        mean = (page_bytes - left) // len(entries) + 1
        wanted = max(1, min(left // mean + 1, most - len(entries) + 1, _ROWS_MOST))


def whole_entry(reader: Reader, row: Row) -> Entry:
    """An entry with all of its text, for whoever is in this process."""
    text = text_of(reader, row)
    return _entry(row, _args(row)[0], text, len(text))


def rows_after(reader: Reader, device: int, after: int, session: int | None) -> Fetch:
    """All entries after a cursor."""

    def fetch(most: int) -> list[Row]:
        nonlocal after
        rows = reader.rows(device, after, session, most)
        after = rows[-1].seq if rows else after
        return rows

    return fetch


def rows_before(reader: Reader, session: int, before: int) -> Fetch:
    """A session's entries before a cursor (0: all), the last first."""

    def fetch(most: int) -> list[Row]:
        nonlocal before
        rows = reader.rows_before(session, before, most)
        before = rows[-1].seq if rows else before
        return rows

    return fetch


def _args(row: Row) -> tuple[dict[str, Any], int]:
    if len(row.args) <= _NO_ARGS_BYTES or len(row.args) > ENTRY_ARGS_BYTES:
        return {}, _NO_ARGS_BYTES
    return _decode_args(row.args), len(row.args)


_NO_ARGS_BYTES = len(b"{}")
_decode_args = msgspec.json.Decoder(dict[str, Any]).decode


def _entry(row: Row, args: dict[str, Any], text: bytes, text_bytes: int) -> Entry:
    facts = row.facts
    shown, cut = cut_text(text, 0, text_bytes)
    shown_text = shown.decode()
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
        text=shown_text,
        text_chars=count_chars(text) if cut else len(shown_text),
        stub_of=result_id(facts.stub_of) if facts.stub_of else None,
        turns=list(facts.turns) if facts.turns else [],
        session_kind=facts.session_kind,
        title=facts.title,
    )
