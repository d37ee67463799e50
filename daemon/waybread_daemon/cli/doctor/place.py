"""The data folder: whose it is, who else may look into it, and what lies there that belongs to nobody."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from waybread_daemon.cli.doctor.findings import Finding, fault, ok, warning
from waybread_daemon.cli.screen import size
from waybread_daemon.config import FILE_NAME
from waybread_daemon.store.contract import StoreRefusal
from waybread_daemon.store.sqlite.copying import leftovers, sweep
from waybread_daemon.store.sqlite.mounts import file_system
from waybread_daemon.store.sqlite.place import examine_place, hold_place, is_held, is_read_only
from waybread_daemon.store.sqlite.swap import forget_second_names, old_stores

_CHECK = "data folder"
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def place_findings(path: Path) -> Iterator[Finding]:
    """What is to be said of the folder of the store at `path`. After a fault of `refused` nothing else should be tried."""
    folder = path.parent
    kind = file_system(folder)
    yield ok(_CHECK, f"{folder} is this user's own" + (f", on {kind}" if kind else ""))
    if is_read_only(folder):
        yield fault(
            _CHECK,
            f"{folder} is on a disk that is mounted read-only, so no daemon can serve it",
            "look whether the disk fails (`dmesg`), make a backup to another one with `waybread backup`, then mount it for "
            "writing",
        )
    yield from permission_findings(path)
    yield from _left_over(path)


def refused(path: Path) -> Finding | None:
    """Why no daemon can serve a store there, None where one can."""
    try:
        # On a disk that takes no writes there is still something to be looked at.
        examine_place(path, to_look=True)
    except StoreRefusal as refusal:
        sentence, _, remedy = str(refusal).partition(": ")
        return fault(_CHECK, sentence, remedy)
    if not path.parent.is_dir():
        return fault(
            _CHECK,
            f"{path.parent} is not there",
            "start the daemon, which makes it, or name another folder with --data",
        )
    return None


def permission_findings(path: Path) -> Iterator[Finding]:
    """Who else may look or write there: nothing where it is this user's alone, or is not there yet."""
    folder = path.parent
    if not folder.is_dir():
        return
    mode = stat.S_IMODE(folder.stat().st_mode)
    if mode & _OTHERS_WRITE:
        yield fault(
            _CHECK,
            f"{folder} lets others write (mode {mode:o}), so they can put another store in the place of yours",
            f"run `chmod 700 {folder}`",
            lambda: _tighten(folder, 0o700),
        )
    elif mode & _OTHERS:
        yield warning(
            _CHECK,
            f"{folder} lets others look which files it has (mode {mode:o})",
            f"run `chmod 700 {folder}`",
            lambda: _tighten(folder, 0o700),
        )
    for file in sorted(folder.glob(f"{path.name.partition('.')[0]}.*")):
        found = file.lstat()
        if stat.S_ISLNK(found.st_mode):
            continue
        if found.st_uid != os.geteuid():
            yield warning(
                _CHECK,
                f"{file} belongs to user {found.st_uid} and not to this process's, {os.geteuid()}",
                f"run `chown {os.geteuid()}:{os.getegid()} {file}` as root",
            )
        mode = stat.S_IMODE(found.st_mode)
        # Settings hold no secret; whoever may write them may open the daemon to others.
        if mode & (_OTHERS_WRITE if file.name == FILE_NAME else _OTHERS):
            yield fault(
                _CHECK,
                f"{file} is open to others (mode {mode:o})",
                f"run `chmod 600 {file}`",
                lambda file=file: _tighten(file, 0o600),  # type: ignore[misc]
            )


def _left_over(path: Path) -> Iterator[Finding]:
    folder = path.parent
    stale = leftovers(folder)
    if stale:
        names = ", ".join(file.name for file in stale)
        yield warning(
            _CHECK,
            f"commands that were killed left half-made files: {names}",
            f"remove them from {folder}",
            lambda: f"removed {len(sweep(folder))} half-made files",
        )
    if path.exists() and path.stat().st_nlink > 1:
        yield warning(
            _CHECK,
            "a restore or a migration was killed before its last step: a file that looks like an older store is the store",
            "start the daemon, which takes that second name away",
            lambda: _forget(path),
        )
    kept = old_stores(path)
    if kept and not stale:
        taken = sum(file.stat().st_size for file in kept)
        yield ok(
            _CHECK, f"{len(kept)} older stores are kept here and take {size(taken)}: remove those that you do not need"
        )


def _tighten(path: Path, mode: int) -> str:
    path.chmod(mode)
    return f"set the mode of {path} to {mode:o}"


def _forget(path: Path) -> str:
    if is_held(path):
        raise StoreRefusal("a daemon runs: it has taken the second name away, or will")
    lock = hold_place(path)
    try:
        forget_second_names(path)
    finally:
        os.close(lock)
    return "took the second name away"
