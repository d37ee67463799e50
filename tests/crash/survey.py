"""The store's file looked at from outside, on a copy, so that the daemon's own recovery stays the daemon's to do.

`survey` says what is there and asserts that nothing in it contradicts itself: SQLite's own check, and ours of everything
that one row says of another.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import apsw
import msgspec
import zstandard

from waybread_daemon.store.sqlite.batch import SEQ_BITS
from waybread_daemon.store.sqlite.chunks import Count, Marks
from waybread_daemon.store.sqlite.purge import CHUNK_BITS
from waybread_daemon.store.sqlite.sizes import ROW_BYTES

Rows = list[tuple[Any, ...]]


class Line(msgspec.Struct, frozen=True):
    """An entry's row: where it belongs, and a print of all that it says."""

    device: int
    seq: int
    session: int
    kind: str
    number: int
    key: str
    print: bytes


class Place(msgspec.Struct, frozen=True):
    """A session's row. `state`: 0 there, 1 deleted, 2 deleted and purged."""

    number: int
    device: int
    name: str
    state: int
    results: int
    head: int


class Survey(msgspec.Struct, frozen=True):
    """All of a store: its entries by device and `seq`, its sessions by device and name, its contents."""

    lines: dict[tuple[int, int], Line]
    places: dict[tuple[int, str], Place]
    contents: frozenset[int]
    loose: int
    """Contents that no record holds: written ahead, or let go and not yet purged."""

    def head(self, device: int) -> int:
        """The last `seq` of a device's log."""
        return max((seq for of, seq in self.lines if of == device), default=0)

    def keys(self) -> dict[tuple[int, str, str], int]:
        """The `seq` of every key, by device and session."""
        names = {place.number: place.name for place in self.places.values()}
        return {(line.device, names[line.session], line.key): line.seq for line in self.lines.values() if line.key}


def survey(path: Path, known_contents: Iterable[int] = ()) -> Survey:
    """Copies the store as it lies there, with its log, and looks through the copy.

    Contents in `known_contents` were seen whole before and are not decompressed again.
    """
    with tempfile.TemporaryDirectory(dir=path.parent.parent) as folder:
        copy = Path(folder) / path.name
        for end in ("", "-wal", "-journal"):
            source = path.with_name(path.name + end)
            if source.exists():
                shutil.copyfile(source, copy.with_name(copy.name + end))
        connection = apsw.Connection(str(copy))
        try:
            return _Surveyor(connection, frozenset(known_contents)).all()
        finally:
            connection.close()


