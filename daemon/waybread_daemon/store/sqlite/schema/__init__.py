"""The schema's versions: numbered files beside this one. What a store lacks of them is carried out in one transaction.

A file once released never changes: what is to be different goes into the next one.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import apsw

from waybread_daemon.store.sqlite.checksums import teach
from waybread_daemon.store.sqlite.heads import APPLICATION_ID, another_program, newer, no_version
from waybread_daemon.store.sqlite.packing import teach_raw_size
from waybread_daemon.store.sqlite.statements import run, value

__all__ = ["APPLICATION_ID", "migrate", "migrations", "version_of"]


def migrations(folder: Path = Path(__file__).parent) -> list[str]:
    """The text of each migration; the first leads to version 1. Their names begin with four digits, without gaps."""
    files = sorted(folder.glob("[0-9][0-9][0-9][0-9]_*.sql"))
    numbers = [int(file.name[:4]) for file in files]
    if numbers != list(range(1, len(files) + 1)):
        raise ValueError(f"the migrations in {folder} are numbered {numbers}, not from 1 without gaps")
    return [file.read_text("utf-8") for file in files]


def migrate(connection: apsw.Connection, path: Path, steps: Sequence[str]) -> None:
    """Brings a store to the newest version, whole or not at all. Processes that start at once wait for each other.

    Raises `StoreRefusal` where the file is of a newer version or another program's.
    """
    teach_raw_size(connection)
    teach(connection)
    if version_of(connection, path, len(steps)) == len(steps):
        return
    # With the write lock from the beginning, so that what is read stays true until something is written: another process
    # may have migrated meanwhile.
    with _transaction(connection.cursor(), "BEGIN IMMEDIATE") as cursor:
        for number in range(_version(cursor, path, len(steps)), len(steps)):
            run(cursor, steps[number])
        run(cursor, f"PRAGMA user_version = {len(steps)}; PRAGMA application_id = {APPLICATION_ID}")


def version_of(connection: apsw.Connection, path: Path, newest: int) -> int:
    """The version of a store, 0 where it is new and empty. Raises `StoreRefusal` as `migrate` does."""
    with _transaction(connection.cursor(), "BEGIN") as cursor:
        return _version(cursor, path, newest)


@contextmanager
def _transaction(cursor: apsw.Cursor, begin: str) -> Generator[apsw.Cursor]:
    """A transaction: what is read in it is of one moment."""
    run(cursor, begin)
    try:
        yield cursor
    except BaseException:
        if cursor.connection.in_transaction:
            run(cursor, "ROLLBACK")
        raise
    run(cursor, "COMMIT")


def _version(cursor: apsw.Cursor, path: Path, newest: int) -> int:
    version = int(value(cursor, "PRAGMA user_version"))
    application = value(cursor, "PRAGMA application_id")
    tables = value(cursor, "SELECT count(*) FROM sqlite_schema")
    if application != APPLICATION_ID and (version or tables):
        raise another_program(path)
    if version > newest:
        raise newer(path, version, newest)
    if version < 0 or (tables and not version):
        raise no_version(path, version)
    return version
