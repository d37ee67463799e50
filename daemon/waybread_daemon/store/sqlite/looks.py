"""Threads that look: each has a connection of its own, so that looks wait for nothing that is written."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import apsw

from waybread_daemon.store.contract import Reader
from waybread_daemon.store.sizes import Volume
from waybread_daemon.store.sqlite.faults import fault_of
from waybread_daemon.store.sqlite.reader import SqliteReader

T = TypeVar("T")


class Looks:
    """A few threads for looks."""

    def __init__(self, path: Path, connect: Callable[[], apsw.Connection], threads: int = 2) -> None:
        self._path = path
        self._connect = connect
        self._threads = ThreadPoolExecutor(threads, "store-look")
        self._local = threading.local()
        self._readers: set[SqliteReader] = set()

    def look(self, read: Callable[[Reader], T]) -> asyncio.Future[T]:
        """Runs `read` in a thread against a snapshot. Called in the event loop. Raises what it raises, or `StoreFault`."""
        return asyncio.get_running_loop().run_in_executor(self._threads, self._look, read)

    def volume(self) -> asyncio.Future[Volume]:
        """Looks at the file system, in a thread: one that hangs must hold up nobody else. Raises `StoreFault`."""
        return asyncio.get_running_loop().run_in_executor(self._threads, self._volume)

    def close(self) -> None:
        """Waits for the looks under way and lets go of the file. Not in the event loop."""
        self._threads.shutdown()
        for reader in self._readers:
            reader.close()
        self._readers.clear()

    def _look(self, read: Callable[[Reader], T]) -> T:
        try:
            reader: SqliteReader | None = getattr(self._local, "reader", None)
            if reader is None:
                reader = self._local.reader = SqliteReader(self._connect())
                self._readers.add(reader)
            with reader.snapshot():
                return read(reader)
        except apsw.Error as error:
            # A connection that met a fault of the disk may not know it when the fault ends: the next look has a new one.
            raise fault_of(error, self._path, self._forget()) from error

    def _volume(self) -> Volume:
        try:
            disk = os.statvfs(self._path)
        except OSError as error:
            raise fault_of(error, self._path) from error
        return Volume(disk.f_bavail * disk.f_frsize, disk.f_blocks * disk.f_frsize)

    def _forget(self) -> int:
        reader: SqliteReader | None = getattr(self._local, "reader", None)
        if reader is None:
            return 0
        self._local.reader = None
        self._readers.discard(reader)
        return reader.close()
