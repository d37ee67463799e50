"""A disk that fails when a test says so: a layer of SQLite's between it and the real one."""

from __future__ import annotations

import errno
import os
import threading
from collections import Counter
from typing import Any, Literal, cast, get_args

import apsw
import msgspec

Call = Literal["open", "read", "write", "sync", "truncate", "size", "delete"]
Way = Literal["EIO", "ENOSPC", "short"]
"""An I/O error; no room; or half of the data and then no room, as a disk that fills up in the middle of a write."""
File = Literal["database", "log", "journal", "any"]

CALLS = get_args(Call)

_EXACT = {
    "open": apsw.SQLITE_CANTOPEN,
    "read": apsw.SQLITE_IOERR_READ,
    "write": apsw.SQLITE_IOERR_WRITE,
    "sync": apsw.SQLITE_IOERR_FSYNC,
    "truncate": apsw.SQLITE_IOERR_TRUNCATE,
    "size": apsw.SQLITE_IOERR_FSTAT,
    "delete": apsw.SQLITE_IOERR_DELETE,
}


class Fault(msgspec.Struct, frozen=True):
    """What fails: calls of some kinds on some file, from the `at`th of them (from 1) on, `count` of them (0: all)."""

    calls: tuple[Call, ...]
    way: Way = "EIO"
    at: int = 1
    count: int = 0
    file: File = "any"


class Disk(apsw.VFS):
    """Passes everything on, and counts, until it is told to fail."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.counts: Counter[str] = Counter()
        """Calls of each kind since the last `fail` or `mend`."""
        self.failed = 0
        """How many calls have failed since then."""
        self.logs_held = 0
        """How many connections have the log open."""
        self._fault: Fault | None = None
        self._matched = 0
        self._lock = threading.Lock()
        super().__init__(name, "")

    def fail(self, fault: Fault) -> None:
        """From now on there is this fault."""
        with self._lock:
            self._fault = fault
            self._matched = self.failed = 0
            self.counts.clear()

    def mend(self) -> None:
        """Nothing fails any more. `failed` still says how many calls did."""
        with self._lock:
            self._fault = None
            self.counts.clear()

    def call(self, call: Call, file: str) -> Way | None:
        """Counts a call, and says how it is to fail."""
        with self._lock:
            self.counts[call] += 1
            fault = self._fault
            if fault is None or call not in fault.calls or fault.file not in ("any", file):
                return None
            self._matched += 1
            if self._matched < fault.at or (fault.count and self._matched >= fault.at + fault.count):
                return None
            self.failed += 1
            return fault.way

    def xOpen(self, name: Any, flags: Any) -> apsw.VFSFile:  # noqa: N802  # SQLite's own names
        path = str(name.filename()) if isinstance(name, apsw.URIFilename) else str(name or "")
        file = _file_of(path)
        if way := self.call("open", file):
            raise _error("open", way)
        opened = DiskFile(self, name, flags, file)
        self._hold(file, 1)
        return opened

    def _hold(self, file: str, more: int) -> None:
        if file == "log":
            with self._lock:
                self.logs_held += more

    def closed(self, file: str) -> None:
        """A file was closed."""
        self._hold(file, -1)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        if way := self.call("delete", _file_of(filename)):
            raise _error("delete", way)
        super().xDelete(filename, syncdir)


class DiskFile(apsw.VFSFile):
    """A file on that disk."""

    def __init__(self, disk: Disk, name: Any, flags: Any, file: str) -> None:
        self._disk = disk
        self._file = file
        super().__init__("", name, flags)

    def xClose(self) -> None:  # noqa: N802
        super().xClose()
        self._disk.closed(self._file)

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802
        if way := self._disk.call("read", self._file):
            raise _error("read", way)
        return super().xRead(amount, offset)

    def xWrite(self, data: Any, offset: int) -> None:  # noqa: N802
        # The types that come with apsw name one that Python 3.11 has not.
        file: Any = super()
        way = self._disk.call("write", self._file)
        if way == "short":
            file.xWrite(bytes(data)[: len(data) // 2], offset)
        if way:
            raise _error("write", way)
        file.xWrite(data, offset)

    def xSync(self, flags: int) -> None:  # noqa: ARG002, N802
        """The real disk is not synced: no power fails here, and hundreds of courses wait for nothing."""
        if way := self._disk.call("sync", self._file):
            raise _error("sync", way)

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        if way := self._disk.call("truncate", self._file):
            raise _error("truncate", way)
        super().xTruncate(newsize)

    def xFileSize(self) -> int:  # noqa: N802
        if way := self._disk.call("size", self._file):
            raise _error("size", way)
        return super().xFileSize()


def _error(call: Call, way: Way) -> Exception:
    if call == "write" and way != "EIO":
        return apsw.FullError(os.strerror(errno.ENOSPC))
    # The types that come with apsw say nothing of what SQLite reads off an error.
    error: Any = apsw.CantOpenError("broken") if call == "open" else apsw.IOError("broken")
    # Without the exact code SQLite takes a sync that failed for one that was never asked for.
    error.extendedresult = _EXACT[call]
    return cast("Exception", error)


def _file_of(path: str) -> str:
    if path.endswith("-wal"):
        return "log"
    return "journal" if path.endswith("-journal") else "database"
