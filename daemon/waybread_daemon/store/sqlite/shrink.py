"""The file is cut to what it holds: free pages are given back to the file system, some at a time.

SQLite keeps pages that hold nothing for later. A store's file is made so that they can be taken out of it: the last pages
move to free places (`incremental_vacuum`), each step a transaction of its own between records; the file is cut with the
next checkpoint, and the log with it.
"""

from __future__ import annotations

import apsw

from waybread_daemon.store.sqlite.statements import run, value

STEP_PAGES = 256
"""1 MiB: about as long as a step of purging."""


class Shrink:
    """Gives free pages back, for the thread that writes."""

    def __init__(self) -> None:
        self._due = False

    def load(self, connection: apsw.Connection) -> None:
        """Finds what an earlier process left."""
        self._due = bool(value(connection.cursor(), "PRAGMA freelist_count"))

    def pages_freed(self) -> None:
        """There may be free pages now."""
        self._due = True

    def due(self) -> bool:
        """Whether there may be any."""
        return self._due

    def step(self, connection: apsw.Connection) -> bool:
        """One step, a transaction of its own; whether the file has become shorter. Raises what SQLite raises."""
        cursor = connection.cursor()
        before = value(cursor, "PRAGMA freelist_count")
        if before:
            run(cursor, "BEGIN IMMEDIATE")
            run(cursor, f"PRAGMA incremental_vacuum({STEP_PAGES})")
            run(cursor, "COMMIT")
        after = value(cursor, "PRAGMA freelist_count")
        # Where nothing moves there is nothing more to do.
        self._due = 0 < after < before
        return bool(after < before)
