"""A batch of records as rows: everything that one transaction of the log writes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import apsw
import msgspec

from waybread_daemon.store.contract import Record
from waybread_daemon.store.sqlite.checksums import checksum
from waybread_daemon.store.sqlite.contents import Contents
from waybread_daemon.store.sqlite.faults import sequence_fault
from waybread_daemon.store.sqlite.packing import Packer
from waybread_daemon.store.sqlite.sizes import ROW_BYTES, Usage
from waybread_daemon.store.sqlite.statements import ForRows, Values, run, value

SEQ_BITS = 40
"""An entry's id is the device's number, shifted by this, and the `seq`."""

_ENTRY = ForRows(
    "INSERT INTO entry (id, session, kind, number, root, content, facts, args_bytes, encoding, payload, "
    "checksum) VALUES {rows}",
    11,
)
_KEY = ForRows("INSERT INTO entry_key (session, key, entry, checksum) VALUES {rows}", 4)
_EVENT = ForRows("INSERT INTO event (session, entry, event, checksum) VALUES {rows}", 4)
_OPEN = ForRows(
    "INSERT INTO session (number, device, session, kind, title, directory, head, opened_seq, opened_ms, changed_ms, "
    "epoch, checksum) VALUES {rows}",
    12,
)
_TOUCH = ForRows(
    "UPDATE session SET head = v.column2, changed_ms = v.column3, results = v.column4, turn = v.column5, "
    "base_seq = max(base_seq, v.column6), newest_key = max(newest_key, v.column7), state = max(state, v.column8), "
    "raw_bytes = raw_bytes + v.column9, stored_bytes = stored_bytes + v.column10, "
    "files_raw_bytes = files_raw_bytes + v.column11, files_stored_bytes = files_stored_bytes + v.column12 "
    "FROM (VALUES {rows}) AS v WHERE number = v.column1",
    12,
)
_BEGIN_TURN = ForRows("INSERT INTO turn (session, name, seq, checksum) VALUES {rows}", 4)
_END_TURN = ForRows(
    "UPDATE turn SET taken_back = 1, checksum = iif(taken_back, checksum, ~checksum) "
    "WHERE (session, name) IN (VALUES {rows})",
    2,
)
_HEAD = "SELECT max(id) FROM entry WHERE id BETWEEN ? AND ?"


class Written(msgspec.Struct):
    """What a committed batch left to purge: sessions deleted in it, and staged contents that were there already.

    And what it wrote: arguments, bodies and contents of files as they came, and compressed.
    """

    sessions: list[int]
    contents: list[int]
    raw_bytes: int
    stored_bytes: int


def first_id(device: int) -> int:
    """Lies below every id of the device's entries."""
    return device << SEQ_BITS


def last_id(device: int) -> int:
    """Lies above every id of the device's entries, or is the greatest."""
    return (device + 1 << SEQ_BITS) - 1


def seq_of(entry: int | None) -> int:
    """The `seq` in an entry's id, 0 for none."""
    return 0 if entry is None else entry & (1 << SEQ_BITS) - 1


def named(entry: int) -> str:
    """An entry as a person may call it: its id tells its device and its place in that one's log."""
    return f"entry {seq_of(entry)} of device {entry >> SEQ_BITS}"


