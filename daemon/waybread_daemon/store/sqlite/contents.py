"""Files' contents and large bodies as a batch of records takes them up: what is there already is kept once a device."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import apsw

from waybread_daemon.store.contract import Record, Staged
from waybread_daemon.store.sqlite.checksums import checksum
from waybread_daemon.store.sqlite.chunks import Count
from waybread_daemon.store.sqlite.faults import content_fault
from waybread_daemon.store.sqlite.packing import Packer
from waybread_daemon.store.sqlite.sizes import CONTENT_STORED, ROW_BYTES, Grown
from waybread_daemon.store.sqlite.statements import ForRows, Values

Key = tuple[int, bytes]
"""A device and the hash of a content of its."""

# The conditions of the partial index stand here word for word, or SQLite would not use it.
_FIND = ForRows(
    f"SELECT device, sha256, id, size_bytes, {CONTENT_STORED} FROM content "  # noqa: S608  # only the program's own words
    "WHERE (device, sha256) IN (VALUES {rows}) AND sha256 IS NOT NULL AND state > 0",
    2,
)
_INSERT = ForRows(
    "INSERT INTO content (id, device, sha256, state, size_bytes, lines, chars, marks, data, checksum) VALUES {rows}", 10
)
_ID, _SIZE, _DATA = 0, 4, 8
"""Places in such a row."""
_TAKE_UP = ForRows(
    "UPDATE content SET state = 1 WHERE id IN (VALUES {rows}) AND state = 0 "  # noqa: S608  # only the program's own words
    f"RETURNING id, size_bytes, {CONTENT_STORED}",
    1,
)
_HOLD = ForRows("INSERT OR IGNORE INTO holding (content, session) VALUES {rows} RETURNING content, session", 2)
_COUNT = ForRows(
    "UPDATE device SET files_raw_bytes = files_raw_bytes + v.column2, "
    "files_stored_bytes = files_stored_bytes + v.column3 FROM (VALUES {rows}) AS v WHERE number = v.column1",
    3,
)


class Contents:
    """The contents that one batch of records names.

    Made before the transaction, as it compresses; `write` belongs into it. `dropped` then has the staged contents whose
    hash was there already, and `raw_bytes` and `stored_bytes` tell what was inserted, as it came and compressed. `texts`
    and `files` say by how much each session grew, and `new_files` each device, whose files count once.
    """

    def __init__(self, records: Sequence[Record], packer: Packer, numbers: Iterator[int]) -> None:
        self._numbers: dict[Key, int] = {}
        self.dropped: list[int] = []
        self.raw_bytes = 0
        self.stored_bytes = 0
        self.texts: defaultdict[int, Grown] = defaultdict(Grown)
        self.files: defaultdict[int, Grown] = defaultdict(Grown)
        self.new_files: defaultdict[int, Grown] = defaultdict(Grown)
        self._sizes: dict[int, tuple[int, int]] = {}
        self._packed: dict[Key, Values] = {}
        self._staged: dict[Key, int] = {}
        self._wanted: dict[Key, None] = {}
        self._records = records
        for record in records:
            for content in record.contents:
                key = (record.device, content.sha256)
                self._wanted[key] = None
                if isinstance(content.data, Staged):
                    if self._staged.setdefault(key, content.data.content) != content.data.content:
                        self.dropped.append(content.data.content)
                elif content.data is not None and key not in self._packed:
                    self._packed[key] = _row(next(numbers), key, content.data, packer)

    def write(self, cursor: apsw.Cursor) -> None:
        """Finds, inserts, takes up and notes who holds what. Raises `StoreFault` where content is missing."""
        if self._wanted:
            found = _FIND.run(cursor, [part for key in self._wanted for part in key])
            for device, sha256, number, raw_bytes, stored_bytes in found:
                self._numbers[device, sha256] = number
                self._sizes[number] = raw_bytes, stored_bytes
        inserted: Values = []
        new: list[tuple[int, int]] = []
        taken_up: list[int] = [record.own.content for record in self._records if record.own is not None]
        own = set(taken_up)
        for key in self._wanted:
            staged = self._staged.get(key)
            if key in self._numbers:
                if staged is not None:
                    self.dropped.append(staged)
            elif staged is not None:
                self._numbers[key] = staged
                taken_up.append(staged)
                new.append((key[0], staged))
            elif key in self._packed:
                row = self._packed[key]
                inserted += row
                number = self._numbers[key] = row[_ID]
                self._sizes[number] = row[_SIZE], len(row[_DATA]) + ROW_BYTES
                new.append((key[0], number))
                self.raw_bytes += row[_SIZE]
                self.stored_bytes += len(row[_DATA])
            else:
                raise content_fault(key[1])
        if inserted:
            _INSERT.run(cursor, inserted)
        if taken_up:
            found = _TAKE_UP.run(cursor, taken_up)
            if len(found) != len(taken_up):
                raise ValueError(f"of the staged contents {taken_up} some are not there, or were taken up before")
            for number, raw_bytes, stored_bytes in found:
                self._sizes[number] = raw_bytes, stored_bytes
        self._hold(cursor, own)
        self._count(cursor, new)

    def number_of(self, record: Record) -> int | None:
        """The content in which a record's body is, None where it is in none. For use after `write`."""
        if record.own is not None:
            return record.own.content
        return self._numbers[record.device, record.source] if record.source else None

    def _hold(self, cursor: apsw.Cursor, own: set[int]) -> None:
        held: dict[tuple[int, int], None] = {}
        for record in self._records:
            if record.own is not None:
                held[record.own.content, record.session] = None
            for content in record.contents:
                held[self._numbers[record.device, content.sha256], record.session] = None
        if held:
            # Only what a session did not hold before comes back.
            for content, session in _HOLD.run(cursor, [part for pair in held for part in pair]):
                (self.texts if content in own else self.files)[session].add(*self._sizes[content])

    def _count(self, cursor: apsw.Cursor, new: list[tuple[int, int]]) -> None:
        for device, content in new:
            self.new_files[device].add(*self._sizes[content])
        if new:
            rows: Values = []
            for device, grown in self.new_files.items():
                rows += (device, grown.raw_bytes, grown.stored_bytes)
            _COUNT.run(cursor, rows)


def _row(number: int, key: Key, data: bytes, packer: Packer) -> Values:
    count = Count()
    count.add(data)
    count.finish()
    packed = packer.pack(data)
    sums = (count.size_bytes, count.lines, count.chars, b"", packed)
    return [number, *key, 1, *sums, checksum(number, *key, *sums)]
