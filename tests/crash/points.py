"""Points at which a daemon dies: a layer between SQLite and the disk that ends its own process at a named call.

It stands in a test's own launcher and nowhere in the product. What it can lose besides the process is what the disk had
not been told to keep: a power cut, where SIGKILL alone leaves all that was written to the system.
"""

from __future__ import annotations

import os
import signal
import threading
from collections import Counter
from typing import Any, Literal

import apsw
import msgspec

from tests.crash.unsynced import Unsynced

When = Literal["before", "amid", "after"]
Loses = Literal["nothing", "all", "some"]

NEVER = ""
ANY = "any"
"""The nth call of whatever kind, before it is carried out."""
KINDS = [
    *(f"{when} write {file}" for when in ("before", "amid", "after") for file in ("log", "database")),
    *(
        f"{when} {call} {file}"
        for when in ("before", "after")
        for call in ("sync", "truncate")
        for file in ("log", "database")
    ),
    "before checkpoint database",
    "after checkpoint database",
]
"""Every kind of point: when, which call, on which file."""


class Point(msgspec.Struct, frozen=True):
    """Where to die: at the `at`th call of `kind`, counted from 1. `loses`: which of the unsynced writes are gone then."""

    kind: str = NEVER
    at: int = 0
    loses: Loses = "nothing"
    seed: int = 0


class DyingVFS(apsw.VFS):
    """Passes everything on to SQLite's own layer until the point is reached."""

    def __init__(self, name: str, point: Point) -> None:
        self.name = name
        self.unsynced = None if point.loses == "nothing" else Unsynced(point.seed, keep_some=point.loses == "some")
        self._point = point
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()
        super().__init__(name, "")

    def pass_by(self, when: When, call: str, file: str) -> bool:
        """Counts a point and dies if it is the one. True where the caller has to die half way through its call."""
        kind = f"{when} {call} {file}"
        with self._lock:
            self._counts[kind] += 1
            if when == "before":
                self._counts[ANY] += 1
            reached = self._counts[self._point.kind] == self._point.at and (
                self._point.kind == kind or (self._point.kind == ANY and when == "before")
            )
        if reached and when != "amid":
            self.die()
        return reached

    def die(self) -> None:
        """Ends the process as SIGKILL does, and says at which point."""
        if self.unsynced is not None:
            self.unsynced.lose()
        os.write(1, f"died {self._point.kind}\n".encode())
        os.kill(os.getpid(), signal.SIGKILL)

    def xOpen(self, name: Any, flags: Any) -> apsw.VFSFile:  # noqa: N802  # SQLite's own names
        return DyingFile(self, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        if self.unsynced is not None:
            self.unsynced.forget(filename)
        super().xDelete(filename, syncdir)


class DyingFile(apsw.VFSFile):
    """A file whose calls are points."""

    def __init__(self, vfs: DyingVFS, name: Any, flags: Any) -> None:
        self._vfs = vfs
        self._path = str(name.filename()) if isinstance(name, apsw.URIFilename) else str(name or "")
        self._file = _file_of(self._path)
        super().__init__("", name, flags)

    def xWrite(self, data: Any, offset: int) -> None:  # noqa: N802
        new = bytes(data)
        self._vfs.pass_by("before", "write", self._file)
        if self._vfs.pass_by("amid", "write", self._file):
            self._write(new[: len(new) // 2], offset)
            self._vfs.die()
        self._write(new, offset)
        self._vfs.pass_by("after", "write", self._file)

    def xSync(self, flags: int) -> None:  # noqa: N802
        self._vfs.pass_by("before", "sync", self._file)
        if self._vfs.unsynced is None:
            super().xSync(flags)
        else:
            with self._vfs.unsynced.syncing(self._path):
                super().xSync(flags)
        self._vfs.pass_by("after", "sync", self._file)

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        self._vfs.pass_by("before", "truncate", self._file)
        if self._vfs.unsynced is None:
            super().xTruncate(newsize)
        else:
            with self._vfs.unsynced.truncating(self._path, newsize):
                super().xTruncate(newsize)
        self._vfs.pass_by("after", "truncate", self._file)

    def xFileControl(self, op: int, ptr: int) -> bool:  # noqa: N802
        if op == apsw.SQLITE_FCNTL_CKPT_START:
            self._vfs.pass_by("before", "checkpoint", self._file)
        done = super().xFileControl(op, ptr)
        if op == apsw.SQLITE_FCNTL_CKPT_DONE:
            self._vfs.pass_by("after", "checkpoint", self._file)
        return done

    def _write(self, data: bytes, offset: int) -> None:
        # The types that come with apsw name one that Python 3.11 has not.
        file: Any = super()
        if self._vfs.unsynced is None:
            file.xWrite(data, offset)
        else:
            with self._vfs.unsynced.writing(self._path, data, offset):
                file.xWrite(data, offset)


def _file_of(path: str) -> str:
    if path.endswith("-wal"):
        return "log"
    return "journal" if path.endswith("-journal") else "database"
