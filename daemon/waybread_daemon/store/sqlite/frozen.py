"""A store on a disk that takes no writes, looked at all the same: when a disk fails, that is when a backup is needed.

SQLite needs to write beside a database that has a write-ahead log, even to read it. On a disk that is mounted read-only nobody
writes: what has no log is read as it is, and what has one is copied to where it can be, with the log.
"""

from __future__ import annotations

import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import apsw

from waybread_daemon.store.sqlite.checksums import teach
from waybread_daemon.store.sqlite.connection import close, connect_guest, only_look
from waybread_daemon.store.sqlite.copying import copy_parts, need_room, parts_of
from waybread_daemon.store.sqlite.place import is_read_only


@contextmanager
def looking(path: Path) -> Generator[apsw.Connection]:
    """A connection that only looks, wherever the store is. Raises what SQLite raises, `StoreRefusal`, and `OSError`."""
    if not is_read_only(path.parent):
        yield from _looking(connect_guest(path))
    elif not any(file != path for file in parts_of(path)):
        yield from _looking(connect_unchanging(path))
    else:
        with tempfile.TemporaryDirectory(prefix="waybread-") as folder:
            size_bytes = sum(file.stat().st_size for file in parts_of(path))
            need_room(Path(folder), size_bytes, f"a copy of {path}, which is on a disk that is mounted read-only,")
            copy = Path(folder) / path.name
            copy_parts(path, copy)
            yield from _looking(connect_guest(copy))


def _looking(connection: apsw.Connection) -> Generator[apsw.Connection]:
    try:
        only_look(connection)
        yield connection
    finally:
        close(connection)


def connect_unchanging(path: Path) -> apsw.Connection:
    """A connection to a file that nobody changes and that has no log. Nothing is made beside it."""
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    connection = apsw.Connection(f"{path.absolute().as_uri()}?immutable=1", flags)
    teach(connection)
    return connection
