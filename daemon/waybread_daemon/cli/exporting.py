"""A session as JSON Lines, in pieces: however large a text is, memory holds some of it at a time.

Each piece is fetched by a short look of its own, so that a slow reader of the output holds no snapshot and with it the
daemon's log. What the export tells is the session up to the entry that was its last when it began.
"""

from __future__ import annotations

import base64
import codecs
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import msgspec

from waybread_daemon import VERSION
from waybread_daemon.cli.faults import CommandFault
from waybread_daemon.cli.looks import Found, session_fields
from waybread_daemon.hygiene.answer import Shape
from waybread_daemon.hygiene.ids import result_id
from waybread_daemon.hygiene.lines import count_chars
from waybread_daemon.sessions.bodies import body_of, exact_lines, line_count
from waybread_daemon.sessions.entries import whole_entry
from waybread_daemon.store.contract import ContentFacts, Reader, Row
from waybread_daemon.store.sqlite.blocking import BlockingLooks, HeldFile

FORMAT = 1
"""Raised when a line changes its meaning. New fields and new kinds of lines do not raise it."""
PIECE_BYTES = 768 * 1024
"""A multiple of three, so that pieces in base64 join."""
_LINES = 1024
_ROWS = 8

T = TypeVar("T")


class Exporter:
    """An export of a session, as pieces of text. `at_ms` is when it is made."""

    def __init__(self, looks: BlockingLooks, found: Found, at_ms: int) -> None:
        self._looks = looks
        self._device = found.device
        self._session = found.session
        self._at_ms = at_ms

    def pieces(self) -> Iterator[str]:
        """All of it. Raises `CommandFault` where the session is deleted meanwhile, and `StoreFault`."""
        yield _line(self._head())
        entries = results = files = 0
        for row in self._rows():
            yield from self._entry(row)
            entries += 1
            if row.number:
                yield from self._result(row)
                results += 1
        content = 0
        while (file := self._looks.next_file(self._session.number, content)) is not None:
            yield from self._file(file)
            content, files = file.content.content, files + 1
        yield _line({"line": "end", "entries": entries, "results": results, "files": files})

    def _head(self) -> dict[str, object]:
        session = self._session
        return {
            "line": "session",
            "format": FORMAT,
            "waybread": VERSION,
            "exported_ms": self._at_ms,
            "epoch": self._looks.epoch(),
            "device": self._device.device,
            "device_name": self._device.name,
            "session": session.session,
            **session_fields(session),
        }

    def _rows(self) -> Iterator[Row]:
        device, number, head = self._device.number, self._session.number, self._session.head
        after = 0
        while after < head:
            start = after
            rows = self._look(lambda reader, start=start: reader.rows(device, start, number, _ROWS))  # type: ignore[misc]
            yield from (row for row in rows if row.seq <= head)
            if len(rows) < _ROWS:
                return
            after = rows[-1].seq

    def _entry(self, row: Row) -> Iterator[str]:
        """The line of an entry; its text stands last, so that it can come in pieces."""
        large = row.content if row.facts.shape == Shape.WHOLE and not (row.root or row.facts.span) else None
        # A text without its body is its lead alone: the body follows in pieces.
        shown = row if large is None else msgspec.structs.replace(row, facts=_bare(row))
        entry = self._look(lambda reader: whole_entry(reader, shown))
        fields: dict[str, Any] = {name: getattr(entry, name) for name in entry.__struct_fields__}
        text = fields.pop("text")
        if large is not None:
            fields["text_chars"] = count_chars(text.encode()) + large.chars
        fields["args"] = msgspec.Raw(row.args or b"{}")
        yield _open({"line": "entry", **fields}, "text")
        yield _inside(text)
        if large is not None:
            yield from self._content(large)
        yield '"}\n'

    def _result(self, row: Row) -> Iterator[str]:
        """The line of a result: its body in full, as a recall shows it."""
        body = self._look(lambda reader: body_of(reader, row))
        lines = self._look(lambda reader: line_count(reader, body))
        content = body.holder.content
        sha256 = None if content is None else self._looks.hash_of(content.content)
        fields = {
            "line": "result",
            "result": result_id(row.number),
            "seq": row.seq,
            "lines": lines,
            "sha256": sha256.hex() if sha256 else None,
        }
        yield _open(fields, "body")
        if body.span is None and content is not None:
            yield from self._content(content)
        elif body.span is None:
            yield _inside((body.holder.body or b"").decode())
        else:
            for first in range(1, lines + 1, _LINES):
                last = min(first + _LINES - 1, lines)
                window = self._look(lambda reader, first=first, last=last: exact_lines(reader, body, first, last))  # type: ignore[misc]
                yield _inside(window.decode())
        yield '"}\n'

    def _file(self, file: HeldFile) -> Iterator[str]:
        """The line of a file's content: as text where it is UTF-8, else in base64."""
        content = file.content
        fields = {"line": "file", "sha256": file.sha256.hex(), "size_bytes": content.size_bytes, "lines": content.lines}
        try:
            for _ in self._decoded(content):
                pass
        except UnicodeDecodeError:
            yield _open(fields, "base64")
            for part in self._parts(content):
                yield base64.b64encode(part).decode()
        else:
            yield _open(fields, "text")
            yield from self._content(content)
        yield '"}\n'

    def _content(self, content: ContentFacts) -> Iterator[str]:
        for piece in self._decoded(content):
            yield _inside(piece)

    def _decoded(self, content: ContentFacts) -> Iterator[str]:
        decoder = codecs.getincrementaldecoder("utf-8")()
        for part in self._parts(content):
            yield decoder.decode(part)
        yield decoder.decode(b"", final=True)

    def _parts(self, content: ContentFacts) -> Iterator[bytes]:
        for start in range(0, content.size_bytes, PIECE_BYTES):
            end = start + PIECE_BYTES
            yield self._look(lambda reader, start=start, end=end: reader.part(content, start, end))  # type: ignore[misc]

    def _look(self, read: Callable[[Reader], T]) -> T:
        with self._looks.snapshot() as reader:
            facts = reader.session(self._device.number, self._session.session)
            if facts is None or facts.gone:
                raise CommandFault(
                    f"the session {self._session.session!r} was deleted meanwhile: what was printed of it has no end"
                )
            return read(reader)


def _bare(row: Row) -> Any:
    return msgspec.structs.replace(row.facts, shape=int(Shape.BARE))


def _line(fields: dict[str, object]) -> str:
    return f"{msgspec.json.encode(fields).decode()}\n"


def _open(fields: dict[str, Any], last: str) -> str:
    """A line up to the text of its last field."""
    return f'{msgspec.json.encode(fields).decode()[:-1]},"{last}":"'


def _inside(text: str) -> str:
    """A text as it stands between the quotes of JSON."""
    return msgspec.json.encode(text)[1:-1].decode()
