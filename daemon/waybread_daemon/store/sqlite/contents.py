"""Files' contents and large bodies as a batch of records takes them up: what is there already is kept once a device."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import apsw

from waybread_daemon.store.contract import Record, Staged
from waybread_daemon.store.sqlite.chunks import Count
from waybread_daemon.store.sqlite.faults import content_fault
from waybread_daemon.store.sqlite.packing import Packer
from waybread_daemon.store.sqlite.statements import ForRows, Values

Key = tuple[int, bytes]
"""A device and the hash of a content of its."""

# The conditions of the partial index stand here word for word, or SQLite would not use it.
_FIND = ForRows(
    "SELECT device, sha256, id FROM content "
    "WHERE (device, sha256) IN (VALUES {rows}) AND sha256 IS NOT NULL AND state > 0",
    2,
)
_INSERT = ForRows(
    "INSERT INTO content (id, device, sha256, state, size_bytes, lines, chars, marks, data) VALUES {rows}", 9
)
_TAKE_UP = ForRows("UPDATE content SET state = 1 WHERE id IN (VALUES {rows}) AND state = 0 RETURNING id", 1)
_HOLD = ForRows("INSERT OR IGNORE INTO holding (content, session) VALUES {rows}", 2)


class Contents:
    """The contents that one batch of records names.

    Made before the transaction, as it compresses; `write` belongs into it. `dropped` then has the staged contents whose
    hash was there already.
    """

    def __init__(self, records: Sequence[Record], packer: Packer, numbers: Iterator[int]) -> None:
        self._numbers: dict[Key, int] = {}
        self.dropped: list[int] = []
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
            self._numbers = {(device, sha256): number for device, sha256, number in found}
        inserted: Values = []
        taken_up: list[int] = [record.own.content for record in self._records if record.own is not None]
        for key in self._wanted:
            staged = self._staged.get(key)
            if key in self._numbers:
                if staged is not None:
                    self.dropped.append(staged)
            elif staged is not None:
                self._numbers[key] = staged
                taken_up.append(staged)
            elif key in self._packed:
                inserted += self._packed[key]
                self._numbers[key] = self._packed[key][0]
            else:
                raise content_fault(key[1])
        if inserted:
            _INSERT.run(cursor, inserted)
        if taken_up and len(_TAKE_UP.run(cursor, taken_up)) != len(taken_up):
            raise ValueError(f"of the staged contents {taken_up} some are not there, or were taken up before")
        self._hold(cursor)

    def number_of(self, record: Record) -> int | None:
        """The content in which a record's body is, None where it is in none. For use after `write`."""
        if record.own is not None:
            return record.own.content
        return self._numbers[record.device, record.source] if record.source else None

    def _hold(self, cursor: apsw.Cursor) -> None:
        held: dict[tuple[int, int], None] = {}
        for record in self._records:
            if record.own is not None:
                held[record.own.content, record.session] = None
            for content in record.contents:
                held[self._numbers[record.device, content.sha256], record.session] = None
        if held:
            _HOLD.run(cursor, [part for pair in held for part in pair])


def _row(number: int, key: Key, data: bytes, packer: Packer) -> Values:
    count = Count()
    count.add(data)
    count.finish()
    return [number, key[0], key[1], 1, len(data), count.lines, count.chars, b"", packer.pack(data)]
