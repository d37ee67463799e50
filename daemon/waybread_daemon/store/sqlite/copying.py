"""Files made beside their place: written under another name, synced, then renamed into it whole.

Beside each lies a file that its maker keeps locked, so that whoever comes later knows whether it is still being made. It is a
file of its own, because SQLite's locks and others on one file get in each other's way on network file systems.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import secrets
import shutil
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from waybread_daemon.store.contract import StoreRefusal
from waybread_daemon.store.sqlite.place import SIDE_FILES

Progress = Callable[[str, int, int], None]
"""Hears what is being done, how much of it is done, and how much there is (0: nobody knows)."""

_DRAFT = re.compile(r"(.+\.[0-9a-f]{12}\.waybread-tmp)(-journal|-wal|-shm|-lock)?")
_LOCK = "-lock"
_PARTS = ("", "-wal", "-journal")
_NO_LOCKS = frozenset({errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL})
_STALE_S = 3600
_SPARE_BYTES = 16 * 1024 * 1024
_PIECE_BYTES = 4 * 1024 * 1024


def no_progress(_what: str, _done: int, _all: int) -> None:
    """For whoever does not look."""


@contextmanager
def draft(target: Path) -> Generator[Path]:
    """A new empty file beside `target`, for its owner alone. What is still under its name at the end is taken away."""
    sweep(target.parent)
    path, lock = _claimed(target)
    try:
        os.close(_made(path, target))
        yield path
    finally:
        # The lock last: what lies there without one is nobody's.
        remove(path)
        path.with_name(path.name + _LOCK).unlink(missing_ok=True)
        os.close(lock)


def _claimed(target: Path) -> tuple[Path, int]:
    """A name for a draft, and the descriptor of its lock."""
    while True:
        path = target.with_name(f"{target.name}.{secrets.token_hex(6)}.waybread-tmp")
        file = path.with_name(path.name + _LOCK)
        lock = _made(file, target)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in _NO_LOCKS:
                return path, lock
        # Whoever sweeps may have taken it away before it was locked.
        if file.exists() and os.fstat(lock).st_nlink:
            return path, lock
        os.close(lock)


def _made(path: Path, target: Path) -> int:
    """A new file. Raises `StoreRefusal`, which names what the person knows of."""
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StoreRefusal(
            f"No file can be made in {target.parent} ({error.strerror}): look at its permissions and its disk, or choose "
            "another folder."
        ) from error


def remove(path: Path) -> None:
    """Takes a database away, with what lies beside it."""
    for suffix in ("", *SIDE_FILES):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def leftovers(folder: Path) -> list[Path]:
    """Files that a command which was killed left half made."""
    drafts = [(file, match[1]) for file in sorted(folder.iterdir()) if (match := _DRAFT.fullmatch(file.name))]
    dead = {name for name in dict.fromkeys(name for _, name in drafts) if _is_dead(folder / name)}
    return [file for file, name in drafts if name in dead]


def _is_dead(draft: Path) -> bool:
    """Whether nobody makes it any more. Where locks do not work: whether it was not written to for an hour."""
    lock = draft.with_name(draft.name + _LOCK)
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            return False
        newest_s = max((file.lstat().st_mtime for file in (draft, lock) if file.exists()), default=0.0)
        return time.time() - newest_s > _STALE_S
    finally:
        os.close(descriptor)
    return True


def sweep(folder: Path) -> list[Path]:
    """Takes such files away, and tells which."""
    stale = leftovers(folder)
    swept: list[Path] = []
    for file in stale:
        try:
            file.unlink(missing_ok=True)
        except OSError:
            # Another user's: nothing is lost but room.
            continue
        swept.append(file)
    return swept


def need_room(folder: Path, size_bytes: int, what: str) -> None:
    """Refuses to begin what would not fit. Raises `StoreRefusal`."""
    free = shutil.disk_usage(folder).free
    if free < size_bytes + _SPARE_BYTES:
        raise StoreRefusal(
            f"There is no room for {what}: it takes {in_words(size_bytes)}, of the disk of {folder} {in_words(free)} are "
            f"free, and {in_words(_SPARE_BYTES)} must stay so. Free some space first; nothing was changed."
        )


def in_words(size_bytes: int) -> str:
    """A size as a person reads it."""
    size, unit = float(size_bytes), "bytes"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if size < 1024:
            break
        size, unit = size / 1024, larger
    return f"{size_bytes} bytes" if unit == "bytes" else f"{size:.1f} {unit}"


def copy_bytes(source: Path, target: Path, progress: Progress = no_progress) -> None:
    """Copies a file's bytes into one that is there."""
    size, done = source.stat().st_size, 0
    with source.open("rb") as reading, target.open("r+b") as writing:
        while piece := reading.read(_PIECE_BYTES):
            writing.write(piece)
            done += len(piece)
            progress("copying", done, size)


def parts_of(path: Path) -> list[Path]:
    """The files that a database is in: its own, and the logs beside it that have something in them.

    One that nobody closed, or that was copied by hand, has its last transactions in a log.
    """
    beside = [path.with_name(path.name + suffix) for suffix in _PARTS]
    return [file for file in beside if file.exists() and file.stat().st_size]


def copy_parts(source: Path, target: Path, progress: Progress = no_progress) -> None:
    """Copies a database with its logs, for the owner of the copy alone."""
    for file in parts_of(source):
        copy = target.with_name(target.name + file.name.removeprefix(source.name))
        copy.touch(0o600)
        copy_bytes(file, copy, progress)


def sync_file(path: Path) -> None:
    """Waits until the disk has the file."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_folder(folder: Path) -> None:
    """Waits until the disk has the names in a folder."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
