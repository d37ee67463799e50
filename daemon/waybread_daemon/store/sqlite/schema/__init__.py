"""The schema's versions: numbered files beside this one, each carried out in one transaction.

A file once released never changes: what is to be different goes into the next one.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import apsw

from waybread_daemon.store.contract import StoreRefusal
from waybread_daemon.store.sqlite.statements import run, value

APPLICATION_ID = 0x57425244
"""Stands in the head of every store's file ("WBRD"), so that no other program's file is taken for one."""


def migrations(folder: Path = Path(__file__).parent) -> list[str]:
    """The text of each migration; the first leads to version 1. Their names begin with four digits, without gaps."""
    files = sorted(folder.glob("[0-9][0-9][0-9][0-9]_*.sql"))
    numbers = [int(file.name[:4]) for file in files]
    if numbers != list(range(1, len(files) + 1)):
        raise ValueError(f"the migrations in {folder} are numbered {numbers}, not from 1 without gaps")
    return [file.read_text("utf-8") for file in files]


def migrate(connection: apsw.Connection, path: Path, steps: Sequence[str]) -> None:
    """Brings a store to the newest version. Processes that start at once wait for each other.

    Raises `StoreRefusal` where the file is of a newer version or another program's.
    """
    while True:
        # What was read before the transaction may be old: another process may have migrated meanwhile.
        with _transaction(connection.cursor(), "BEGIN") as cursor:
            if _version(cursor, path, len(steps)) == len(steps):
                return
        # With the write lock from the beginning, so that what is read stays true until something is written.
        with _transaction(connection.cursor(), "BEGIN IMMEDIATE") as cursor:
            version = _version(cursor, path, len(steps))
            if version < len(steps):
                run(cursor, steps[version])
                run(cursor, f"PRAGMA user_version = {version + 1}; PRAGMA application_id = {APPLICATION_ID}")


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
    """The file's version, 0 where it is new and empty."""
    version = value(cursor, "PRAGMA user_version")
    application = value(cursor, "PRAGMA application_id")
    tables = value(cursor, "SELECT count(*) FROM sqlite_schema")
    if application != APPLICATION_ID and (version or tables):
        raise StoreRefusal(f"{path} is another program's database and not a store of Waybread: name another file.")
    if version > newest:
        raise StoreRefusal(
            f"{path} was written by a newer Waybread (its schema is version {version}, this one knows up to {newest}): "
            "start the newer one, or name another file."
        )
    return int(version)
