"""A store without an event loop: for commands, while a daemon serves it or while none does."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple, TypeVar

import apsw

from waybread_daemon.store.contract import ContentFacts, Device, Reader, StoreFault, StoreRefusal
from waybread_daemon.store.sqlite import accounts
from waybread_daemon.store.sqlite.connection import close, connect_reader, connect_writer, prepare
from waybread_daemon.store.sqlite.faults import fault_of, refusal_of
from waybread_daemon.store.sqlite.frozen import looking
from waybread_daemon.store.sqlite.heads import older
from waybread_daemon.store.sqlite.place import examine_place, is_read_only
from waybread_daemon.store.sqlite.reader import SqliteReader
from waybread_daemon.store.sqlite.schema import migrations, version_of
from waybread_daemon.store.sqlite.statements import run, value

T = TypeVar("T")

_NEXT_FILE = (
    "SELECT c.sha256, c.id, c.size_bytes, c.lines, c.chars FROM holding AS h JOIN content AS c ON c.id = h.content "
    "WHERE h.session = ? AND c.id > ? AND c.sha256 IS NOT NULL ORDER BY c.id LIMIT 1"
)


@contextmanager
def open_reader(path: Path, *, vfs: str | None = None) -> Generator[Reader]:
    """A look at a store: one snapshot for the length of the `with` block, so keep it short.

    Raises `StoreRefusal` where there is no store or it cannot be read, and `StoreFault`.
    """
    with open_looks(path, vfs=vfs) as looks, looks.snapshot() as reader:
        yield reader


class HeldFile(NamedTuple):
    """Content of a file that a session holds, by its hash."""

    sha256: bytes
    content: ContentFacts


class BlockingLooks:
    """Looks at a store one after the other, each at a snapshot of its own, so that many of them hold nothing back."""

    def __init__(self, path: Path, connection: apsw.Connection) -> None:
        self._path = path
        self._connection = connection
        self._reader = SqliteReader(connection)

    @contextmanager
    def snapshot(self) -> Generator[Reader]:
        """A snapshot for the length of the `with` block. Raises `StoreFault`."""
        try:
            with self._reader.snapshot():
                yield self._reader
        except apsw.Error as error:
            raise fault_of(error, self._path) from error

    def epoch(self) -> str:
        """The store's epoch."""
        return str(value(self._connection.cursor(), "SELECT value FROM meta WHERE name = 'epoch'"))

    def hash_of(self, content: int) -> bytes | None:
        """The hash of a content, None where it is no file's."""
        rows = run(self._connection.cursor(), "SELECT sha256 FROM content WHERE id = ?", content)
        return rows[0][0] if rows else None

    def next_file(self, session: int, after: int) -> HeldFile | None:
        """Of the files' contents that a session holds, the one behind the content `after`."""
        rows = run(self._connection.cursor(), _NEXT_FILE, session, after)
        return HeldFile(rows[0][0], ContentFacts(*rows[0][1:])) if rows else None


@contextmanager
def open_looks(path: Path, *, vfs: str | None = None) -> Generator[BlockingLooks]:
    """Several looks at a store. Raises `StoreRefusal` where there is none or it cannot be read."""
    if not path.exists():
        raise StoreRefusal(f"There is no store at {path}: start the daemon first, or name another file.")
    if is_read_only(path.parent):
        with _frozen(path) as connection:
            yield BlockingLooks(path, connection)
        return
    prepare(path, vfs)
    try:
        connection = connect_reader(path, vfs)
    except apsw.Error as error:
        raise fault_of(error, path) from error
    try:
        yield BlockingLooks(path, connection)
    finally:
        close(connection)


@contextmanager
def _frozen(path: Path) -> Generator[apsw.Connection]:
    """On a disk that takes no writes nothing can be made ready."""
    examine_place(path, to_look=True)
    with ExitStack() as opened:
        try:
            connection = opened.enter_context(looking(path))
            version = version_of(connection, path, len(migrations()))
        except apsw.Error as error:
            raise refusal_of(error, path) from error
        if version < len(migrations()):
            raise older(path, version, len(migrations()))
        yield connection


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

    def add_token(self, token: str, device: int, role: str, secret_hash: bytes, at_ms: int, name: str = "") -> None:
        """Makes a token of a device."""
        self._write(lambda cursor: accounts.add_token(cursor, token, device, role, secret_hash, at_ms, name))

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
        except (apsw.Error, StoreFault) as error:
            fault = fault_of(error, self._path, self._connection.system_errno)
            if self._connection.in_transaction:
                run(cursor, "ROLLBACK")
            raise fault from error
        return result
