"""A store without an event loop: for commands, while a daemon serves it or while none does."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import apsw

from waybread_daemon.store.contract import Device, Reader, StoreRefusal
from waybread_daemon.store.sqlite import accounts
from waybread_daemon.store.sqlite.connection import close, connect_reader, connect_writer, prepare
from waybread_daemon.store.sqlite.faults import fault_of
from waybread_daemon.store.sqlite.reader import SqliteReader
from waybread_daemon.store.sqlite.statements import run

T = TypeVar("T")


@contextmanager
def open_reader(path: Path, *, vfs: str | None = None) -> Generator[Reader]:
    """A look at a store: one snapshot for the length of the `with` block, so keep it short.

    Raises `StoreRefusal` where there is no store or it cannot be read, and `StoreFault`.
    """
    if not path.exists():
        raise StoreRefusal(f"There is no store at {path}: start the daemon first, or name another file.")
    prepare(path, vfs)
    try:
        reader = SqliteReader(connect_reader(path, vfs))
        try:
            with reader.snapshot():
                yield reader
        finally:
            reader.close()
    except apsw.Error as error:
        raise fault_of(error, path) from error


@contextmanager
def open_accounts(path: Path, *, vfs: str | None = None) -> Generator[Accounts]:
    """Devices and tokens of a store, which is made where there is none. Raises `StoreRefusal` and `StoreFault`."""
    prepare(path, vfs)
    try:
        connection = connect_writer(path, vfs)
    except apsw.Error as error:
        raise fault_of(error, path) from error
    try:
        yield Accounts(path, connection)
    finally:
        close(connection)


class Accounts:
    """Changes of devices and tokens. Each is on the disk when its method returns; each raises `StoreFault`."""

    def __init__(self, path: Path, connection: apsw.Connection) -> None:
        self._path = path
        self._connection = connection

    def add_device(self, device: str, name: str, at_ms: int) -> Device:
        """Makes a device."""
        return self._write(lambda cursor: accounts.add_device(cursor, device, name, at_ms))

    def add_token(self, token: str, device: int, role: str, secret_hash: bytes, at_ms: int) -> None:
        """Makes a token of a device."""
        self._write(lambda cursor: accounts.add_token(cursor, token, device, role, secret_hash, at_ms))

    def rename_device(self, device: int, name: str) -> None:
        """Gives a device another name."""
        self._write(lambda cursor: accounts.rename_device(cursor, device, name))

    def revoke(self, tokens: list[str], at_ms: int) -> None:
        """Revokes tokens. Those revoked already keep their time."""
        self._write(lambda cursor: accounts.revoke(cursor, tokens, at_ms))

    def _write(self, work: Callable[[apsw.Cursor], T]) -> T:
        cursor = self._connection.cursor()
        try:
            # IMMEDIATE waits for the daemon's commit, a few milliseconds, and never fails half way.
            run(cursor, "BEGIN IMMEDIATE")
            result = work(cursor)
            run(cursor, "COMMIT")
        except apsw.Error as error:
            fault = fault_of(error, self._path, self._connection.system_errno)
            if self._connection.in_transaction:
                run(cursor, "ROLLBACK")
            raise fault from error
        return result
