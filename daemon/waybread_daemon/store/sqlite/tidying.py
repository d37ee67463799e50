"""What the writing thread does when nothing waits: purges, shrinks the file, lets the log be cut; and tells who waits for it."""

from __future__ import annotations

import time
from collections.abc import Callable

import apsw

from waybread_daemon.store.contract import StoreFault
from waybread_daemon.store.sqlite.checkpoints import LogKeeper
from waybread_daemon.store.sqlite.purge import Purge
from waybread_daemon.store.sqlite.shrink import Shrink
from waybread_protocol.errors import ErrorCode

_CUT_WAIT_MS = 50
"""How soon to look whether the log can be cut: another thread copies it first."""
_PAUSE_S = 10.0
"""After a step that failed. Nobody's record waits for it."""
_TURN_S = 0.25
"""A writer that is never idle tidies this often all the same: what was deleted has to leave the disk some day."""

Told = Callable[[StoreFault | None], None]
"""Hears that all is tidy, or why it cannot be made so now."""


class Tidying:
    """See the page. All of it belongs to the writing thread."""

    def __init__(self, purge: Purge, shrink: Shrink, log: LogKeeper) -> None:
        self._purge = purge
        self._shrink = shrink
        self._log = log
        self._shortened = False
        self._waiters: list[Told] = []
        self._not_before_s = 0.0

    def session_deleted(self, session: int) -> None:
        """Something to purge: a deleted session."""
        self._purge.session_deleted(session)

    def content_dropped(self, content: int) -> None:
        """Something to purge: content that no record takes up."""
        self._purge.content_dropped(content)

    def tell_when_tidy(self, told: Told, *, skip_grace: bool) -> None:
        """Tells once nothing is left to do. Content that stays for a while, in case that a record names it, is waited for;
        with `skip_grace` it goes at once. After a failure it is tried again at once, too.
        """
        self._waiters.append(told)
        self._not_before_s = 0.0
        if skip_grace:
            self._purge.skip_grace()

    def wait_ms(self) -> int | None:
        """How long until there is something to do: 0 for at once, None for nothing."""
        wait_ms = self._wait_ms()
        return wait_ms if wait_ms is None else max(wait_ms, int((self._not_before_s - time.monotonic()) * 1000))

    def overdue(self) -> bool:
        """Whether there has been something to do for so long that records may wait for a step of it."""
        return self._wait_ms() == 0 and time.monotonic() >= self._not_before_s + _TURN_S

    def step(self, connection: apsw.Connection) -> None:
        """One step of what is due, at most one transaction. Raises what SQLite raises."""
        if self._purge.wait_ms() == 0:
            self._purge.step(connection)
            self._shrink.pages_freed()
        elif self._shrink.due():
            self._shortened |= self._shrink.step(connection)
            if self._shortened and not self._shrink.due():
                self._shortened = False
                self._log.cut()
        elif self._wait_ms() == 0:
            self._tell(None)
        self._not_before_s = time.monotonic()

    def failed(self, fault: StoreFault) -> None:
        """A step failed: whoever waits hears of it, and the next one comes later."""
        self._not_before_s = time.monotonic() + _PAUSE_S
        self._tell(fault)

    def end(self) -> None:
        """The writing thread ends. What is left goes on at the next start."""
        self._tell(StoreFault(ErrorCode.BUSY, "The store was closed meanwhile; the rest is done at the next start."))

    def _wait_ms(self) -> int | None:
        later_ms = self._purge.wait_ms()
        if later_ms == 0 or self._shrink.due():
            return 0
        if self._log.cutting:
            return _CUT_WAIT_MS if later_ms is None else min(_CUT_WAIT_MS, later_ms)
        return 0 if later_ms is None and self._waiters else later_ms

    def _tell(self, fault: StoreFault | None) -> None:
        waiters, self._waiters = self._waiters, []
        for told in waiters:
            told(fault)
