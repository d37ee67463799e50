"""A thread that copies the write-ahead log into the database, so that no commit has to.

It never waits for readers nor makes the writer wait. While it copies, the writer goes on, so it never quite catches up
under load; right after it the writer copies the little that is left and starts the log over. A log that starts over in
time is written over and not made longer, and where the file need not grow a commit takes half as long.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

import apsw

from waybread_daemon.store.sqlite.connection import close

PAGES_BETWEEN = 2000
"""About 8 MiB: half of it halved the rate of 64 busy sessions. A start after a crash reads about twice as much."""


class LogKeeper:
    """Checkpoints on a connection of its own. `note` and `ready` are for the writer; the rest is the thread's affair."""

    def __init__(self, connect: Callable[[], apsw.Connection]) -> None:
        self._connect = connect
        self._wake = threading.Event()
        self._stopping = False
        self.cutting = False
        """The log shall be cut to nothing: what was purged is to leave the disk."""
        self._noted_pages = 0
        self.ready = False
        """The writer shall start the log over: little is left to copy."""
        self._thread = threading.Thread(target=self._run, name="store-checkpoints", daemon=True)

    def start(self) -> None:
        """Starts the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Lets the thread end and waits for it."""
        self._stopping = True
        self._wake.set()
        self._thread.join()

    def note(self, connection: apsw.Connection) -> None:
        """Looks how much the writer's connection has written, for use after each commit.

        SQLite's hook for this would be called within each commit.
        """
        pages = connection.status(apsw.SQLITE_DBSTATUS_CACHE_WRITE)[0]
        # A new connection counts from 0.
        if not 0 <= pages - self._noted_pages < PAGES_BETWEEN:
            self._noted_pages = pages
            self.check()

    def check(self) -> None:
        """Checkpoints soon."""
        self._wake.set()

    def cut(self) -> None:
        """Copies the log soon, however short it is, and lets the writer cut it."""
        self.cutting = True
        self._wake.set()

    def _run(self) -> None:
        connection: apsw.Connection | None = None
        while True:
            self._wake.wait()
            self._wake.clear()
            if self._stopping:
                break
            try:
                if connection is None:
                    connection = self._connect()
                log_pages, _ = connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
                self.ready = self.cutting or log_pages >= PAGES_BETWEEN
            except apsw.Error:
                # Nothing is lost by it: the log keeps all. The next one tries again, on a fresh connection.
                if connection is not None:
                    close(connection)
                connection = None
        if connection is not None:
            close(connection)


def start_over(connection: apsw.Connection, busy_timeout_ms: int, *, cut: bool = False) -> bool:
    """Copies what is left of the log and starts it over; gives whether no reader was in the way at this moment.

    `cut`: the log's file is made empty, too.
    """
    connection.set_busy_timeout(0)
    try:
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE if cut else apsw.SQLITE_CHECKPOINT_RESTART)
    except apsw.BusyError:
        return False
    finally:
        connection.set_busy_timeout(busy_timeout_ms)
    return True
