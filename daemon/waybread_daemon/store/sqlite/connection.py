"""Connections to the store's file: one small function a setting, each with its reason."""

from __future__ import annotations

import contextlib
import ctypes
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw

from waybread_daemon.store.contract import StoreRefusal
from waybread_daemon.store.sqlite.checksums import teach
from waybread_daemon.store.sqlite.faults import refusal_of
from waybread_daemon.store.sqlite.heads import older
from waybread_daemon.store.sqlite.place import make_place
from waybread_daemon.store.sqlite.schema import migrate, migrations, version_of
from waybread_daemon.store.sqlite.statements import run, value

BUSY_TIMEOUT_MS = 10_000
LOG_LIMIT_BYTES = 64 * 1024 * 1024
OLDEST_SQLITE = (3, 51, 3)
_STATEMENTS = 256
_TRY_AGAIN_S = 0.005


def prepare(path: Path, vfs: str | None) -> None:
    """Makes the store's file where there is none. One of an older version is `migration.bring_up_to_date`'s.

    Raises `StoreRefusal`.
    """
    refuse_old_sqlite(apsw.sqlite_lib_version())
    make_place(path)
    steps = migrations()
    try:
        connection = connect(path, vfs)
        try:
            version = version_of(connection, path, len(steps))
            if 0 < version < len(steps):
                raise older(path, version, len(steps))
            refuse_what_was_moved(connection, path)
            if not version:
                make_shrinkable_when_new(connection)
            keep_a_write_ahead_log(connection)
            sync_every_commit(connection)
            migrate(connection, path, steps)
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


def connect_guest(path: Path, vfs: str | None = None) -> apsw.Connection:
    """A connection that leaves the log of a killed daemon where it is: the last to close would copy it into the file."""
    had_log = path.with_name(path.name + "-wal").exists()
    connection = connect(path, vfs)
    if had_log:
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    return connection


def connect(path: Path, vfs: str | None) -> apsw.Connection:
    """A connection with what all have in common. The file is there: a mistyped path must not make a second store."""
    connection = apsw.Connection(str(path), apsw.SQLITE_OPEN_READWRITE, vfs, _STATEMENTS)
    wait_when_busy(connection)
    limit_the_log(connection)
    teach(connection)
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


def refuse_what_was_moved(connection: apsw.Connection, path: Path) -> None:
    """A file that was replaced while it was being opened must get no log: that would lie beside the file in its place.

    Comes after something was read. Whoever replaces a store has it locked from when it has no log until it is replaced, so
    what could be read before has a log and cannot be replaced, and what was read afterwards is found out here.
    """
    moved = ctypes.c_int()
    connection.file_control("main", apsw.SQLITE_FCNTL_HAS_MOVED, ctypes.addressof(moved))
    if moved.value:
        raise StoreRefusal(f"The store at {path} was replaced just now: do it again.")


def make_shrinkable_when_new(connection: apsw.Connection) -> None:
    """Lets free pages be taken out of a file that is still empty, or of one that is made of this by `VACUUM`.

    To one that is not empty it would write, and a store has to open on a full disk.
    """
    run(connection.cursor(), "PRAGMA auto_vacuum = INCREMENTAL")


def keep_a_write_ahead_log(connection: apsw.Connection) -> None:
    """Readers and the writer never wait for each other. The file remembers it."""
    mode = _patiently(lambda: value(connection.cursor(), "PRAGMA journal_mode = WAL"))
    if mode != "wal":
        raise StoreRefusal(
            f"{connection.filename} is on a file system without shared memory (journal mode {mode}): "
            "put it on a local disk."
        )


def _patiently(work: Callable[[], Any]) -> Any:
    """Tries again while another process makes the same file: SQLite does not wait where a lock is only to be raised."""
    end_s = time.monotonic() + BUSY_TIMEOUT_MS / 1000
    while True:
        try:
            return work()
        except apsw.BusyError:
            if time.monotonic() >= end_s:
                raise
            time.sleep(_TRY_AGAIN_S)


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
