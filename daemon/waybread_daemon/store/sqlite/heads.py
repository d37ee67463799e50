"""What a file says of itself in its first bytes, read without opening it as a database: so nothing beside it is touched."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from waybread_daemon.store.contract import StoreRefusal

APPLICATION_ID = 0x57425244
"""Stands in the head of every store's file ("WBRD"), so that no other program's file is taken for one."""

_MAGIC = b"SQLite format 3\x00"
_HEAD_BYTES = 100


class Head(NamedTuple):
    """Whose file it is, and the version of its schema. The log beside it may hold newer ones."""

    application: int
    version: int
    size_bytes: int
    """What the file has to be long, where nothing of it is in a log; 0 where it does not say so."""

    @property
    def is_ours(self) -> bool:
        """Whether it says so. A store whose first transaction is still in the log does not."""
        return self.application == APPLICATION_ID


def refuse_head(path: Path, head: Head, newest: int) -> None:
    """Refuses a file that is no store which this program can open. Raises `StoreRefusal`."""
    if head.application and not head.is_ours:
        raise another_program(path)
    if head.is_ours and head.version > newest:
        raise newer(path, head.version, newest)
    # Both are written in one transaction.
    if head.is_ours and head.version < 1:
        raise no_version(path, head.version)


def read_head(path: Path) -> Head | None:
    """The head of a file, None where it is empty. Raises `StoreRefusal` where it is no database, and `OSError`."""
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    if not head:
        return None
    if len(head) < _HEAD_BYTES or not head.startswith(_MAGIC):
        raise no_database(path)
    page_bytes = int.from_bytes(head[16:18], "big")
    # The count of pages is good where whoever changed the file last has set it.
    pages = int.from_bytes(head[28:32], "big") if head[24:28] == head[92:96] else 0
    return Head(
        int.from_bytes(head[68:72], "big"),
        int.from_bytes(head[60:64], "big", signed=True),
        pages * (65_536 if page_bytes == 1 else page_bytes),
    )


def no_database(path: Path) -> StoreRefusal:
    """Why a file of another kind is refused."""
    return StoreRefusal(f"{path} is no database, so no store of Waybread: name another file.")


def another_program(path: Path) -> StoreRefusal:
    """Why a database of another program is refused."""
    return StoreRefusal(f"{path} is another program's database and not a store of Waybread: name another file.")


def newer(path: Path, version: int, newest: int) -> StoreRefusal:
    """Why a store of a later Waybread is refused."""
    return StoreRefusal(
        f"{path} was written by a newer Waybread (its schema is version {version}, this one knows up to {newest}): "
        "start the newer one, or name another file."
    )


def no_version(path: Path, version: int) -> StoreRefusal:
    """Why a store is refused that says of itself what no Waybread writes."""
    return StoreRefusal(
        f"{path} is damaged, as it says that its schema is version {version} and the first is 1: `waybread restore` the "
        "newest backup that is whole, or name another file."
    )


def older(path: Path, version: int, newest: int) -> StoreRefusal:
    """Why a command does not work on a store that is still to be migrated."""
    return StoreRefusal(
        f"{path} was written by an older Waybread (its schema is version {version}, this one's is {newest}): restart the "
        "daemon, which brings it up to date, or run `waybread migrate`."
    )
