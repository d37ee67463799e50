"""A backup put into the place of the store: copied and checked first, then swapped in one step."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import apsw

from waybread_daemon.store.contract import StoreRefusal
from waybread_daemon.store.sqlite.backup import BESIDE_A_DAEMON, origin
from waybread_daemon.store.sqlite.batch import SEQ_BITS, seq_of
from waybread_daemon.store.sqlite.checksums import has_checksums, seal_epoch
from waybread_daemon.store.sqlite.connection import close, connect, refuse_old_sqlite
from waybread_daemon.store.sqlite.contents_check import first_fault
from waybread_daemon.store.sqlite.copying import (
    Progress,
    copy_parts,
    draft,
    need_room,
    no_progress,
    parts_of,
    sync_file,
)
from waybread_daemon.store.sqlite.faults import refusal_of
from waybread_daemon.store.sqlite.heads import read_head, refuse_head
from waybread_daemon.store.sqlite.place import examine_folder, hold_place, is_held, make_folder
from waybread_daemon.store.sqlite.schema import migrations, version_of
from waybread_daemon.store.sqlite.statements import run, value
from waybread_daemon.store.sqlite.swap import alone, forget_second_names, name_for_old, put_in_place

_OTHER = "name a backup that `waybread backup` made"


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
        size = sum(file.stat().st_size for file in parts_of(backup))
        need_room(path.parent, size, f"a copy of {backup}")
        with draft(path) as copy:
            copy_parts(backup, copy, progress)
            try:
                epoch, version = _prepare(copy, backup, moved=moved, progress=progress)
            except (apsw.CorruptError, apsw.NotADBError) as error:
                raise StoreRefusal(
                    f"{backup} is damaged and cannot be read ({error}): name an older backup. The store is as it was."
                ) from error
            except apsw.Error as error:
                raise refusal_of(error, path) from error
            sync_file(copy)
            with alone(path) as old:
                if moved and old is not None:
                    _refuse_later(old, copy, backup)
                kept = name_for_old(path, f"before-restore-{stamp}") if path.exists() and path.stat().st_size else None
                put_in_place(copy, path, kept, settled=old is not None)
        return Restored(epoch, version, kept)
    finally:
        os.close(lock)


def _examine_backup(path: Path, backup: Path) -> None:
    """Looks at its head, before anything is made."""
    if not backup.exists():
        raise StoreRefusal(f"There is no backup at {backup}: look at its name.")
    if backup.is_dir():
        raise StoreRefusal(f"{backup} is a folder: name one backup in it.")
    if not backup.is_file():
        raise StoreRefusal(f"{backup} is no regular file, so no backup: name one.")
    if path.exists() and backup.samefile(path):
        raise StoreRefusal(f"{backup} is the store itself: name a backup of it.")
    if is_held(backup):
        raise StoreRefusal(f"{backup} is the store of a daemon that runs: make a backup of it with `waybread backup`.")
    with _of_a_backup():
        head = read_head(backup)
        if head is None:
            raise _no_backup(backup)
        # What is still in a log tells its version later.
        refuse_head(backup, head, len(migrations()))
    has_log = any(file != backup for file in parts_of(backup))
    size_bytes = backup.stat().st_size
    if head.size_bytes and size_bytes != head.size_bytes and not has_log:
        raise StoreRefusal(
            f"{backup} is damaged: it is {size_bytes} bytes long and says that it has {head.size_bytes}, so it was cut off or "
            "something was added. Name another backup; the store is as it was."
        )


@contextmanager
def _of_a_backup() -> Generator[None]:
    """What is said of a store, said of a file that a person has named as a backup."""
    try:
        yield
    except StoreRefusal as refusal:
        sentence = str(refusal).replace("no store of Waybread", "no backup of one of Waybread's stores")
        sentence = sentence.replace("`waybread restore` the newest backup that is whole, or name another file", _OTHER)
        raise StoreRefusal(sentence.replace("name another file", _OTHER)) from refusal


def _no_backup(backup: Path) -> StoreRefusal:
    return StoreRefusal(f"{backup} is empty and no backup: {_OTHER}.")


def _refuse_later(old: apsw.Connection, new: Path, backup: Path) -> None:
    """A store that has gone on since its backup has given ids: it did not move. Raises `StoreRefusal`."""
    connection = connect(new, None)
    try:
        if not (version_of(old, new, len(migrations())) and origin(old) == origin(connection)):
            return
        before, now = _heads(connection), _heads(old)
    except apsw.CorruptError:
        # What cannot be read of the old store is no reason to keep it.
        return
    finally:
        close(connection)
    if any(head > before.get(device, 0) for device, head in now.items()):
        raise StoreRefusal(
            f"The store that is there has gone on since {backup} was made, so its sessions have given ids that a model may "
            "still know: restore it without --moved. The store is as it was."
        )


def _heads(connection: apsw.Connection) -> dict[int, int]:
    """Where the log of each device ends."""
    sql = (
        f"SELECT number, (SELECT max(id) FROM entry WHERE id BETWEEN device.number << {SEQ_BITS} AND "  # noqa: S608  # a number of our own
        f"(device.number + 1 << {SEQ_BITS}) - 1) FROM device"
    )
    return {device: seq_of(head) for device, head in run(connection.cursor(), sql)}


def _prepare(copy: Path, backup: Path, *, moved: bool, progress: Progress) -> tuple[str, int]:
    """Makes one file of the copy, checks it, gives it its epoch. It is what will be restored, to the byte."""
    connection = connect(copy, None)
    try:
        cursor = connection.cursor()
        run(cursor, "PRAGMA journal_mode = DELETE")
        with _of_a_backup():
            version = version_of(connection, backup, len(migrations()))
        if not version:
            raise _no_backup(backup)
        if fault := first_fault(connection, progress):
            raise StoreRefusal(
                f"{backup} has a fault, so nothing was restored ({fault}): name an older backup. The store is as it was."
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
            if has_checksums(connection):
                seal_epoch(cursor)
        epoch = str(value(cursor, "SELECT value FROM meta WHERE name = 'epoch'"))
        run(cursor, "COMMIT")
        return epoch, version
    finally:
        close(connection)
