"""Retention: whole sessions that nobody changed for so many days are deleted, as their device could do it itself.

A clock can be wrong, and what is deleted is gone. So a session has to be found old twice, at least an hour apart by a clock
that cannot be set, and between the two looks the time of day has to have gone on as that one did, or the first look counts
for nothing: a clock that leaps ahead, or a machine that slept, only puts the deletion off. And a session counts as no older
than what stands before it in its device's log, whatever the clock said when it was written.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

from waybread_daemon.store.contract import Store, StoreFault
from waybread_daemon.store.sizes import OldSession

INTERVAL_S = 3600.0
"""How often old sessions are looked for, and how long one has to be old."""
_DRIFT_MS = 60_000
"""By how much the two clocks may differ in that time: what setting a clock right takes, but no leap."""
_DAY_MS = 24 * 3600 * 1000


class Settings(Protocol):
    """What the settings say of retention."""

    @property
    def keep_sessions_days(self) -> int:
        """How long a session stays that nobody changes; 0: for good."""
        ...


class Deleter(Protocol):
    """Who deletes sessions."""

    async def delete_unchanged(self, old: OldSession) -> bool:
        """Deletes a session, unless it has changed since; whether it did. Durable when it returns."""
        ...


class Retention:
    """See the page. `now_ms` is the time of day, `monotonic_s` the clock that cannot be set."""

    def __init__(
        self, store: Store, deleter: Deleter, now_ms: Callable[[], int], monotonic_s: Callable[[], float]
    ) -> None:
        self._store = store
        self._deleter = deleter
        self._now_ms = now_ms
        self._monotonic_s = monotonic_s
        self._keep_days = 0
        self._found: set[OldSession] = set()
        self._found_ms = 0
        self._found_s = 0.0

    def reconfigure(self, settings: Settings) -> None:
        """Takes another setting. What was found old by another one has to be found anew."""
        if settings.keep_sessions_days != self._keep_days:
            self._keep_days = settings.keep_sessions_days
            self._found = set()

    async def run(self, deleted: Callable[[int], None]) -> None:
        """Looks at once and every hour until it is cancelled. `deleted` is told of how many sessions, where there were any."""
        while True:
            count = await self.look()
            if count:
                deleted(count)
            # A little more, so that the next look never comes a hair too early to count.
            await asyncio.sleep(INTERVAL_S + 1)

    async def look(self) -> int:
        """Deletes what the look an hour ago found old, too; gives how many sessions. A store that fails is asked again."""
        if not self._keep_days:
            return 0
        now_ms, now_s = self._now_ms(), self._monotonic_s()
        before_ms = now_ms - self._keep_days * _DAY_MS
        try:
            old = set(await self._store.look(lambda reader: reader.old_sessions(before_ms)))
        except StoreFault:
            return 0
        passed_s = now_s - self._found_s
        steady = abs((now_ms - self._found_ms) - 1000 * passed_s) <= _DRIFT_MS
        if not steady or not self._found:
            self._found, self._found_ms, self._found_s = old, now_ms, now_s
            return 0
        if passed_s < INTERVAL_S:
            return 0
        twice = sorted(self._found & old, key=lambda session: (session.device, session.head))
        self._found, self._found_ms, self._found_s = old, now_ms, now_s
        deleted = 0
        for session in twice:
            deleted += await self._deleter.delete_unchanged(session)
        return deleted
