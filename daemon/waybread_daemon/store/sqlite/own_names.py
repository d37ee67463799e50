"""Files that a backup must never take the place of: those of a store, whoever serves it and whatever name leads there."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from waybread_daemon.store.contract import StoreRefusal
from waybread_daemon.store.sqlite.heads import read_head
from waybread_daemon.store.sqlite.place import SIDE_FILES

_BESIDE = (*SIDE_FILES, ".lock")


def refuse_own(path: Path, target: Path, *, is_backup: bool) -> None:
    """Refuses a place for a backup of the store at `path` that is a store's own. `is_backup`: a backup is there already.

    Raises `StoreRefusal`, and `OSError`.
    """
    there = _kind(target)
    if there is not None and not stat.S_ISREG(there.st_mode):
        raise StoreRefusal(
            f"{target} is {'a link' if stat.S_ISLNK(there.st_mode) else 'no regular file'}, which no backup can replace: give "
            "another name, or name a folder."
        )
    folder = path.parent
    if _same(target.parent, folder):
        # `waybread.…` is what the store, its log, its lock, the settings and the socket are called.
        if target.name.startswith(f"{path.name.partition('.')[0]}.") or target.name == path.name:
            raise _own(target, folder)
        if there is not None and not is_backup:
            raise StoreRefusal(
                f"{target} is in the data folder and no backup that `waybread backup` made: give another name, or remove it "
                "yourself."
            )
    for suffix in _BESIDE:
        if target.name.endswith(suffix) and target.with_name(target.name.removesuffix(suffix)).exists():
            raise StoreRefusal(f"{target} belongs to the database beside it, as its name says: give another name.")
    if there is None:
        return
    if any(_same(target, file) for file in folder.iterdir()) and not _same(target.parent, folder):
        raise _own(target, folder)
    if not is_backup and _is_store(target):
        raise StoreRefusal(
            f"{target} is a store and no backup that `waybread backup` made, so it is not replaced: give another name, or "
            "remove it yourself."
        )


def _own(target: Path, folder: Path) -> StoreRefusal:
    return StoreRefusal(
        f"{target} is the store's own file, or named like one, in {folder}: give another name, in another folder if you can."
    )


def _kind(path: Path) -> os.stat_result | None:
    try:
        return path.lstat()
    except FileNotFoundError:
        return None


def _same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except FileNotFoundError:
        return False


def _is_store(path: Path) -> bool:
    try:
        head = read_head(path)
    except StoreRefusal:
        return False
    return head is not None and head.is_ours
