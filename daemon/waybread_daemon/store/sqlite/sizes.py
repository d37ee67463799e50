"""What things take on the disk: how it is counted, who keeps it, and how it is told.

The numbers stand in the rows of sessions and devices, and whoever changes what they count changes them in the same
transaction. What a device takes in all stands in memory, too, for whoever decides whether it may store more.
"""

from __future__ import annotations

from pathlib import Path

import apsw

from waybread_daemon.store.sizes import DeviceSizes, FileSizes, OldSession, SessionSizes
from waybread_daemon.store.sqlite.statements import run, value

ROW_BYTES = 96
"""What an entry takes besides its columns' lengths: heads of rows, its places in three indexes, a share of free space.
The same number stands in the migration that counted what was there."""

CONTENT_STORED = f"(coalesce(length(data), stored_bytes) + {ROW_BYTES})"
"""What a row of `content` takes, with its chunks. Nothing of the content is read for it."""

_USED = """
SELECT device, sum(stored_bytes) FROM (
    SELECT device, stored_bytes FROM session UNION ALL SELECT number, files_stored_bytes FROM device
) GROUP BY device
"""
_DEVICES = """
SELECT d.number, count(s.number) FILTER (WHERE s.state = 0),
    d.files_raw_bytes + coalesce(sum(s.raw_bytes) FILTER (WHERE s.state = 0), 0),
    d.files_stored_bytes + coalesce(sum(s.stored_bytes) FILTER (WHERE s.state = 0), 0),
    coalesce(sum(s.stored_bytes) FILTER (WHERE s.state = 1), 0)
FROM device AS d LEFT JOIN session AS s ON s.device = d.number WHERE d.gone_ms = 0 GROUP BY d.number ORDER BY d.number
"""
_LARGEST = """
SELECT device, session, kind, title, results, changed_ms, raw_bytes + files_raw_bytes, stored_bytes + files_stored_bytes
FROM session WHERE state = 0 ORDER BY stored_bytes + files_stored_bytes DESC, number LIMIT ?
"""
# Deleted sessions are no older than what stands before them, too.
_OLD = """
SELECT device, session, head FROM (
    SELECT device, session, head, state, max(changed_ms) OVER (PARTITION BY device ORDER BY head) AS at_ms FROM session
) WHERE state = 0 AND at_ms < ? ORDER BY device, head
"""


class Grown:
    """By how much something grew, as it came and as it is stored."""

    __slots__ = ("raw_bytes", "stored_bytes")

    def __init__(self) -> None:
        self.raw_bytes = 0
        self.stored_bytes = 0

    def add(self, raw_bytes: int, stored_bytes: int) -> None:
        """It grew by so much more."""
        self.raw_bytes += raw_bytes
        self.stored_bytes += stored_bytes


class Usage:
    """What each device takes on the disk. The writing thread keeps it; any thread may ask."""

    def __init__(self) -> None:
        self._used_bytes: dict[int, int] = {}

    def load(self, connection: apsw.Connection) -> None:
        """Takes over what the store says. For use before anything is written."""
        self._used_bytes = dict(run(connection.cursor(), _USED))

    def add(self, device: int, more_bytes: int) -> None:
        """Notes that a device takes so much more, or less."""
        self._used_bytes[device] = self._used_bytes.get(device, 0) + more_bytes

    def used_bytes(self, device: int) -> int:
        """What a device takes."""
        return self._used_bytes.get(device, 0)


def sizes(cursor: apsw.Cursor) -> list[DeviceSizes]:
    """What each device's sessions take."""
    return [DeviceSizes(*row) for row in run(cursor, _DEVICES)]


def largest_sessions(cursor: apsw.Cursor, limit: int) -> list[SessionSizes]:
    """The sessions that take most."""
    return [SessionSizes(*row) for row in run(cursor, _LARGEST, limit)]


def old_sessions(cursor: apsw.Cursor, before_ms: int) -> list[OldSession]:
    """Sessions that have not changed since then. They are as old as the youngest that stands before them in the log."""
    return [OldSession(*row) for row in run(cursor, _OLD, before_ms)]


def files(connection: apsw.Connection) -> FileSizes:
    """What the store's files take. The log is not there while nobody writes."""
    cursor = connection.cursor()
    free_bytes = value(cursor, "PRAGMA freelist_count") * value(cursor, "PRAGMA page_size")
    return FileSizes(_size(connection.filename), _size(connection.filename_wal), free_bytes)


def _size(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except FileNotFoundError:
        return 0
