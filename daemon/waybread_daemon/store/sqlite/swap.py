"""One file of a store put into the place of another, so that a kill at any moment leaves the one or the other, whole.

What could go wrong is a log of the old file beside the new one: SQLite would take it for the new one's. So the order is:

1. The old store is opened alone: its log is copied into it and taken away, and from then on its file is locked, so that
   whoever opens it waits. A kill leaves the old store, with or without its log.
2. A second name (`kept`) is made for the old file. A kill leaves the old store.
3. Nothing lies beside the old file, and the disk knows that. A kill leaves the old store.
4. The new file takes the old one's name, in one step of the file system. A kill leaves the new store.
5. The lock ends. Who waited for it finds its file moved, and opens the new one (`connection.refuse_what_was_moved`).

An old file that SQLite cannot read is not a whole store to begin with. It is put aside as it is, its log under the same
new name, before step 3.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import apsw

from waybread_daemon.store.contract import StoreRefusal
from waybread_daemon.store.sqlite.connection import close, connect_guest
from waybread_daemon.store.sqlite.copying import draft, need_room, sync_file, sync_folder
from waybread_daemon.store.sqlite.faults import refusal_of
from waybread_daemon.store.sqlite.place import SIDE_FILES
from waybread_daemon.store.sqlite.statements import run, value

_KEPT = (".before-restore-", ".before-version-")
_BUSY_TIMEOUT_MS = 3000


@contextmanager
def alone(path: Path) -> Generator[apsw.Connection | None]:
    """The store that is at `path`, without a log and locked against everybody; None where there is none that can be read.

    For the process that holds the place. Raises `StoreRefusal` where somebody has the store open.
    """
    connection: apsw.Connection | None = None
    try:
        if path.exists() and path.stat().st_size:
            try:
                connection = _locked(path)
            except (apsw.CorruptError, apsw.NotADBError):
                connection = None
            except (apsw.BusyError, apsw.LockedError) as error:
                raise StoreRefusal(
                    f"Another command or program has the store at {path} open: end it, or wait until it is done, and do "
                    "this again. Nothing was changed."
                ) from error
            except apsw.Error as error:
                raise refusal_of(error, path) from error
        yield connection
    finally:
        if connection is not None:
            close(connection)


def put_in_place(new: Path, path: Path, kept: Path | None, *, settled: bool) -> None:
    """Steps 2 to 4: `new`, which is synced, becomes the store at `path`; what was there is called `kept` afterwards.

    `settled`: the old store is `alone`, so that what lies beside it holds nothing. Raises `OSError`.
    """
    folder = path.parent
    with ExitStack() as opened:
        if kept is not None and path.exists():
            _name_twice(path, kept, opened)
            for suffix in () if settled else SIDE_FILES:
                side = path.with_name(path.name + suffix)
                if side.exists():
                    _name_twice(side, kept.with_name(kept.name + suffix), opened)
        # The second names first: what is taken away next must be under them.
        sync_folder(folder)
        for suffix in SIDE_FILES:
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        sync_folder(folder)
        new.replace(path)
        sync_folder(folder)


def name_for_old(path: Path, why: str) -> Path:
    """A name for an old store: `waybread.sqlite.before-restore-…`."""
    kept, number = path.with_name(f"{path.name}.{why}"), 1
    while os.path.lexists(kept):
        number += 1
        kept = path.with_name(f"{path.name}.{why}-{number}")
    return kept


def forget_second_names(path: Path) -> None:
    """Takes a second name from the store's file, which a kill between steps 2 and 4 left: it looks like a copy and is none.

    For the process that holds the place.
    """
    with contextlib.suppress(FileNotFoundError):
        if path.stat().st_nlink > 1:
            for name in old_stores(path):
                if name.samefile(path):
                    name.unlink()


def old_stores(path: Path) -> list[Path]:
    """Stores that were put aside here."""
    return [file for mark in _KEPT for file in sorted(path.parent.glob(f"{path.name}{mark}*"))]


def _locked(path: Path) -> apsw.Connection:
    # Where it cannot be read its log stays, too, and is put aside with it.
    connection = connect_guest(path)
    try:
        connection.set_busy_timeout(_BUSY_TIMEOUT_MS)
        cursor = connection.cursor()
        # The lock that ends the log stays: between the two nobody gets in.
        run(cursor, "PRAGMA locking_mode = EXCLUSIVE")
        run(cursor, "PRAGMA synchronous = EXTRA")
        if value(cursor, "PRAGMA journal_mode = DELETE") != "delete":
            raise apsw.BusyError("the log cannot be ended")
        run(cursor, "BEGIN EXCLUSIVE")
        run(cursor, "COMMIT")
    except BaseException:
        close(connection)
        raise
    return connection


def _name_twice(path: Path, second: Path, opened: ExitStack) -> None:
    """Where a file system has one name a file only, it is a copy. The file then stays open in `opened`: closing a database's
    file drops SQLite's locks on it.
    """
    try:
        os.link(path, second)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.EOPNOTSUPP, errno.EMLINK, errno.ENOSYS):
            raise
        need_room(path.parent, path.stat().st_size, f"a copy of {path}")
        source = opened.enter_context(path.open("rb"))
        with draft(second) as copy:
            with copy.open("r+b") as writing:
                shutil.copyfileobj(source, writing)
            sync_file(copy)
            copy.replace(second)
