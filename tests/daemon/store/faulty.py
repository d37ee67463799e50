"""A disk that can be broken: a VFS of SQLite that passes everything on until it is told to fail."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import apsw


class FaultyVFS(apsw.VFS):
    """Counts each kind of call (`open`, `write`, `sync`, `read`) and fails those it is told to."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.calls: list[str] = []
        self._failing: tuple[str, ...] = ()
        self._from_call = 0
        self._only_one = False
        self._full = False
        self.before: Callable[[str, str], None] = _nothing
        super().__init__(name, "")

    def fail(self, *kinds: str, full: bool = False, from_call: int = 0, only_one: bool = False) -> None:
        """From now on calls of these kinds fail: all, from the one with that number on, or that one alone."""
        self.calls.clear()
        self._failing, self._full, self._from_call, self._only_one = kinds, full, from_call, only_one

    def mend(self) -> None:
        """Nothing fails any more."""
        self._failing = ()

    def call(self, kind: str, file: str) -> None:
        """Raises, if that call is to fail."""
        self.before(kind, file)
        if kind not in self._failing:
            return
        self.calls.append(kind)
        at = len(self.calls) - 1
        if at == self._from_call if self._only_one else at >= self._from_call:
            raise self._error(kind)

    def _error(self, kind: str) -> BaseException:
        if self._full and kind == "write":
            return apsw.FullError("no room")
        error: Any = apsw.IOError("broken")
        # Without the exact code SQLite takes a sync that failed for one that was never asked for.
        error.extendedresult = {
            "open": apsw.SQLITE_IOERR_ACCESS,
            "read": apsw.SQLITE_IOERR_READ,
            "sync": apsw.SQLITE_IOERR_FSYNC,
            "write": apsw.SQLITE_IOERR_WRITE,
        }[kind]
        raised: BaseException = error
        return raised

    def xOpen(self, name: Any, flags: Any) -> apsw.VFSFile:  # noqa: N802 - SQLite's own names
        text = name.filename() if isinstance(name, apsw.URIFilename) else str(name or "")
        self.call("open", text)
        return FaultyFile(self, name, flags, text)


class FaultyFile(apsw.VFSFile):
    """A file on that disk."""

    def __init__(self, disk: FaultyVFS, name: Any, flags: Any, text: str) -> None:
        self._disk = disk
        self._text = text
        super().__init__("", name, flags)

    def xWrite(self, data: Any, offset: int) -> None:  # noqa: N802
        self._disk.call("write", self._text)
        # The types that come with apsw name one that Python 3.11 has not.
        write: Any = super()
        write.xWrite(data, offset)

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802
        self._disk.call("read", self._text)
        return super().xRead(amount, offset)

    def xSync(self, flags: int) -> None:  # noqa: N802
        self._disk.call("sync", self._text)
        super().xSync(flags)


def _nothing(_kind: str, _file: str) -> None:
    pass
