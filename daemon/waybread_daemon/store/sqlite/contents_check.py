"""Whether what is stored can be read and is what it says: every payload and chunk decompressed, every hash and checksum
made anew; and whether a store is whole in every way.

It goes through the store in slices, each a short look of its own, so that a daemon beside it can cut its log meanwhile;
memory holds a chunk at a time, however large a content is.
"""

# ruff: noqa: S608 - what is put into the statements are the program's own words.

from __future__ import annotations

import hashlib
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any, NamedTuple

import apsw
import msgspec
import zstandard

from waybread_daemon.store.contract import Facts
from waybread_daemon.store.sqlite.batch import SEQ_BITS, named
from waybread_daemon.store.sqlite.check import file_faults, row_faults, stream
from waybread_daemon.store.sqlite.checksums import COLUMNS, checksum, has_checksums
from waybread_daemon.store.sqlite.chunks import Count, Marks
from waybread_daemon.store.sqlite.copying import Progress, no_progress
from waybread_daemon.store.sqlite.packing import Unpacker
from waybread_daemon.store.sqlite.purge import CHUNK_BITS
from waybread_daemon.store.sqlite.statements import run, value

_SLICE_BYTES = 32 * 1024 * 1024
# A store of the first version has no checksums.
_CONTENT = "SELECT " + COLUMNS["content"] + ", {checksum} FROM content WHERE id > ? AND state > 0 ORDER BY id LIMIT 1"
_CHUNKS = "SELECT id, data, {checksum} FROM chunk WHERE id >= ? AND id < ? ORDER BY id"
_ENTRIES = (
    f"SELECT {', '.join(f'e.{column}' for column in COLUMNS['entry'].split(', '))}, {{checksum}} FROM entry AS e "
    "JOIN session AS s ON s.number = e.session AND (s.state = 0 OR e.kind = 'deleted') WHERE e.id > ? ORDER BY e.id"
)
_ENDS = (
    f"SELECT s.session, s.changed_ms, e.facts FROM session AS s JOIN entry AS e ON e.id = s.device << {SEQ_BITS} | s.head "
    "WHERE s.state = 0"
)
_OTHER_CHECKSUM = "has another checksum than when it was written"


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
    checksum: int | None

    @property
    def name(self) -> str:
        """What a person may call it."""
        return f"content {self.id} of device {self.device}"


def store_faults(connection: apsw.Connection, progress: Progress = no_progress) -> Generator[str]:
    """What is wrong in a store, a sentence each; none where it is whole. Raises what SQLite raises."""
    progress("checking the file", 0, 0)
    faults = file_faults(connection)
    # Rows of a broken file would only say the same in other words.
    yield from faults or row_faults(connection, progress)
    if not faults:
        yield from data_faults(connection, progress)


def first_fault(connection: apsw.Connection, progress: Progress = no_progress) -> str:
    """The first of them, empty where there is none: where nothing is told of the others, they are not looked for."""
    with closing(store_faults(connection, progress)) as faults:
        return next(faults, "")


def data_faults(connection: apsw.Connection, progress: Progress) -> Iterator[str]:
    """What is wrong with entries and contents, which are read for it. Raises what SQLite raises."""
    yield from end_faults(connection)
    yield from entry_faults(connection, progress)
    yield from content_faults(connection, progress)


def end_faults(connection: apsw.Connection) -> Iterator[str]:
    """Sessions that say that they changed at another time than their last entry."""
    decode = msgspec.msgpack.Decoder(Facts).decode
    for session, changed_ms, facts in stream(connection, _ENDS):
        # Facts that cannot be read are told of with their entry.
        with suppress(msgspec.DecodeError):
            if decode(facts).at_ms != changed_ms:
                yield f"the session {session} says that it changed at another time than it did"


def content_faults(connection: apsw.Connection, progress: Progress) -> Iterator[str]:
    """What is wrong with contents of files, with large bodies and windows. Raises what SQLite raises."""
    last, size = 0, 0
    newest = value(connection.cursor(), "SELECT coalesce(max(id), 0) FROM content")
    unpacker = Unpacker()
    checksums = "checksum" if has_checksums(connection) else "NULL"
    sql = _CONTENT.format(checksum=checksums)
    more = True
    while more:
        with _slice(connection):
            before = size
            while size - before < _SLICE_BYTES:
                rows = run(connection.cursor(), sql, last)
                if not rows:
                    more = False
                    break
                content = Content(*rows[0])
                last, size = content.id, size + content.size_bytes
                if fault := _content_fault(connection, content, unpacker, checksums):
                    yield fault
        progress("reading contents", min(last, newest), newest)


def entry_faults(connection: apsw.Connection, progress: Progress) -> Iterator[str]:
    """What is wrong with entries, their arguments and bodies. Raises what SQLite raises."""
    last = done = 0
    all_ = value(connection.cursor(), "SELECT count(*) FROM entry")
    unpacker = Unpacker()
    decode = msgspec.msgpack.Decoder(Facts).decode
    sql = _ENTRIES.format(checksum="e.checksum" if has_checksums(connection) else "NULL")
    more = True
    while more:
        with _slice(connection):
            more, size = False, 0
            for *row, written in stream(connection, sql, last):
                last, done, size = row[0], done + 1, size + len(row[-1]) + 256
                if fault := _entry_fault(decode, unpacker, *row[4:]):
                    yield f"{named(last)}: {fault}"
                elif written not in (None, checksum(*row)):
                    yield f"{named(last)} {_OTHER_CHECKSUM}"
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


def _content_fault(connection: apsw.Connection, content: Content, unpacker: Unpacker, checksums: str) -> str:
    count, digest = Count(), hashlib.sha256()
    marks, chunks_sound = Marks(), True
    try:
        for piece, sound in _pieces(connection, content, checksums):
            chunks_sound &= sound
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
    if not chunks_sound:
        return f"{content.name} has a chunk that {_OTHER_CHECKSUM}"
    if content.checksum not in (None, checksum(*content[:-1])):
        return f"{content.name} {_OTHER_CHECKSUM}"
    return ""


def _pieces(connection: apsw.Connection, content: Content, checksums: str) -> Iterator[tuple[bytes, bool]]:
    """Each compressed piece, and whether it is what was written."""
    if content.data is not None:
        yield content.data, True
        return
    sql = _CHUNKS.format(checksum=checksums)
    for chunk, data, written in stream(connection, sql, content.id << CHUNK_BITS, content.id + 1 << CHUNK_BITS):
        yield data, written in (None, checksum(chunk, data))


def _entry_fault(
    decode: Any,
    unpacker: Unpacker,
    root: int | None,
    content: int | None,
    facts: bytes,
    args_bytes: int,
    encoding: int,
    payload: bytes,
) -> str:
    try:
        decode(facts)
        plain = unpacker.unpack_entry(encoding, payload)
        if len(plain) < args_bytes:
            return "its arguments are cut off"
        if args_bytes:
            msgspec.json.decode(plain[:args_bytes])
        body = plain[args_bytes:]
        if body and not (root is None and content is None):
            return "it has a body of its own and one elsewhere"
        body.decode()
    except zstandard.ZstdError as error:
        return f"its text cannot be decompressed ({error})"
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        return f"it cannot be read ({error})"
    return ""
