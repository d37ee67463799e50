"""Looks at a store: one connection, one thread at a time, one snapshot a look."""

# ruff: noqa: D102 - what each method promises stands once, in the contract.

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import NamedTuple

import apsw
import msgspec

from waybread_daemon.store.contract import (
    ContentFacts,
    Device,
    EventRow,
    Facts,
    Row,
    SessionFacts,
    Token,
    TurnFacts,
)
from waybread_daemon.store.sizes import DeviceSizes, FileSizes, OldSession, SessionSizes
from waybread_daemon.store.sqlite import accounts, sizes
from waybread_daemon.store.sqlite.batch import SEQ_BITS, first_id, last_id, named, seq_of
from waybread_daemon.store.sqlite.checksums import COLUMNS, checksum
from waybread_daemon.store.sqlite.chunks import Marks, Text
from waybread_daemon.store.sqlite.connection import close
from waybread_daemon.store.sqlite.faults import damage_fault
from waybread_daemon.store.sqlite.packing import Unpacker
from waybread_daemon.store.sqlite.purge import CHUNK_BITS
from waybread_daemon.store.sqlite.statements import Rows, run, value

_SESSION = (
    "SELECT number, session, kind, title, directory, state, epoch <> (SELECT value FROM meta WHERE name = 'epoch'), "
    "results, turn, head, opened_seq, opened_ms, changed_ms, base_seq, newest_key, raw_bytes + files_raw_bytes, "
    "stored_bytes + files_stored_bytes FROM session "
)
# The payload stands last: it may lie on many pages, and what follows it would be read over them.
_ROW = (
    "SELECT e.id, e.session, e.kind, e.number, e.facts, e.args_bytes, e.root, "
    "e.content, c.size_bytes, c.lines, c.chars, e.encoding, e.payload, e.checksum "
)
_CONTENTS = "LEFT JOIN content AS c ON c.id = e.content "
_FROM_ENTRY = _ROW + "FROM entry AS e " + _CONTENTS
_FROM_EVENT = _ROW + "FROM event AS v JOIN entry AS e ON e.id = v.entry " + _CONTENTS
# Of a deleted session only the `deleted` entry is left; what a request carries is no line of any transcript. Only a
# session that is being purged has others, so there is no need to look at each entry's session.
_IN_LOG = "e.kind <> 'carry' AND (e.session NOT IN (SELECT number FROM session WHERE state = 1) OR e.kind = 'deleted') "

_KEYED = (
    _ROW + "FROM entry_key AS k JOIN entry AS e ON e.id = k.entry " + _CONTENTS + "WHERE k.session = ? AND k.key = ?"
)
_RESULT = _FROM_ENTRY + "WHERE e.session = ? AND e.number = ? AND e.number IS NOT NULL"
_ENTRY = _FROM_ENTRY + "WHERE e.id = ? AND e.kind <> 'carry'"
_DEVICE_ROWS = _FROM_ENTRY + "WHERE e.id > ? AND e.id <= ? AND " + _IN_LOG + "ORDER BY e.id LIMIT ?"
_SESSION_ROWS = (
    _FROM_EVENT + "WHERE v.session = ? AND v.entry > ? AND v.entry <= ? AND " + _IN_LOG + "ORDER BY v.entry LIMIT ?"
)
_ROWS_BEFORE = _FROM_EVENT + "WHERE v.session = ? AND v.entry < ? AND " + _IN_LOG + "ORDER BY v.entry DESC LIMIT ?"
_CONTENT = (
    "SELECT id, size_bytes, lines, chars FROM content WHERE device = ? AND sha256 = ? AND sha256 IS NOT NULL "
    "AND state > 0 AND EXISTS (SELECT 1 FROM holding AS h JOIN session AS s ON s.number = h.session "
    "WHERE h.content = content.id AND s.state = 0)"
)
_CONTENT_ROW = f"SELECT {COLUMNS['content']}, checksum FROM content WHERE id = ?"  # noqa: S608  # only the program's own words
_KNOWN = "SELECT device, session, state = 0 FROM session WHERE number = ?"
_NO_ENTRY = (1 << 63) - 1
_SEQ = (1 << SEQ_BITS) - 1