class BatchWriter:
    """Writes batches of records, for the thread that has the connection. `epoch` is what new sessions are opened in."""

    def __init__(self, packer: Packer, contents: Iterator[int], epoch: str, usage: Usage) -> None:
        self._packer = packer
        self._usage = usage
        self._contents = contents
        self._epoch = epoch
        self._encode = msgspec.msgpack.Encoder().encode
        self._heads: dict[int, int] = {}

    def write(self, cursor: apsw.Cursor, records: Sequence[Record]) -> Written:
        """One transaction, committed when it returns. Raises what SQLite raises, and `StoreFault`; rolls nothing back."""
        # Compressing comes first: while the transaction is open, another process's write to accounts waits.
        payloads = [record.args + record.body for record in records]
        packed = self._packer.pack_all(payloads)
        contents = Contents(records, self._packer, self._contents)
        run(cursor, "BEGIN IMMEDIATE")
        heads = self._next_heads(cursor, records)
        contents.write(cursor)
        self._open_sessions(cursor, records)
        encode = self._encode
        entries: Values = []
        events: Values = []
        keys: Values = []
        grown = contents.texts
        for record, raw, (encoding, payload) in zip(records, payloads, packed, strict=True):
            number = record.device << SEQ_BITS | record.seq
            facts = encode(record.facts)
            event, key = record.event, record.key
            grown[record.session].add(len(raw), len(payload) + len(facts) + len(event) + len(key) + ROW_BYTES)
            entry = (
                number,
                record.session,
                record.kind,
                record.number or None,
                record.root or None,
                contents.number_of(record),
                facts,
                len(record.args),
                # A plain number: what is read back is one, too.
                int(encoding),
                payload,
            )
            entries += entry
            entries.append(checksum(*entry))
            events += (record.session, number, event, checksum(record.session, number, event))
            if key:
                keys += (record.session, key, number, checksum(record.session, key, number))
        _ENTRY.run(cursor, entries)
        _EVENT.run(cursor, events)
        _KEY.run(cursor, keys)
        self._touch_sessions(cursor, records, contents)
        self._note_turns(cursor, records)
        run(cursor, "COMMIT")
        self._heads.update(heads)
        self._count(records, contents)
        return Written(
            [record.session for record in records if record.kind == "deleted"],
            contents.dropped,
            sum(map(len, payloads)) + contents.raw_bytes,
            sum([len(payload) for _, payload in packed]) + contents.stored_bytes,
        )

    def _next_heads(self, cursor: apsw.Cursor, records: Sequence[Record]) -> dict[int, int]:
        """The logs' ends after this batch. No gap and nothing twice: whoever appends is held to it here, too."""
        heads: dict[int, int] = {}
        for record in records:
            device = record.device
            head = heads.get(device)
            if head is None:
                head = self._heads.get(device)
            if head is None:
                head = seq_of(value(cursor, _HEAD, first_id(device), last_id(device)))
            if record.seq != head + 1:
                raise sequence_fault(device, record.seq, head + 1)
            heads[device] = record.seq
        return heads

    def _open_sessions(self, cursor: apsw.Cursor, records: Sequence[Record]) -> None:
        rows: Values = []
        for record in records:
            if record.opening is not None:
                opening = record.opening
                seq, at_ms = record.seq, record.facts.at_ms
                who = (record.session, record.device, opening.name, opening.kind, opening.title, opening.directory)
                rows += (*who, seq, seq, at_ms, at_ms, self._epoch, checksum(*who, self._epoch, seq, at_ms))
        if rows:
            _OPEN.run(cursor, rows)

    def _touch_sessions(self, cursor: apsw.Cursor, records: Sequence[Record], contents: Contents) -> None:
        """One row for each session, however many of the records are its own."""
        last: dict[int, Record] = {}
        bases: dict[int, int] = {}
        keys: dict[int, str] = {}
        for record in records:
            session = record.session
            last[session] = record
            if record.kind == "compacted":
                bases[session] = record.seq
            if record.key > keys.get(session, ""):
                keys[session] = record.key
        rows: Values = []
        for session, record in last.items():
            grown, files = contents.texts[session], contents.files[session]
            rows += (
                session,
                record.seq,
                record.facts.at_ms,
                record.results,
                record.current_turn,
                bases.get(session, 0),
                keys.get(session, ""),
                # A session's `deleted` record is its last one.
                int(record.kind == "deleted"),
                grown.raw_bytes,
                grown.stored_bytes,
                files.raw_bytes,
                files.stored_bytes,
            )
        _TOUCH.run(cursor, rows)

    def _count(self, records: Sequence[Record], contents: Contents) -> None:
        """Notes what the devices take by now."""
        devices = {record.session: record.device for record in records}
        for session, grown in contents.texts.items():
            self._usage.add(devices[session], grown.stored_bytes)
        for device, grown in contents.new_files.items():
            self._usage.add(device, grown.stored_bytes)

    def _note_turns(self, cursor: apsw.Cursor, records: Sequence[Record]) -> None:
        begun: Values = []
        ended: Values = []
        for record in records:
            if record.turn_begun:
                turn = (record.session, record.turn_begun, record.seq)
                begun += (*turn, checksum(*turn))
            for name in record.turns_ended:
                ended += (record.session, name)
        if begun:
            _BEGIN_TURN.run(cursor, begun)
        if ended:
            _END_TURN.run(cursor, ended)
