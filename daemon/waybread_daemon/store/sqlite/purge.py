"""What deleted sessions leave behind, taken away in small steps between records.

A step is one transaction of a few hundred rows or a few MiB, so that no record waits long behind it. What is still to be
purged can be seen in the file, so a restart goes on with it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import apsw

from waybread_daemon.store.sqlite.statements import ForRows, run, value

GRACE_MS = 60_000
"""How long content that nobody holds stays: a record on its way may name it by its hash alone."""

_SLICE_ROWS = 500
_SLICE_BYTES = 2 * 1024 * 1024
_SLICE_CHUNKS = 32
CHUNK_BITS = 20
"""A chunk's id is its content's number, shifted by this, and its place."""

# `length` of a column is told by the row's head: no payload is read for it.
_ENTRIES = (
    "SELECT v.entry, length(e.payload) FROM event AS v JOIN entry AS e ON e.id = v.entry "
    "WHERE v.session = ? AND v.entry < ? ORDER BY v.entry LIMIT ?"
)
_DELETE_ENTRIES = ForRows("DELETE FROM entry WHERE id IN (VALUES {rows})", 1)
_DELETE_KEYS = (
    "DELETE FROM entry_key WHERE session = ?1 "
    "AND key IN (SELECT key FROM entry_key WHERE session = ?1 LIMIT ?2) RETURNING 1"
)
_DELETE_TURNS = (
    "DELETE FROM turn WHERE session = ?1 AND name IN (SELECT name FROM turn WHERE session = ?1 LIMIT ?2) RETURNING 1"
)
_DELETE_CHUNKS = "DELETE FROM chunk WHERE id IN (SELECT id FROM chunk WHERE id >= ? AND id < ? LIMIT ?) RETURNING 1"
_LET_GO = (
    "UPDATE content SET state = 2 WHERE id = ?1 AND state = 1 "
    "AND NOT EXISTS (SELECT 1 FROM holding WHERE content = ?1) RETURNING id"
)


class Purge:
    """The work list, for the thread that writes. Every method that takes a connection needs no transaction open."""

    def __init__(self, clock_ms: Callable[[], int], grace_ms: int = GRACE_MS) -> None:
        self._clock_ms = clock_ms
        self._grace_ms = grace_ms
        self._sessions: deque[int] = deque()
        self._contents: deque[tuple[int, int]] = deque()

    def load(self, connection: apsw.Connection) -> None:
        """Finds what an earlier process left: no record is on its way, so nothing has to wait.

        For use before anything is staged: what is being staged now looks like what was left.
        """
        cursor = connection.cursor()
        self._sessions.extend(number for (number,) in run(cursor, "SELECT number FROM session WHERE state = 1"))
        self._contents.extend((0, number) for (number,) in run(cursor, "SELECT id FROM content WHERE state <> 1"))

    def session_deleted(self, session: int) -> None:
        """Puts a deleted session on the list."""
        self._sessions.append(session)

    def content_dropped(self, content: int) -> None:
        """Puts content on the list that was written ahead and that no record will take up."""
        self._contents.appendleft((0, content))

    def wait_ms(self) -> int | None:
        """How long until there is something to do: 0 for at once, None for nothing."""
        if self._sessions:
            return 0
        return max(0, self._contents[0][0] - self._clock_ms()) if self._contents else None

    def step(self, connection: apsw.Connection) -> None:
        """Does one step of what is due, in one transaction. Raises what SQLite raises; the list then is as before."""
        cursor = connection.cursor()
        if self._sessions:
            run(cursor, "BEGIN IMMEDIATE")
            done, loose = _purge_session(cursor, self._sessions[0])
            run(cursor, "COMMIT")
            due = self._clock_ms() + self._grace_ms
            self._contents.extend((due, content) for content in loose)
            if done:
                self._sessions.popleft()
        elif self.wait_ms() == 0:
            run(cursor, "BEGIN IMMEDIATE")
            done = _purge_content(cursor, self._contents[0][1])
            run(cursor, "COMMIT")
            if done:
                self._contents.popleft()


def _purge_session(cursor: apsw.Cursor, session: int) -> tuple[bool, list[int]]:
    """One step for a deleted session: whether that was all, and the contents that it was the last to hold."""
    if _purge_entries(cursor, session):
        return False, []
    if any(run(cursor, delete, session, _SLICE_ROWS) for delete in (_DELETE_KEYS, _DELETE_TURNS)):
        return False, []
    held = run(cursor, "SELECT content FROM holding WHERE session = ? LIMIT ?", session, _SLICE_ROWS)
    loose: list[int] = []
    for (content,) in held:
        run(cursor, "DELETE FROM holding WHERE content = ? AND session = ?", content, session)
        loose += [number for (number,) in run(cursor, _LET_GO, content)]
    if not held:
        run(cursor, "UPDATE session SET state = 2 WHERE number = ?", session)
    return not held, loose


def _purge_entries(cursor: apsw.Cursor, session: int) -> bool:
    """Deletes some of the session's entries, all but the `deleted` one: the log's end must never fall."""
    last = value(cursor, "SELECT max(entry) FROM event WHERE session = ?", session)
    taken: list[int] = []
    size = 0
    for entry, payload_bytes in run(cursor, _ENTRIES, session, last, _SLICE_ROWS):
        taken.append(entry)
        size += payload_bytes
        if size >= _SLICE_BYTES:
            break
    if taken:
        _DELETE_ENTRIES.run(cursor, taken)
        run(cursor, "DELETE FROM event WHERE session = ? AND entry <= ?", session, taken[-1])
    return bool(taken)


def _purge_content(cursor: apsw.Cursor, content: int) -> bool:
    """One step for content that nobody may hold any more: whether that was all."""
    if run(cursor, "SELECT 1 FROM holding WHERE content = ? LIMIT 1", content):
        # A record on its way has taken it up again.
        run(cursor, "UPDATE content SET state = 1 WHERE id = ?", content)
        return True
    # From the first step on no hash finds it: half of it must never be taken up.
    run(cursor, "UPDATE content SET state = 0 WHERE id = ? AND state <> 0", content)
    if run(cursor, _DELETE_CHUNKS, content << CHUNK_BITS, content + 1 << CHUNK_BITS, _SLICE_CHUNKS):
        return False
    run(cursor, "DELETE FROM content WHERE id = ?", content)
    return True
