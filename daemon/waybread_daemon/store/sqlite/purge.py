"""What deleted sessions leave behind, taken away in small steps between records.

A step is one transaction of a few hundred rows or a few MiB, so that no record waits long behind it. What is still to be
purged can be seen in the file, so a restart goes on with it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import apsw

from waybread_daemon.store.sqlite.sizes import CONTENT_STORED, ROW_BYTES, Usage
from waybread_daemon.store.sqlite.statements import ForRows, run, value

GRACE_MS = 60_000
"""How long content that nobody holds stays: a record on its way may name it by its hash alone."""

_SLICE_ROWS = 500
_SLICE_BYTES = 2 * 1024 * 1024
_SLICE_CHUNKS = 32
_NO_ENTRY = (1 << 63) - 1
CHUNK_BITS = 20
"""A chunk's id is its content's number, shifted by this, and its place."""

# `length` of a column is told by the row's head: no payload is read for it.
_ENTRIES = (
    f"SELECT v.entry, length(e.payload) + length(e.facts) + length(v.event) + {ROW_BYTES} "  # noqa: S608  # only the program's own words
    "FROM event AS v JOIN entry AS e ON e.id = v.entry "
    "WHERE v.session = ? AND v.entry < ? ORDER BY v.entry LIMIT ?"
)
_SESSION = (
    "SELECT s.device, s.stored_bytes, coalesce(d.gone_ms, 0) "
    "FROM session AS s LEFT JOIN device AS d ON d.number = s.device "
    "WHERE s.number = ? AND (s.state = 1 OR d.gone_ms > 0)"
)
# Nothing is left of a session of a deleted device. Of others the row stays, and its id is never taken again.
_FORGET = "DELETE FROM session WHERE number = ?"
_PURGED = (
    "UPDATE session SET state = 2, raw_bytes = 0, stored_bytes = 0, files_raw_bytes = 0, files_stored_bytes = 0 "
    "WHERE number = ?"
)
_DISCOUNT = (
    "UPDATE device SET files_raw_bytes = files_raw_bytes - ?, files_stored_bytes = files_stored_bytes - ? "
    "WHERE number = ?"
)
_UNCOUNTED = (
    "UPDATE content SET state = 0 WHERE id = ? AND state <> 0 "  # noqa: S608  # only the program's own words
    f"RETURNING device, sha256 IS NULL, size_bytes, {CONTENT_STORED}"
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
    "AND NOT EXISTS (SELECT 1 FROM holding WHERE content = ?1) RETURNING id, sha256 IS NULL"
)
# A record may have been written between the daemon's last look at a device and the device's deletion.
_LEFT = (
    "SELECT number FROM session WHERE state = 1 UNION "
    "SELECT s.number FROM session AS s JOIN device AS d ON d.number = s.device WHERE d.gone_ms > 0"
)
Freed = tuple[int, int]
"""A device, and how much less it takes."""


class Purge:
    """The work list, for the thread that writes. Every method that takes a connection needs no transaction open."""

    def __init__(self, clock_ms: Callable[[], int], usage: Usage, grace_ms: int = GRACE_MS) -> None:
        self._clock_ms = clock_ms
        self._usage = usage
        self._grace_ms = grace_ms
        self._no_grace = False
        self._sessions: deque[int] = deque()
        self._contents: deque[tuple[int, int]] = deque()

    def load(self, connection: apsw.Connection) -> None:
        """Finds what an earlier process left: no record is on its way, so nothing has to wait.

        For use before anything is staged: what is being staged now looks like what was left.
        """
        cursor = connection.cursor()
        self._sessions.extend(number for (number,) in run(cursor, _LEFT))
        self._contents.extend((0, number) for (number,) in run(cursor, "SELECT id FROM content WHERE state <> 1"))

    def session_deleted(self, session: int) -> None:
        """Puts a deleted session on the list."""
        self._sessions.append(session)

    def content_dropped(self, content: int) -> None:
        """Puts content on the list that was written ahead and that no record will take up."""
        self._contents.appendleft((0, content))

    def skip_grace(self) -> None:
        """What is on the list now, and what comes of it, need not wait for records on their way."""
        self._no_grace = True

    def wait_ms(self) -> int | None:
        """How long until there is something to do: 0 for at once, None for nothing."""
        if self._sessions or (self._no_grace and self._contents):
            return 0
        return max(0, self._contents[0][0] - self._clock_ms()) if self._contents else None

    def step(self, connection: apsw.Connection) -> None:
        """Does one step of what is due, in one transaction. Raises what SQLite raises; the list then is as before."""
        cursor = connection.cursor()
        if self._sessions:
            run(cursor, "BEGIN IMMEDIATE")
            done, freed, loose = _purge_session(cursor, self._sessions[0])
            run(cursor, "COMMIT")
            due = self._clock_ms() + self._grace_ms
            for content, is_text in loose:
                if is_text:
                    # It has no hash by which a record could name it.
                    self.content_dropped(content)
                else:
                    self._contents.append((due, content))
            if done:
                self._sessions.popleft()
        elif self.wait_ms() == 0:
            run(cursor, "BEGIN IMMEDIATE")
            done, freed = _purge_content(cursor, self._contents[0][1])
            run(cursor, "COMMIT")
            if done:
                self._contents.popleft()
        else:
            return
        self._usage.add(freed[0], -freed[1])
        self._no_grace = self._no_grace and bool(self._sessions or self._contents)


def _purge_session(cursor: apsw.Cursor, session: int) -> tuple[bool, Freed, list[tuple[int, bool]]]:
    """One step for a deleted session: whether that was all, what it freed, and the contents that it was the last to hold,
    each with whether it is a text of its own.
    """
    rows = run(cursor, _SESSION, session)
    if not rows:
        return True, (0, 0), []
    ((device, stored_bytes, gone_ms),) = rows
    freed_bytes = _purge_entries(cursor, session, whole=bool(gone_ms))
    if freed_bytes:
        run(cursor, "UPDATE session SET stored_bytes = stored_bytes - ? WHERE number = ?", freed_bytes, session)
        return False, (device, freed_bytes), []
    if any(run(cursor, delete, session, _SLICE_ROWS) for delete in (_DELETE_KEYS, _DELETE_TURNS)):
        return False, (device, 0), []
    held = run(cursor, "SELECT content FROM holding WHERE session = ? LIMIT ?", session, _SLICE_ROWS)
    loose: list[tuple[int, bool]] = []
    for (content,) in held:
        run(cursor, "DELETE FROM holding WHERE content = ? AND session = ?", content, session)
        loose += [(number, bool(is_text)) for number, is_text in run(cursor, _LET_GO, content)]
    if held:
        return False, (device, 0), loose
    run(cursor, _FORGET if gone_ms else _PURGED, session)
    return True, (device, stored_bytes), []


def _purge_entries(cursor: apsw.Cursor, session: int, *, whole: bool) -> int:
    """Deletes some of the session's entries and gives what they took. The `deleted` one is kept, because the log's end must
    never fall, unless the `whole` log goes.
    """
    last = _NO_ENTRY if whole else value(cursor, "SELECT max(entry) FROM event WHERE session = ?", session)
    taken: list[int] = []
    freed_bytes = 0
    for entry, stored_bytes in run(cursor, _ENTRIES, session, last, _SLICE_ROWS):
        taken.append(entry)
        freed_bytes += stored_bytes
        if freed_bytes >= _SLICE_BYTES:
            break
    if taken:
        _DELETE_ENTRIES.run(cursor, taken)
        run(cursor, "DELETE FROM event WHERE session = ? AND entry <= ?", session, taken[-1])
    return freed_bytes


def _purge_content(cursor: apsw.Cursor, content: int) -> tuple[bool, Freed]:
    """One step for content that nobody may hold any more: whether that was all, and what it freed."""
    if run(cursor, "SELECT 1 FROM holding WHERE content = ? LIMIT 1", content):
        # A record on its way has taken it up again.
        run(cursor, "UPDATE content SET state = 1 WHERE id = ?", content)
        return True, (0, 0)
    # From the first step on no hash finds it: half of it must never be taken up.
    freed: Freed = (0, 0)
    for device, is_text, raw_bytes, stored_bytes in run(cursor, _UNCOUNTED, content):
        # A text was counted with its session.
        if not is_text:
            run(cursor, _DISCOUNT, raw_bytes, stored_bytes, device)
            freed = (device, stored_bytes)
    if run(cursor, _DELETE_CHUNKS, content << CHUNK_BITS, content + 1 << CHUNK_BITS, _SLICE_CHUNKS):
        return False, freed
    run(cursor, "DELETE FROM content WHERE id = ?", content)
    return True, freed
