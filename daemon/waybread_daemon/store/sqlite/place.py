"""Where a store lives: its folder, its file's permissions, and the lock that lets one daemon at a time write its log."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from waybread_daemon.store.contract import StoreRefusal


def make_place(path: Path) -> None:
    """Makes the folder and the file, both for their owner alone. SQLite gives its log the file's permissions.

    Raises `StoreRefusal`, with the command that would help.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise StoreRefusal(_refusal(path, error)) from error


def hold_place(path: Path) -> int:
    """Locks the store for this process and gives the lock's descriptor: closing it, or the process's end, unlocks.

    The lock is a file of its own, because closing any descriptor of a database's file drops SQLite's locks on it.
    Raises `StoreRefusal` where another process serves the store.
    """
    lock = path.with_name(path.name + ".lock")
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StoreRefusal(_refusal(lock, error)) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        raise StoreRefusal(f"Another Waybread serves the store at {path}: stop it, or name another file.") from error
    return descriptor


def _refusal(path: Path, error: OSError) -> str:
    sentence = f"The store's file {path} cannot be opened for writing: {error.strerror}."
    if not isinstance(error, PermissionError):
        return sentence
    owner = next((folder.stat().st_uid for folder in path.parents if folder.exists()), None)
    user, group = os.geteuid(), os.getegid()
    return (
        f"{sentence} The folder belongs to user {owner} and this process runs as user {user}: "
        f"run `chown -R {user}:{group} {path.parent}` as root, or name another file."
    )