class _Surveyor:
    def __init__(self, connection: apsw.Connection, known_contents: frozenset[int]) -> None:
        self._cursor: Any = connection.cursor()
        self._known = known_contents
        self._decompress = zstandard.ZstdDecompressor().decompress

    def all(self) -> Survey:
        assert self._rows("PRAGMA integrity_check") == [("ok",)]
        assert self._rows("PRAGMA user_version") == [(3,)]
        places = self._places()
        lines = self._lines({place.number: place for place in places})
        self._check_sessions(places, lines)
        self._check_turns(places)
        self._check_sizes()
        contents, loose = self._contents()
        return Survey(
            {(line.device, line.seq): line for line in lines},
            {(place.device, place.name): place for place in places},
            contents,
            loose,
        )

    def _rows(self, sql: str, *values: object) -> Rows:
        rows: Rows = self._cursor.execute(sql, values).fetchall()
        return rows

    def _nothing(self, sql: str) -> None:
        """Asserts that there is no such row."""
        assert self._rows(sql + " LIMIT 5") == [], sql

    def _places(self) -> list[Place]:
        rows = self._rows("SELECT number, device, session, state, results, head FROM session")
        self._nothing("SELECT * FROM session WHERE device NOT IN (SELECT number FROM device)")
        self._nothing("SELECT * FROM token WHERE device NOT IN (SELECT number FROM device)")
        return [Place(*row) for row in rows]

    def _lines(self, places: dict[int, Place]) -> list[Line]:
        """Every entry, with its session, its event and where its body is."""
        self._nothing(
            "SELECT id FROM entry AS e WHERE NOT EXISTS "
            "(SELECT 1 FROM event AS v WHERE v.session = e.session AND v.entry = e.id)"
        )
        self._nothing("SELECT entry FROM event WHERE entry NOT IN (SELECT id FROM entry)")
        self._nothing(
            "SELECT e.id FROM entry AS e WHERE e.content IS NOT NULL AND NOT EXISTS (SELECT 1 FROM content AS c "
            "JOIN holding AS h ON h.content = c.id WHERE c.id = e.content AND c.state > 0 AND h.session = e.session)"
        )
        self._nothing(
            "SELECT e.id FROM entry AS e JOIN session AS s ON s.number = e.session WHERE s.state = 0 "
            "AND e.root IS NOT NULL AND NOT EXISTS (SELECT 1 FROM entry AS r WHERE r.session = e.session "
            "AND r.number = e.root AND r.number IS NOT NULL AND r.root IS NULL AND r.id < e.id)"
        )
        self._nothing(
            "SELECT k.entry FROM entry_key AS k JOIN session AS s ON s.number = k.session WHERE s.state = 0 "
            "AND NOT EXISTS (SELECT 1 FROM entry AS e WHERE e.id = k.entry AND e.session = k.session)"
        )
        keys: dict[int, str] = dict(self._rows("SELECT entry, key FROM entry_key"))
        assert len(keys) == len(self._rows("SELECT 1 FROM entry_key"))
        lines: list[Line] = []
        for row in self._rows(
            "SELECT e.id, e.session, e.kind, e.number, e.root, e.content, e.facts, e.args_bytes, e.encoding, "
            "e.payload, v.event FROM entry AS e JOIN event AS v ON v.session = e.session AND v.entry = e.id"
        ):
            entry, session, kind, number, *rest = row
            device, seq = entry >> SEQ_BITS, entry & (1 << SEQ_BITS) - 1
            assert places[session].device == device, entry
            *_, args_bytes, encoding, payload, _ = rest
            assert args_bytes <= len(self._decompress(payload) if encoding else payload), entry
            print_of = hashlib.sha256(repr(row).encode()).digest()
            lines.append(Line(device, seq, session, kind, number or 0, keys.get(entry, ""), print_of))
        return lines

    def _check_sessions(self, places: list[Place], lines: list[Line]) -> None:
        """Numbers from 1 without gap, each key and each number once, and what the session's row says of its entries."""
        of: dict[int, list[Line]] = {place.number: [] for place in places}
        for line in lines:
            of[line.session].append(line)
        for place in places:
            own = sorted(of[place.number], key=lambda line: line.seq)
            assert own[-1].seq == place.head, place
            assert (own[-1].kind == "deleted") == (place.state != 0), place
            if place.state == 2:
                assert len(own) == 1, place
            if place.state == 0:
                assert own[0].kind == "opened", place
                numbers = [line.number for line in own if line.number]
                assert numbers == list(range(1, place.results + 1)), place
                keys = [line.key for line in own if line.key]
                assert len(keys) == len(set(keys)), place
                ((newest, base),) = self._rows(
                    "SELECT newest_key, base_seq FROM session WHERE number = ?", place.number
                )
                assert newest == max(keys, default=""), place
                assert base == max((line.seq for line in own if line.kind == "compacted"), default=0), place

    def _check_turns(self, places: list[Place]) -> None:
        devices = {place.number: place.device for place in places}
        begun = {
            (session, entry & (1 << SEQ_BITS) - 1)
            for session, entry in self._rows("SELECT session, id FROM entry WHERE kind = 'turn'")
        }
        live = {place.number for place in places if place.state == 0}
        noted = {(session, seq) for session, seq in self._rows("SELECT session, seq FROM turn")}
        assert {session for session, _ in noted} <= devices.keys()
        assert {turn for turn in noted if turn[0] in live} == {turn for turn in begun if turn[0] in live}

    def _check_sizes(self) -> None:
        """What is kept of sizes is what is there, and a share for each row."""
        stored = f"coalesce(length(c.data), c.stored_bytes) + {ROW_BYTES}"
        self._nothing(
            "SELECT s.number FROM session AS s WHERE s.state = 0 AND s.stored_bytes <> "
            f"(SELECT sum(length(e.payload) + length(e.facts) + length(v.event) + {ROW_BYTES}) "
            "FROM event AS v JOIN entry AS e ON e.id = v.entry WHERE v.session = s.number) "
            "+ (SELECT coalesce(sum(length(k.key)), 0) FROM entry_key AS k WHERE k.session = s.number) "
            f"+ (SELECT coalesce(sum({stored}), 0) FROM holding AS h JOIN content AS c ON c.id = h.content "
            "WHERE h.session = s.number AND c.sha256 IS NULL)"
        )
        self._nothing(
            "SELECT s.number FROM session AS s WHERE s.state = 0 AND (s.files_raw_bytes, s.files_stored_bytes) <> "
            f"(SELECT coalesce(sum(c.size_bytes), 0), coalesce(sum({stored}), 0) FROM holding AS h "
            "JOIN content AS c ON c.id = h.content WHERE h.session = s.number AND c.sha256 IS NOT NULL)"
        )
        self._nothing(
            "SELECT d.number FROM device AS d WHERE (d.files_raw_bytes, d.files_stored_bytes) <> "
            f"(SELECT coalesce(sum(c.size_bytes), 0), coalesce(sum({stored}), 0) FROM content AS c "
            "WHERE c.device = d.number AND c.sha256 IS NOT NULL AND c.state > 0)"
        )
        self._nothing("SELECT number FROM session WHERE state = 2 AND (stored_bytes, files_stored_bytes) <> (0, 0)")
        self._nothing("SELECT number FROM session WHERE state = 1 AND stored_bytes <= 0")
        self._nothing(
            "SELECT c.id FROM content AS c WHERE c.state > 0 AND c.data IS NULL AND c.stored_bytes <> (SELECT "
            f"sum(length(k.data)) FROM chunk AS k WHERE k.id >= c.id << {CHUNK_BITS} AND k.id < c.id + 1 << {CHUNK_BITS})"
        )

    def _contents(self) -> tuple[frozenset[int], int]:
        """Every content with its chunks: it decompresses, and its hash, size, lines and marks are right."""
        self._nothing("SELECT * FROM holding WHERE content NOT IN (SELECT id FROM content)")
        self._nothing("SELECT * FROM holding WHERE session NOT IN (SELECT number FROM session)")
        self._nothing(f"SELECT id FROM chunk WHERE id >> {CHUNK_BITS} NOT IN (SELECT id FROM content)")
        self._nothing("SELECT id FROM content WHERE state = 1 AND id NOT IN (SELECT content FROM holding)")
        # Content let go (2) may be taken up again by its hash, and is 1 again when it would be purged; half of it (0) never.
        self._nothing("SELECT id FROM content WHERE state = 0 AND id IN (SELECT content FROM holding)")
        rows = self._rows("SELECT id, sha256, size_bytes, lines, chars, marks, data FROM content WHERE state > 0")
        for content, sha256, size_bytes, lines, chars, stored, data in rows:
            if content in self._known:
                continue
            if data is None:
                chunks = self._rows(
                    "SELECT data FROM chunk WHERE id >= ? AND id < ? ORDER BY id",
                    content << CHUNK_BITS,
                    content + 1 << CHUNK_BITS,
                )
                pieces = [self._decompress(chunk) for (chunk,) in chunks]
            else:
                pieces = [self._decompress(data)]
            count, marks = Count(), Marks()
            for piece in pieces:
                marks.add(count)
                count.add(piece)
            count.finish()
            assert (count.size_bytes, count.lines, count.chars) == (size_bytes, lines, chars), content
            assert stored == (marks.stored() if data is None else b""), content
            if sha256 is not None:
                assert hashlib.sha256(b"".join(pieces)).digest() == sha256, content
        ((loose,),) = self._rows("SELECT count(*) FROM content WHERE id NOT IN (SELECT content FROM holding)")
        return frozenset(row[0] for row in rows), loose
