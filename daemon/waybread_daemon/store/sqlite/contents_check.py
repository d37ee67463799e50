"""Whether what is stored can be read and is what it says: every payload and chunk decompressed, every hash made anew.

It goes through the store in slices, each a short look of its own, so that a daemon beside it can cut its log meanwhile;
memory holds a chunk at a time, however large a content is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import apsw
import msgspec
import zstandard

from waybread_daemon.store.contract import Facts
from waybread_daemon.store.sqlite.batch import SEQ_BITS
from waybread_daemon.store.sqlite.check import stream
from waybread_daemon.store.sqlite.chunks import Count, Marks
from waybread_daemon.store.sqlite.copying import Progress
from waybread_daemon.store.sqlite.packing import Unpacker
from waybread_daemon.store.sqlite.purge import CHUNK_BITS
from waybread_daemon.store.sqlite.statements import run, value

_SLICE_BYTES = 32 * 1024 * 1024
_CONTENT = (
    "SELECT id, device, sha256, size_bytes, lines, chars, marks, data FROM content "
    "WHERE id > ? AND state > 0 ORDER BY id LIMIT 1"
)
_CHUNKS = "SELECT data FROM chunk WHERE id >= ? AND id < ? ORDER BY id"
_ENTRIES = (
    "SELECT e.id, e.content IS NULL AND e.root IS NULL, e.facts, e.args_bytes, e.encoding, e.payload FROM entry AS e "
    "JOIN session AS s ON s.number = e.session AND s.state = 0 WHERE e.id > ? ORDER BY e.id"
)


class Content(NamedTuple):
    """A row of `content`."""

    id: int
    device: int
    sha256: bytes | None
    size_bytes: int
    lines: int
    chars: int
    marks: bytes
    data: bytes | None

    @property
    def name(self) -> str:
        """What a person may call it."""
        return f"content {self.id} of device {self.device}"


def content_faults(connection: apsw.Connection, progress: Progress) -> Iterator[str]:
    """What is wrong with contents of files, with large bodies and windows. Raises what SQLite raises."""
    last, size = 0, 0
    newest = value(connection.cursor(), "SELECT coalesce(max(id), 0) FROM content")
    unpacker = Unpacker()
    more = True
    while more:
        with _slice(connection):
            before = size
            while size - before < _SLICE_BYTES:
                rows = run(connection.cursor(), _CONTENT, last)
                if not rows:
                    more = False
                    break
                content = Content(*rows[0])
                last, size = content.id, size + content.size_bytes
                if fault := _content_fault(connection, content, unpacker):
                    yield fault
        progress("reading contents", min(last, newest), newest)


def entry_faults(connection: apsw.Connection, progress: Progress) -> Iterator[str]:
    """What is wrong with entries, their arguments and bodies. Raises what SQLite raises."""
    last = done = 0
    all_ = value(connection.cursor(), "SELECT count(*) FROM entry")
    unpacker = Unpacker()
    decode = msgspec.msgpack.Decoder(Facts).decode
    more = True
    while more:
        with _slice(connection):
            more, size = False, 0
            for entry, *row in stream(connection, _ENTRIES, last):
                last, done, size = entry, done + 1, size + len(row[-1]) + 256
                if fault := _entry_fault(decode, unpacker, *row):
                    yield f"entry {entry & (1 << SEQ_BITS) - 1} of device {entry >> SEQ_BITS}: {fault}"
                if size >= _SLICE_BYTES:
                    more = True
                    break
        progress("reading entries", min(done, all_), all_)


@contextmanager
def _slice(connection: apsw.Connection) -> Generator[None]:
    """A look that ends in any case."""
    run(connection.cursor(), "BEGIN")
    try:
        yield
    finally:
        if connection.in_transaction:
            run(connection.cursor(), "ROLLBACK")


def _content_fault(connection: apsw.Connection, content: Content, unpacker: Unpacker) -> str:
    count, digest = Count(), hashlib.sha256()
    marks = Marks()
    try:
        for piece in _pieces(connection, content):
            marks.add(count)
            data = unpacker.unpack(piece)
            digest.update(data)
            count.add(data)
    except zstandard.ZstdError as error:
        return f"{content.name} cannot be decompressed ({error})"
    count.finish()
    if content.sha256 is not None and digest.digest() != content.sha256:
        return f"{content.name} has another hash than it is known by ({content.sha256.hex()})"
    if (count.size_bytes, count.lines, count.chars) != (content.size_bytes, content.lines, content.chars):
        return f"{content.name} has another size than its row says, or other lines"
    if content.data is None and marks.stored() != content.marks:
        return f"{content.name} has chunks of other sizes than its row says"
    return ""


def _pieces(connection: apsw.Connection, content: Content) -> Iterator[bytes]:
    if content.data is not None:
        yield content.data
        return
    for (chunk,) in stream(connection, _CHUNKS, content.id << CHUNK_BITS, content.id + 1 << CHUNK_BITS):
        yield chunk


def _entry_fault(
    decode: Any, unpacker: Unpacker, has_body: int, facts: bytes, args_bytes: int, encoding: int, payload: bytes
) -> str:
    try:
        decode(facts)
        plain = unpacker.unpack_entry(encoding, payload)
        if len(plain) < args_bytes:
            return "its arguments are cut off"
        if args_bytes:
            msgspec.json.decode(plain[:args_bytes])
        body = plain[args_bytes:]
        if body and not has_body:
            return "it has a body of its own and one elsewhere"
        body.decode()
    except zstandard.ZstdError as error:
        return f"its text cannot be decompressed ({error})"
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        return f"it cannot be read ({error})"
    return ""