class _Known(NamedTuple):
    """What rows tell of their session."""

    device: int
    session: str
    is_there: bool


class SqliteReader:
    """What `contract.Reader` promises. Good within `snapshot` only."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._cursor = connection.cursor()
        self._unpacker = Unpacker()
        self._facts = msgspec.msgpack.Decoder(Facts).decode
        self._sessions: dict[int, _Known | None] = {}

    @contextmanager
    def snapshot(self) -> Generator[None]:
        """All looks within see the store as it was at the first of them. It ends in any case, so the log can go on."""
        run(self._cursor, "BEGIN")
        self._sessions.clear()
        try:
            yield
        finally:
            if self._connection.in_transaction:
                run(self._cursor, "ROLLBACK")

    def close(self) -> int:
        """Lets go of the file. Gives the number of the operating system's last error, 0 for none."""
        errno = self._connection.system_errno
        close(self._connection)
        return errno

    def head(self, device: int) -> int:
        last = "SELECT max(id) FROM entry WHERE id BETWEEN ? AND ?"
        return seq_of(value(self._cursor, last, first_id(device), last_id(device)))

    def session(self, device: int, session: str) -> SessionFacts | None:
        rows = self._all(_SESSION + "WHERE device = ? AND session = ?", device, session)
        return _session(*rows[0]) if rows else None

    def sessions(self, device: int, before: int, limit: int) -> list[SessionFacts]:
        rows = self._all(
            _SESSION + "WHERE device = ? AND state = 0 AND head < ? ORDER BY head DESC LIMIT ?",
            device,
            before or _NO_ENTRY,
            limit,
        )
        return [_session(*row) for row in rows]

    def events(self, session: int, from_seq: int = 0) -> list[EventRow]:
        device = self._device_of(session)
        if device is None:
            return []
        rows = self._all(
            "SELECT entry, event, checksum FROM event WHERE session = ? AND entry >= ? ORDER BY entry",
            session,
            first_id(device) + from_seq,
        )
        for entry, event, written in rows:
            if checksum(session, entry, event) != written:
                raise damage_fault(named(entry))
        return [EventRow(entry & _SEQ, event) for entry, event, _ in rows if event]

    def turn(self, session: int, turn: str) -> TurnFacts | None:
        rows = self._all("SELECT seq, taken_back FROM turn WHERE session = ? AND name = ?", session, turn)
        if not rows or self._device_of(session) is None:
            return None
        return TurnFacts(rows[0][0], bool(rows[0][1]))

    def keyed(self, session: int, key: str) -> Row | None:
        return self._one(_KEYED, session, key)

    def result(self, session: int, number: int) -> Row | None:
        return self._one(_RESULT, session, number)

    def entry(self, device: int, seq: int) -> Row | None:
        # A number from outside must not reach into the next device's log.
        return self._one(_ENTRY, first_id(device) + seq) if 0 < seq < 1 << SEQ_BITS else None

    def rows(self, device: int, after: int, session: int | None, limit: int) -> list[Row]:
        start, end = min(first_id(device) + after, last_id(device)), last_id(device)
        if session is None:
            return [self._row(*row) for row in self._all(_DEVICE_ROWS, start, end, limit)]
        return [self._row(*row) for row in self._all(_SESSION_ROWS, session, start, end, limit)]

    def rows_before(self, session: int, before: int, limit: int) -> list[Row]:
        device = self._device_of(session)
        if device is None:
            return []
        end = min(first_id(device) + before, last_id(device)) if before else _NO_ENTRY
        return [self._row(*row) for row in self._all(_ROWS_BEFORE, session, end, limit)]

    def content(self, device: int, sha256: bytes) -> ContentFacts | None:
        rows = self._all(_CONTENT, device, sha256)
        return ContentFacts(*rows[0]) if rows else None

    def lines(self, content: ContentFacts, first: int, last: int) -> bytes:
        return self._text(content).lines(first, last)

    def piece(self, content: ContentFacts, first: int, last: int, from_char: int, max_bytes: int) -> tuple[bytes, bool]:
        return self._text(content).piece(first, last, from_char, max_bytes)

    def part(self, content: ContentFacts, start: int, end: int) -> bytes:
        start, end, _ = slice(start, end).indices(content.size_bytes)
        return self._text(content).between(start, end)

    def whole(self, content: ContentFacts) -> bytes:
        return self._text(content).between(0, content.size_bytes)

    def token(self, token: str) -> Token | None:
        return accounts.token_of(self._cursor, token)

    def tokens(self) -> list[Token]:
        return accounts.all_tokens(self._cursor)

    def devices(self) -> list[Device]:
        return accounts.all_devices(self._cursor)

    def accounts_version(self) -> int:
        return accounts.accounts_version(self._cursor)

    def sizes(self) -> list[DeviceSizes]:
        return sizes.sizes(self._cursor)

    def largest_sessions(self, limit: int) -> list[SessionSizes]:
        return sizes.largest_sessions(self._cursor, limit)

    def old_sessions(self, before_ms: int) -> list[OldSession]:
        return sizes.old_sessions(self._cursor, before_ms)

    def files(self) -> FileSizes:
        return sizes.files(self._connection)

    def _all(self, sql: str, *values: int | str | bytes) -> Rows:
        return run(self._cursor, sql, *values)

    def _one(self, sql: str, *values: int | str) -> Row | None:
        """The row of a session that is there."""
        rows = self._all(sql, *values)
        if not rows:
            return None
        known = self._known(rows[0][1])
        return self._row(*rows[0]) if known is not None and known.is_there else None

    def _known(self, session: int) -> _Known | None:
        """Asked once a session and snapshot: a page of rows has few sessions, and a join would ask for each row."""
        if session not in self._sessions:
            rows = self._all(_KNOWN, session)
            self._sessions[session] = _Known(*rows[0]) if rows else None
        return self._sessions[session]

    def _device_of(self, session: int) -> int | None:
        """The device of a session that is there."""
        known = self._known(session)
        return known.device if known is not None and known.is_there else None

    def _row(
        self,
        entry: int,
        session: int,
        kind: str,
        number: int | None,
        facts: bytes,
        args_bytes: int,
        root: int | None,
        content: int | None,
        size_bytes: int,
        lines: int,
        chars: int,
        encoding: int,
        payload: bytes,
        written: int,
    ) -> Row:
        if checksum(entry, session, kind, number, root, content, facts, args_bytes, encoding, payload) != written:
            raise damage_fault(named(entry))
        known = self._known(session)
        payload = self._unpacker.unpack_entry(encoding, payload)
        return Row(
            entry & _SEQ,
            known.session if known is not None else "",
            session,
            kind,
            number or 0,
            self._facts(facts),
            payload[:args_bytes],
            payload[args_bytes:] if content is None and root is None else None,
            ContentFacts(content, size_bytes, lines, chars) if content is not None else None,
            root or 0,
        )

    def _text(self, content: ContentFacts) -> Text:
        rows = self._all(_CONTENT_ROW, content.content)
        if not rows or checksum(*rows[0][:-1]) != rows[0][-1]:
            raise damage_fault(f"content {content.content}")
        *_, marks, data, _ = rows[0]

        def fetch(number: int) -> bytes:
            if data is not None:
                return self._unpacker.unpack(data)
            chunk = content.content << CHUNK_BITS | number
            found = self._all("SELECT data, checksum FROM chunk WHERE id = ?", chunk)
            if not found or checksum(chunk, found[0][0]) != found[0][1]:
                raise damage_fault(f"chunk {number} of content {content.content}")
            return self._unpacker.unpack(found[0][0])

        # Content that is in its row is one chunk, before which nothing lies.
        return Text(content.size_bytes, Marks(marks or bytes(24)), fetch)


def _session(
    number: int,
    session: str,
    kind: str,
    title: str,
    directory: str,
    state: int,
    read_only: int,
    results: int,
    turn: str,
    head: int,
    opened_seq: int,
    opened_ms: int,
    changed_ms: int,
    base_seq: int,
    newest_key: str,
    raw_bytes: int,
    stored_bytes: int,
) -> SessionFacts:
    return SessionFacts(
        number,
        session,
        kind,
        title,
        directory,
        state != 0,
        bool(read_only),
        results,
        turn,
        head,
        opened_seq,
        opened_ms,
        changed_ms,
        base_seq,
        newest_key,
        raw_bytes,
        stored_bytes,
    )
