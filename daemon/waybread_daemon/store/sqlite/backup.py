"""A copy of a store, made while a daemon may run and write.

SQLite's own backup copies the file page by page. It copies within one read transaction that is held open around all of its
steps, so it sees one moment and never begins again, however busy the writer is; and that transaction ends with the last
page, before anything is checked, so the log grows by no more than what is written while the disk copies. (`VACUUM INTO`
would build the file anew: slower, so a longer log, and an index that is broken would come out whole and go unnoticed.)
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, TypeVar

import apsw

from waybread_daemon.store.contract import StoreRefusal
from waybread_daemon.store.sqlite.connection import close, connect, refuse_old_sqlite
from waybread_daemon.store.sqlite.contents_check import first_fault
from waybread_daemon.store.sqlite.copying import Progress, draft, need_room, no_progress, sync_file, sync_folder
from waybread_daemon.store.sqlite.faults import refusal_of
from waybread_daemon.store.sqlite.frozen import connect_unchanging, looking
from waybread_daemon.store.sqlite.heads import read_head
from waybread_daemon.store.sqlite.own_names import refuse_own
from waybread_daemon.store.sqlite.place import examine_place, is_held
from waybread_daemon.store.sqlite.schema import migrations, version_of
from waybread_daemon.store.sqlite.statements import run, value

T = TypeVar("T")

_PAGES = 1024
_NAME = re.compile(r"waybread-(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ)(?:-(\d{1,9}))?\.sqlite")
BESIDE_A_DAEMON = "backup_beside_daemon"
"""A name in the copy's `meta`: 1 where a daemon held the store meanwhile, so that more may have been stored since."""


class Backup(NamedTuple):
    """A backup that is there."""

    path: Path
    size_bytes: int


def back_up(path: Path, target: Path, *, replace: bool, progress: Progress = no_progress) -> Backup:
    """Copies the store at `path` to `target`: checked, synced, then renamed into place; nothing is left where it fails.

    `replace`: a file that is there is replaced. Raises `StoreRefusal`, and `OSError` for what the system refuses.
    """
    refuse_old_sqlite(apsw.sqlite_lib_version())
    examine_place(path, to_look=True)
    refuse_missing(path)
    _refuse_target(path, target, replace=replace)
    with draft(target) as copy:
        try:
            _copy(path, copy, progress)
            fault = _finish(copy, beside_daemon=is_held(path), progress=progress)
        except apsw.CorruptError as error:
            fault = f"the file: {error}"
        except apsw.Error as error:
            raise refusal_of(error, path) from error
        if fault:
            raise StoreRefusal(
                f"The store at {path} has a fault, so no backup was made ({fault}): `waybread doctor` tells all of it. "
                "Keep the backups that you have."
            )
        progress("syncing", 0, 0)
        sync_file(copy)
        _refuse_target(path, target, replace=replace)
        copy.replace(target)
    sync_folder(target.parent)
    return Backup(target, target.stat().st_size)


def _refuse_target(path: Path, target: Path, *, replace: bool) -> None:
    if not replace:
        refuse_existing(target)
    refuse_own(path, target, is_backup=target.is_file() and _is_backup(target))


def refuse_missing(path: Path) -> None:
    """Raises `StoreRefusal` where there is no store."""
    if not path.exists():
        raise StoreRefusal(f"There is no store at {path}: start the daemon first, or name another file.")


def refuse_existing(target: Path) -> None:
    """Raises `StoreRefusal` where there is something."""
    if os.path.lexists(target):
        raise StoreRefusal(
            f"{target} is there already: say --replace, give another name, or name a folder, in which each backup gets a "
            "name of its own."
        )


