"""A store of an older version brought up to date: a new file is made of it beside it, which then takes its place.

The old file stays, under another name, as the backup that is taken before any migration. So a migration that fails, or is
killed, has changed nothing; there is no half of one; and the next start begins with the same old store.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import apsw

from waybread_daemon.store.contract import StoreRefusal
from waybread_daemon.store.sqlite.check import file_faults, row_faults
from waybread_daemon.store.sqlite.connection import (
    close,
    connect,
    connect_guest,
    make_shrinkable_when_new,
    refuse_old_sqlite,
)
from waybread_daemon.store.sqlite.copying import Progress, draft, need_room, no_progress, sync_file
from waybread_daemon.store.sqlite.faults import refusal_of
from waybread_daemon.store.sqlite.schema import migrate, migrations, version_of
from waybread_daemon.store.sqlite.statements import run, value
from waybread_daemon.store.sqlite.swap import alone, forget_second_names, name_for_old, put_in_place


class Migration(NamedTuple):
    """From which version to which, and where the old store is kept (None: nothing was put aside)."""

    before: int
    after: int
    kept: Path | None


def bring_up_to_date(path: Path, vfs: str | None = None, progress: Progress = no_progress) -> Migration | None:
    """Migrates the store at `path` where it is of an older version; None where there was nothing to do.

    For the process that holds the place. Raises `StoreRefusal`: the store is as it was then, and every later try says the
    same.
    """
    forget_second_names(path)
    newest = len(migrations())
    version = stored_version(path, vfs)
    if version in (0, newest):
        return None
    with alone(path) as old:
        if old is None:
            raise StoreRefusal(f"The store at {path} cannot be read: `waybread doctor` tells why.")
        with draft(path) as new:
            _build(old, path, new, progress)
            sync_file(new)
            kept = name_for_old(path, f"before-version-{newest}")
            put_in_place(new, path, kept, settled=True)
    return Migration(version, newest, kept)


def try_out(path: Path, progress: Progress = no_progress) -> Migration | None:
    """Does the same with a copy that is thrown away, while a daemon may be running. Raises `StoreRefusal` as it would."""
    newest = len(migrations())
    version = stored_version(path, None)
    if version in (0, newest):
        return None
    try:
        connection = connect_guest(path)
        try:
            with draft(path) as new:
                _build(connection, path, new, progress)
        finally:
            close(connection)
    except apsw.Error as error:
        raise refusal_of(error, path) from error
    return Migration(version, newest, None)


def stored_version(path: Path, vfs: str | None) -> int:
    """The version of the store, 0 where it is still empty or not there. Raises `StoreRefusal`."""
    refuse_old_sqlite(apsw.sqlite_lib_version())
    if not path.exists():
        return 0
    try:
        connection = connect_guest(path, vfs)
        try:
            return version_of(connection, path, len(migrations()))
        finally:
            close(connection)
    except apsw.Error as error:
        raise refusal_of(error, path) from error


def _build(old: apsw.Connection, path: Path, new: Path, progress: Progress) -> None:
    """Makes the new store out of the old one, which is checked before: it is to be the backup."""
    size = value(old.cursor(), "PRAGMA page_count") * value(old.cursor(), "PRAGMA page_size")
    # Twice: what a migration changes stands in a journal, too, until it is whole.
    need_room(path.parent, 2 * size, f"a migration of {path} and its backup")
    _refuse_faults(
        lambda: [*file_faults(old), *row_faults(old, progress)], f"The store at {path} has a fault", progress
    )
    progress("copying", 0, 0)
    # Built anew, so that it gets what only a new file can be given, and without the old one's empty pages.
    make_shrinkable_when_new(old)
    run(old.cursor(), "VACUUM INTO ?", str(new))
    _carry_out(new, path, migrations(), progress)


def _carry_out(new: Path, path: Path, steps: Sequence[str], progress: Progress) -> None:
    connection = connect(new, None)
    try:
        progress("migrating", 0, 0)
        try:
            migrate(connection, path, steps)
        except apsw.Error as error:
            raise StoreRefusal(
                f"The store at {path} cannot be brought to version {len(steps)} ({type(error).__name__}: {error}). It is as "
                "it was: start the Waybread that wrote it, and report this."
            ) from error
        _refuse_faults(
            lambda: list(row_faults(connection, progress)),
            f"The migration of {path} would have lost something",
            progress,
        )
    finally:
        close(connection)


def _refuse_faults(find: Callable[[], list[str]], sentence: str, progress: Progress) -> None:
    progress("checking", 0, 0)
    faults = find()
    if faults:
        raise StoreRefusal(
            f"{sentence}, so it was not migrated ({faults[0]}): `waybread doctor` tells all of it. It is as it was."
        )
