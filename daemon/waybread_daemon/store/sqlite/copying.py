"""Files made beside their place: written under another name, synced, then renamed into it whole."""

from __future__ import annotations

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

_DRAFT = re.compile(r".+\.[0-9a-f]{12}\.waybread-tmp(-journal|-wal|-shm)?")
_STALE_S = 3600
_SPARE_BYTES = 16 * 1024 * 1024
_PIECE_BYTES = 4 * 1024 * 1024


def no_progress(_what: str, _done: int, _all: int) -> None:
    """For whoever does not look."""


@contextmanager
def draft(target: Path) -> Generator[Path]:
    """A new empty file beside `target`, for its owner alone. What is still under its name at the end is taken away."""
    sweep(target.parent)
    path = target.with_name(f"{target.name}.{secrets.token_hex(6)}.waybread-tmp")
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    try:
        yield path
    finally:
        remove(path)


def remove(path: Path) -> None:
    """Takes a database away, with what lies beside it."""
    for suffix in ("", *SIDE_FILES):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def leftovers(folder: Path) -> list[Path]:
    """Files that a command which was killed left half made: nothing has been written to them for an hour."""
    stale: list[Path] = []
    for file in sorted(folder.iterdir()):
        try:
            if _DRAFT.fullmatch(file.name) and time.time() - file.lstat().st_mtime > _STALE_S:
                stale.append(file)
        except FileNotFoundError:
            continue
    return stale


def sweep(folder: Path) -> list[Path]:
    """Takes such files away, and tells which."""
    stale = leftovers(folder)
    for file in stale:
        file.unlink(missing_ok=True)
    return stale


def need_room(folder: Path, size_bytes: int, what: str) -> None:
    """Refuses to begin what would not fit. Raises `StoreRefusal`."""
    free = shutil.disk_usage(folder).free
    if free < size_bytes + _SPARE_BYTES:
        raise StoreRefusal(
            f"There is no room for {what}: it takes {in_words(size_bytes + _SPARE_BYTES)} on the disk of {folder}, and "
            f"{in_words(free)} are free there. Free some space first; nothing was changed."
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