def copy_pages(source: apsw.Connection, target: Path, progress: Progress) -> None:
    """Copies what `source` sees at this moment into a file of our own. Raises what SQLite raises, and `StoreRefusal`."""
    run(source.cursor(), "BEGIN")
    try:
        pages = value(source.cursor(), "PRAGMA page_count")
        # The first look begins the transaction.
        run(source.cursor(), "SELECT count(*) FROM sqlite_schema")
        need_room(target.parent, pages * value(source.cursor(), "PRAGMA page_size"), f"a copy of {source.filename}")
        copy = apsw.Connection(str(target), apsw.SQLITE_OPEN_READWRITE)
        try:
            # A copy that fails is thrown away, and one that is done is synced as a whole.
            run(copy.cursor(), "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
            with copy.backup("main", source, "main") as backup:
                while not backup.done:
                    backup.step(_PAGES)
                    progress("copying", backup.page_count - backup.remaining, backup.page_count)
        finally:
            close(copy)
    finally:
        if source.in_transaction:
            run(source.cursor(), "ROLLBACK")


def keep_newest(made: Path, keep: int) -> list[Path]:
    """Of the backups in the folder of `made` that are of the same store removes all but the newest `keep`; tells which.

    `made` is kept whatever the clock says. Only files are removed that have the name of a backup, are one by their head,
    and say that they are of that store.
    """
    folder, origin = made.parent, origin_of(made)
    ours = [path for path in _named_backups(folder) if path != made and origin and origin_of(path) == origin]
    ours.sort(key=_age)
    removed = ours[: max(len(ours) - keep + 1, 0)]
    for path in removed:
        path.unlink(missing_ok=True)
    if removed:
        sync_folder(folder)
    return removed


def name_in(folder: Path, stamp: str) -> Path:
    """A name for a backup made at that time (`2026-01-31T02-30-00Z`), behind all others of that second."""
    matches = (_NAME.fullmatch(path.name) for path in folder.iterdir())
    taken = [int(match[2] or 1) for match in matches if match and match[1] == stamp]
    return folder / (f"waybread-{stamp}-{max(taken) + 1}.sqlite" if taken else f"waybread-{stamp}.sqlite")


def origin_of(path: Path) -> str:
    """Which store a finished file is of: the epoch in which that began, whatever restores there were. Empty for unknown."""
    return _asked(path, origin) or ""


def _is_backup(path: Path) -> bool:
    """Whether `back_up` made a finished file: a store itself never says so."""
    asked = "SELECT count(*) FROM meta WHERE name = ?"
    return bool(_asked(path, lambda connection: value(connection.cursor(), asked, BESIDE_A_DAEMON)))


def _asked(path: Path, ask: Callable[[apsw.Connection], T]) -> T | None:
    """What a finished file says, None where it cannot be asked."""
    try:
        connection = connect_unchanging(path)
        try:
            return ask(connection)
        finally:
            close(connection)
    except apsw.Error:
        return None


def origin(connection: apsw.Connection) -> str:
    """The same of an open store."""
    names: dict[str, str] = dict(
        run(connection.cursor(), "SELECT name, value FROM meta WHERE name IN ('origin', 'epoch')")
    )
    return names.get("origin", names.get("epoch", ""))


def _age(path: Path) -> tuple[str, int]:
    match = _NAME.fullmatch(path.name)
    return (match[1], int(match[2] or 1)) if match else ("", 0)


def _named_backups(folder: Path) -> Iterator[Path]:
    for path in folder.iterdir():
        if not _NAME.fullmatch(path.name) or path.is_symlink() or not path.is_file():
            continue
        try:
            head = read_head(path)
        except (StoreRefusal, OSError):
            continue
        if head is not None and head.is_ours:
            yield path


def _copy(path: Path, copy: Path, progress: Progress) -> None:
    with looking(path) as source:
        if not version_of(source, path, len(migrations())):
            raise StoreRefusal(f"The store at {path} is empty: start the daemon first, or name another file.")
        copy_pages(source, copy, progress)


def _finish(copy: Path, *, beside_daemon: bool, progress: Progress) -> str:
    """Makes one file of it, which needs nothing beside it, and checks that: gives what is wrong, empty for nothing."""
    connection = connect(copy, None)
    try:
        run(connection.cursor(), "PRAGMA synchronous = OFF")
        run(connection.cursor(), "PRAGMA journal_mode = DELETE")
        run(
            connection.cursor(),
            "INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)",
            BESIDE_A_DAEMON,
            int(beside_daemon),
        )
        return first_fault(connection, progress)
    finally:
        close(connection)
