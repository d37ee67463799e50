"""A store as a doctor looks at it: whatever its version, with a daemon beside it or without, and changing nothing.

What repairs is apart, and loses nothing: an index is made anew from its table, free log is given back, and what was written
ahead for records that never came is taken away as the next start of a daemon would.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import apsw

from waybread_daemon.clock import now_ms
from waybread_daemon.store.sqlite.check import file_faults, row_faults
from waybread_daemon.store.sqlite.connection import LOG_LIMIT_BYTES, close, connect
from waybread_daemon.store.sqlite.contents_check import data_faults
from waybread_daemon.store.sqlite.copying import Progress
from waybread_daemon.store.sqlite.counting import count_anew, size_faults
from waybread_daemon.store.sqlite.faults import fault_of
from waybread_daemon.store.sqlite.frozen import looking
from waybread_daemon.store.sqlite.purge import Purge
from waybread_daemon.store.sqlite.schema import migrations
from waybread_daemon.store.sqlite.sizes import Usage
from waybread_daemon.store.sqlite.statements import run, value

__all__ = [
    "LOG_LIMIT_BYTES",
    "DeviceUse",
    "Inspection",
    "count_sizes",
    "cut_log",
    "inspect",
    "purge_leftovers",
    "reindex",
]


class DeviceUse(NamedTuple):
    """What a device takes on the disk."""

    name: str
    used_bytes: int


class Inspection:
    """Good within `inspect`. Each method raises what SQLite raises."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        cursor = connection.cursor()
        self.version = int(value(cursor, "PRAGMA user_version"))
        self.newest_version = len(migrations())

    def file_faults(self) -> list[str]:
        """What SQLite finds wrong in the file."""
        return file_faults(self._connection)

    def row_faults(self, progress: Progress) -> list[str]:
        """What rows that belong together do not agree on."""
        return list(row_faults(self._connection, progress))

    def data_faults(self, progress: Progress) -> Iterator[str]:
        """What cannot be read of entries and contents, and whose hash is wrong."""
        yield from data_faults(self._connection, progress)

    def size_faults(self) -> list[str]:
        """Whose row says another size than it has; none where the store is of a version that does not say so."""
        return list(size_faults(self._connection)) if self.version == self.newest_version else []

    def counts(self) -> tuple[int, int]:
        """How many entries and contents there are."""
        cursor = self._connection.cursor()
        return value(cursor, "SELECT count(*) FROM entry"), value(
            cursor, "SELECT count(*) FROM content WHERE state > 0"
        )

    def loose(self) -> int:
        """Contents that no record took up, or that nobody holds any more."""
        return int(value(self._connection.cursor(), "SELECT count(*) FROM content WHERE state <> 1"))

    def newest_ms(self) -> int:
        """The latest time that stands in the store."""
        return int(
            value(
                self._connection.cursor(),
                "SELECT max(coalesce((SELECT max(changed_ms) FROM session), 0), "
                "coalesce((SELECT max(max(made_ms, seen_ms, revoked_ms)) FROM token), 0))",
            )
        )

    def devices(self) -> list[DeviceUse]:
        """What each device takes; none where the store is of a version that does not say so."""
        if self.version != self.newest_version:
            return []
        usage = Usage()
        usage.load(self._connection)
        named = run(self._connection.cursor(), "SELECT number, name FROM device WHERE gone_ms = 0 ORDER BY number")
        return [DeviceUse(name, usage.used_bytes(number)) for number, name in named]


@contextmanager
def inspect(path: Path) -> Generator[Inspection]:
    """Looks at the store's file, which is there. Raises `StoreFault`."""
    try:
        with looking(path) as connection:
            yield Inspection(connection)
    except apsw.Error as error:
        raise fault_of(error, path) from error


def reindex(path: Path) -> None:
    """Makes every index anew. For the process that holds the place. Raises `StoreFault`."""
    with _changing(path) as connection:
        run(connection.cursor(), "REINDEX")


def count_sizes(path: Path) -> None:
    """Counts all sizes anew. For the process that holds the place. Raises `StoreFault`."""
    with _changing(path) as connection:
        count_anew(connection)


def cut_log(path: Path) -> bool:
    """Copies the log into the file and cuts it; whether nobody was in the way. A daemon may run. Raises `StoreFault`."""
    with _changing(path) as connection:
        # A connection that has read nothing yet does not know that there is a log.
        run(connection.cursor(), "SELECT count(*) FROM sqlite_schema")
        try:
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        except apsw.BusyError:
            return False
        return True


def purge_leftovers(path: Path) -> None:
    """Takes away what no session holds. For the process that holds the place. Raises `StoreFault`."""
    with _changing(path) as connection:
        usage = Usage()
        usage.load(connection)
        purge = Purge(now_ms, usage, grace_ms=0)
        purge.load(connection)
        while purge.wait_ms() is not None:
            purge.step(connection)


@contextmanager
def _changing(path: Path) -> Generator[apsw.Connection]:
    try:
        connection = connect(path, None)
        try:
            yield connection
        finally:
            close(connection)
    except apsw.Error as error:
        raise fault_of(error, path) from error
