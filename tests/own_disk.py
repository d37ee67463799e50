"""`waybread serve` on a disk of a test's own, for programs in which the disk hangs or fails."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import apsw

from waybread_daemon.store.sqlite import SqliteStore

_VFS = "own"


class DiskFile(apsw.VFSFile):
    """A file on such a disk. What goes wrong with it depends on what is in the folder `data`."""

    def __init__(self, data: Path, name: Any, flags: Any) -> None:
        self.data = data
        super().__init__("", name, flags)


class _Disk(apsw.VFS):
    def __init__(self, data: Path, kind: type[DiskFile]) -> None:
        self._data = data
        self._kind = kind
        super().__init__(_VFS, "")

    def xOpen(self, name: Any, flags: Any) -> apsw.VFSFile:  # noqa: N802  # SQLite's own names
        return self._kind(self._data, name, flags)


@contextmanager
def disk_of(kind: type[DiskFile], data: Path) -> Generator[None]:
    """Until the end of the block every store that is opened is on a disk with files of this kind."""
    disk = _Disk(data, kind)
    open_store = SqliteStore.open

    def opened(path: Path, *, vfs: str | None = None, **rest: Any) -> SqliteStore:
        return open_store(path, vfs=vfs or _VFS, **rest)

    with mock.patch.object(SqliteStore, "open", opened):
        yield
    # Until here SQLite calls it.
    del disk
