"""Where a store lives: its folder, its file's permissions, and the lock that lets one daemon at a time write its log."""

from __future__ import annotations

import errno
import fcntl
import os
import pwd
import stat
from pathlib import Path

from waybread_daemon.store.contract import StoreRefusal
from waybread_daemon.store.sqlite.heads import read_head, refuse_head
from waybread_daemon.store.sqlite.mounts import file_system, is_network
from waybread_daemon.store.sqlite.schema import migrations

SIDE_FILES = ("-journal", "-wal", "-shm")
"""What SQLite keeps beside a database's file."""

_CONTAINER_MARKS = (Path("/.dockerenv"), Path("/run/.containerenv"), Path("/run/host/container-manager"))
_UID_MAP, _GID_MAP = Path("/proc/self/uid_map"), Path("/proc/self/gid_map")


def examine_place(path: Path, *, to_look: bool = False) -> None:
    """Refuses a place where no store of ours can be, before anything is made or touched there. `to_look`: for a command that
    changes nothing, which a disk that takes no writes does not keep from it.

    Raises `StoreRefusal`: one sentence, with the command that helps.
    """
    try:
        examine_folder(path, to_look=to_look)
        head = read_head(path) if path.exists() else None
    except OSError as error:
        raise _refusal(path, error) from error
    if head is not None:
        refuse_head(path, head, len(migrations()))


def examine_folder(path: Path, *, to_look: bool = False) -> None:
    """The same, whatever the store's file holds. Raises `StoreRefusal`, and `OSError` for what cannot be looked at."""
    to_look = to_look and is_read_only(path.parent)
    _examine_folder(path.parent, to_look=to_look)
    _examine_files(path, to_look=to_look)


def is_read_only(folder: Path) -> bool:
    """Whether a folder is on a disk that is mounted read-only. Raises no fault: of one that is not there nothing is known."""
    try:
        return bool(os.statvfs(folder).f_flag & os.ST_RDONLY)
    except OSError:
        return False


