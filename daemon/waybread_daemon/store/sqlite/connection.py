"""Connections to the store's file: one small function a setting, each with its reason."""

from __future__ import annotations

import contextlib
from pathlib import Path

import apsw

from waybread_daemon.store.contract import StoreRefusal
from waybread_daemon.store.sqlite.faults import refusal_of
from waybread_daemon.store.sqlite.place import make_place
from waybread_daemon.store.sqlite.schema import migrate, migrations
from waybread_daemon.store.sqlite.statements import run, value

BUSY_TIMEOUT_MS = 10_000
LOG_LIMIT_BYTES = 64 * 1024 * 1024
OLDEST_SQLITE = (3, 51, 3)
_STATEMENTS = 256


def prepare(path: Path, vfs: str | None) -> None:
    """Makes the store's file where there is none, and brings its schema to the newest version.

    Raises `StoreRefusal`.
    """
    refuse_old_sqlite(apsw.sqlite_lib_version())
    make_place(path)
    try:
        connection = connect(path, vfs)
        try:
            keep_a_write_ahead_log(connection)
            sync_every_commit(connection)
            migrate(connection, path, migrations())
        finally:
            close(connection)
    except apsw.Error as error:
        raise refusal_of(error, path) from error


def connect_writer(path: Path, vfs: str | None) -> apsw.Connection:
    """A connection for what writes: each commit is on the disk when it returns."""
    connection = connect(path, vfs)
    sync_every_commit(connection)
    never_checkpoint_in_a_commit(connection)
    return connection


def connect_reader(path: Path, vfs: str | None) -> apsw.Connection:
    """A connection for what only looks."""
    connection = connect(path, vfs)
    only_look(connection)
    return connection


def connect(path: Path, vfs: str | None) -> apsw.Connection:
    """A connection with what all have in common. The file is there: a mistyped path must not make a second store."""
    connection = apsw.Connection(str(path), apsw.SQLITE_OPEN_READWRITE, vfs, _STATEMENTS)
    wait_when_busy(connection)
    limit_the_log(connection)
    return connection


def close(connection: apsw.Connection) -> None:
    """Closes a connection whose work is done, or that met a fault. Closing may write to a disk that is broken; what was
    committed is in the log all the same, and what was not is rolled back.
    """
    with contextlib.suppress(apsw.Error):
        connection.close(True)


def refuse_old_sqlite(version: str) -> None:
    """SQLite before 3.51.3 can corrupt a write-ahead log when it starts over."""
    if tuple(int(part) for part in version.split(".")[:3]) < OLDEST_SQLITE:
        oldest = ".".join(str(part) for part in OLDEST_SQLITE)
        raise StoreRefusal(
            f"The SQLite library here is {version}; releases before {oldest} can corrupt a store: "
            "install the package apsw from a wheel, which brings its own."
        )


def wait_when_busy(connection: apsw.Connection) -> None:
    """Comes before anything else: even setting the journal mode can find the file locked."""
    connection.set_busy_timeout(BUSY_TIMEOUT_MS)


def keep_a_write_ahead_log(connection: apsw.Connection) -> None:
    """Readers and the writer never wait for each other. The file remembers it."""
    mode = value(connection.cursor(), "PRAGMA journal_mode = WAL")
    if mode != "wal":
        raise StoreRefusal(
            f"{connection.filename} is on a file system without shared memory (journal mode {mode}): "
            "put it on a local disk."
        )


def sync_every_commit(connection: apsw.Connection) -> None:
    """An answer leaves after the commit, so the commit must have reached the disk; NORMAL syncs at checkpoints only."""
    run(connection.cursor(), "PRAGMA synchronous = FULL")


def never_checkpoint_in_a_commit(connection: apsw.Connection) -> None:
    """A commit that also checkpoints makes every request in its batch wait 40 ms and more; a thread does it."""
    run(connection.cursor(), "PRAGMA wal_autocheckpoint = 0")


def limit_the_log(connection: apsw.Connection) -> None:
    """A log that grew because a reader held it is cut when it starts over, so it does not take the disk for good."""
    run(connection.cursor(), f"PRAGMA journal_size_limit = {LOG_LIMIT_BYTES}")


def only_look(connection: apsw.Connection) -> None:
    """A look that would write is a mistake and fails at once."""
    run(connection.cursor(), "PRAGMA query_only = ON")
