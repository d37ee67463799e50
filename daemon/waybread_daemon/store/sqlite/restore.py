"""A backup put into the place of the store: copied and checked first, then swapped in one step."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import apsw

from waybread_daemon.store.contract import StoreRefusal
from waybread_daemon.store.sqlite.backup import BESIDE_A_DAEMON, origin
from waybread_daemon.store.sqlite.check import store_faults
from waybread_daemon.store.sqlite.connection import close, connect, refuse_old_sqlite
from waybread_daemon.store.sqlite.copying import Progress, copy_bytes, draft, need_room, no_progress, sync_file
from waybread_daemon.store.sqlite.faults import refusal_of
from waybread_daemon.store.sqlite.heads import another_program, newer, read_head
from waybread_daemon.store.sqlite.place import examine_folder, hold_place, is_held, make_folder
from waybread_daemon.store.sqlite.schema import migrations, version_of
from waybread_daemon.store.sqlite.statements import run, value
from waybread_daemon.store.sqlite.swap import alone, forget_second_names, name_for_old, put_in_place

_COPIED = ("", "-wal", "-journal")
"""A store that was copied by hand, of a daemon that was killed, has its last transactions in the log."""


class Restored(NamedTuple):
    """A store that is in its place: its epoch, its version, and where the one is that was there before (None: none was)."""

    epoch: str
    version: int
    kept: Path | None


def restore(path: Path, backup: Path, stamp: str, *, moved: bool, progress: Progress = no_progress) -> Restored:
    """Puts a copy of `backup` into the place of the store at `path`. `stamp` is the time for the old one's new name.

    It begins a new epoch, so that ids which the lost store may have given are never given twice. `moved`: it does not,
    because nothing was stored since. Raises `StoreRefusal`, and `OSError`; the store is as it was then.
    """
    refuse_old_sqlite(apsw.sqlite_lib_version())
    _examine_backup(path, backup)
    examine_folder(path)
    make_folder(path)
    lock = hold_place(path)
    try:
        forget_second_names(path)
        size = sum(file.stat().st_size for file in _files(backup))
        need_room(path.parent, size, f"a copy of {backup}")
        with draft(path) as copy:
            for file in _files(backup):
                side = copy.with_name(copy.name + file.name.removeprefix(backup.name))
                side.touch(0o600)
                copy_bytes(file, side, progress)
            try:
                epoch, version = _prepare(copy, backup, moved=moved, progress=progress)
            except apsw.Error as error:
                raise refusal_of(error, backup) from error
            sync_file(copy)
            with alone(path) as old:
                kept = name_for_old(path, f"before-restore-{stamp}") if path.exists() and path.stat().st_size else None
                put_in_place(copy, path, kept, settled=old is not None)
        return Restored(epoch, version, kept)
    finally:
        os.close(lock)


def _examine_backup(path: Path, backup: Path) -> None:
    """Looks at its head, before anything is made."""
    if not backup.exists():
        raise StoreRefusal(f"There is no backup at {backup}: look at its name.")
    if not backup.is_file():
        raise StoreRefusal(f"{backup} is a folder: name one backup in it.")
    if path.exists() and backup.samefile(path):
        raise StoreRefusal(f"{backup} is the store itself: name a backup of it.")
    if is_held(backup):
        raise StoreRefusal(f"{backup} is the store of a daemon that runs: make a backup of it with `waybread backup`.")
    head = read_head(backup)
    if head is None:
        raise StoreRefusal(f"{backup} is empty and no backup: name another file.")
    # What is still in a log tells its version later.
    if head.application and not head.is_ours:
        raise another_program(backup)
    if head.is_ours and head.version > len(migrations()):
        raise newer(backup, head.version, len(migrations()))


def _files(backup: Path) -> list[Path]:
    beside = [backup.with_name(backup.name + suffix) for suffix in _COPIED]
    return [file for file in beside if file.exists() and file.stat().st_size]


def _prepare(copy: Path, backup: Path, *, moved: bool, progress: Progress) -> tuple[str, int]:
    """Makes one file of the copy, checks it, gives it its epoch. It is what will be restored, to the byte."""
    connection = connect(copy, None)
    try:
        cursor = connection.cursor()
        run(cursor, "PRAGMA journal_mode = DELETE")
        version = version_of(connection, backup, len(migrations()))
        if not version:
            raise StoreRefusal(f"{backup} is empty and no backup: name another file.")
        faults = store_faults(connection, progress)
        if faults:
            raise StoreRefusal(
                f"{backup} has a fault, so nothing was restored ({faults[0]}): name an older backup. The store is as it was."
            )
        if moved and value(cursor, "SELECT count(*) FROM meta WHERE name = ? AND value = 1", BESIDE_A_DAEMON):
            raise StoreRefusal(
                f"{backup} was made while a daemon served the store, which may have given ids since: restore it without "
                "--moved, or stop that daemon and make a backup then."
            )
        run(cursor, "BEGIN IMMEDIATE")
        run(cursor, "DELETE FROM meta WHERE name = ?", BESIDE_A_DAEMON)
        if not moved:
            run(cursor, "INSERT OR REPLACE INTO meta (name, value) VALUES ('origin', ?)", origin(connection))
            run(cursor, "UPDATE meta SET value = lower(hex(randomblob(8))) WHERE name = 'epoch'")
        epoch = str(value(cursor, "SELECT value FROM meta WHERE name = 'epoch'"))
        run(cursor, "COMMIT")
        return epoch, version
    finally:
        close(connection)