def make_folder(path: Path) -> None:
    """Makes the folder of a store, for its owner alone, where there is none. Raises `StoreRefusal`."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise _refusal(path, error) from error


def make_place(path: Path) -> None:
    """Makes the folder and the file, both for their owner alone. SQLite gives its log the file's permissions.

    Raises `StoreRefusal`, with the command that would help; nothing is touched then.
    """
    examine_place(path)
    make_folder(path)
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise _refusal(path, error) from error


def hold_place(path: Path) -> int:
    """Locks the store for this process and gives the lock's descriptor: closing it, or the process's end, unlocks.

    The lock is a file of its own, because closing any descriptor of a database's file drops SQLite's locks on it.
    Raises `StoreRefusal` where another process serves the store.
    """
    lock = lock_file(path)
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise _refusal(lock, error) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        raise StoreRefusal(f"Another Waybread serves the store at {path}: stop it, or name another file.") from error
    return descriptor


def is_held(path: Path) -> bool:
    """Whether a daemon serves the store, or a command has it for itself. Makes no file."""
    try:
        descriptor = os.open(lock_file(path), os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def lock_file(path: Path) -> Path:
    """The file that a daemon locks while it serves the store at `path`."""
    return path.with_name(path.name + ".lock")


def _examine_folder(folder: Path, *, to_look: bool) -> None:
    kind = file_system(folder)
    if is_network(kind):
        raise StoreRefusal(
            f"{folder} lies on a network file system ({kind}), where a database's locks and shared memory do not hold and "
            "a store can be lost: put it on a disk of this machine (`waybread backup` can copy it to the network), or name "
            "another file."
        )
    try:
        there = folder.stat()
    except FileNotFoundError:
        if folder.is_symlink():
            raise StoreRefusal(
                f"{folder} is a link to a folder that is not there: make that one (is its disk mounted?), or name "
                "another file."
            ) from None
        return
    if not stat.S_ISDIR(there.st_mode):
        raise StoreRefusal(f"{folder} is no folder: move that file away, or name another file.")
    if is_read_only(folder) and not to_look:
        raise StoreRefusal(
            f"{folder} is on a disk that is mounted read-only: mount it for writing, or name another file. Commands that only "
            "look still work, and `waybread backup` does."
        )
    # What cannot be written cannot be spoiled for its owner either.
    if (_is_foreign(there) and not to_look) or not os.access(folder, os.R_OK | os.X_OK | (0 if to_look else os.W_OK)):
        raise foreign(folder, folder, there.st_uid)


def _examine_files(path: Path, *, to_look: bool) -> None:
    may = os.R_OK if to_look else os.R_OK | os.W_OK
    for file in (path, *(path.with_name(path.name + suffix) for suffix in SIDE_FILES), lock_file(path)):
        try:
            there = file.lstat()
        except FileNotFoundError:
            continue
        if stat.S_ISLNK(there.st_mode):
            raise StoreRefusal(
                f"{file} is a link, and a store's log lies beside its own file: name the folder that it leads to, or name "
                "another file."
            )
        if not stat.S_ISREG(there.st_mode):
            raise StoreRefusal(f"{file} is no file: move it away, or name another file.")
        if (_is_foreign(there) and not to_look) or not _is_open_to_us(file, may):
            raise foreign(file, path.parent, there.st_uid)


def _is_open_to_us(file: Path, may: int) -> bool:
    """Whether a file can be read and written, or is there no more: the journal of another process comes and goes."""
    return os.access(file, may) or not file.exists() or os.access(file, may)


def _is_foreign(there: os.stat_result) -> bool:
    # Root's own folder, lent to a group, is what volumes of containers often are.
    user = os.geteuid()
    return there.st_uid not in (user, 0 if user else user)


def foreign(what: Path, folder: Path, owner: int) -> StoreRefusal:
    """Why a place of another user is refused, with the exact command that gives it to this process's user."""
    user, group = os.geteuid(), os.getegid()
    whose = f"{what} belongs to {_named(owner)} and this process runs as {_named(user)}"
    if owner == user:
        return StoreRefusal(
            f"{what} belongs to this process's user, who may not write there: run `chmod -R u+rwX {folder}`, "
            "or name another file."
        )
    if user == 0:
        return StoreRefusal(
            f"{whose}, whose files that user could not open: run this as {_named(owner)} "
            f"(`sudo -u '#{owner}' …`), or `chown -R 0:0 {folder}` if the store is to be root's, or name another file."
        )
    if any(mark.exists() for mark in _CONTAINER_MARKS):
        ids = f"{_outside(user, _UID_MAP)}:{_outside(group, _GID_MAP)}"
        return StoreRefusal(
            f"{whose}. In a container that folder is a volume: run `chown -R {ids} FOLDER` as root on the host, where "
            f"FOLDER is what is mounted at {folder}, or name another file."
        )
    return StoreRefusal(f"{whose}: run `chown -R {user}:{group} {folder}` as root, or name another file.")


def _outside(number: int, table: Path) -> int:
    """A user or group of this container as the host counts it."""
    try:
        rows = [tuple(map(int, line.split())) for line in table.read_text("utf-8").splitlines()]
    except (OSError, ValueError):
        return number
    return next((out + number - inner for inner, out, count in rows if inner <= number < inner + count), number)


def _named(user: int) -> str:
    try:
        return f"user {pwd.getpwuid(user).pw_name} ({user})"
    except KeyError:
        return f"user {user}"


def _refusal(path: Path, error: OSError) -> StoreRefusal:
    folder = path.parent
    if error.errno in (errno.EACCES, errno.EPERM):
        user, group = os.geteuid(), os.getegid()
        try:
            return foreign(folder, folder, folder.stat().st_uid)
        except FileNotFoundError:
            # Never a `chown` of what lies above: that folder is others', too.
            help_ = f"run `install -d -o {user} -g {group} -m 700 {folder}` as root"
        except OSError:
            help_ = "let that user search the folders above it"
        return StoreRefusal(
            f"{folder} cannot be made or reached by {_named(user)} ({error.strerror}): {help_}, or name another file."
        )
    if error.errno in (errno.ENOTDIR, errno.EEXIST):
        return StoreRefusal(
            f"{folder} cannot be a folder, because a file is in its way: move it, or name another file."
        )
    return StoreRefusal(
        f"The store's file {path} cannot be opened for writing ({error.strerror}): look at its folder, or name another file."
    )
