"""Feeding the service manager's watchdog, and asking it for time while the store is opened."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

from waybread_daemon.life.notify import Notifier
from waybread_daemon.store.contract import StoreFault

EXTEND_INTERVAL_S = 10.0
EXTEND_BY_S = 30.0
EXTEND_MOST_S = 3600.0
"""A disk that never answers must not keep the start going for ever."""


async def feed(notifier: Notifier, answered: Callable[[], Awaitable[None]]) -> None:
    """Feeds the watchdog twice in its time, until it is cancelled. Done at once where nobody asks for it.

    Each time the loop has to come round to this, and the store's writing thread to `answered`. A store that answers
    with a fault answers: whatever only looks still works then, and a restart would mend no disk.
    """
    if not notifier.watchdog_s:
        return
    while True:
        with contextlib.suppress(StoreFault):
            await answered()
        notifier.alive()
        await asyncio.sleep(notifier.watchdog_s / 2)


async def extend(notifier: Notifier, *, interval_s: float = EXTEND_INTERVAL_S, most_s: float = EXTEND_MOST_S) -> None:
    """Asks for more time again and again, until it is cancelled or `most_s` is over."""
    loop = asyncio.get_running_loop()
    until = loop.time() + most_s
    while loop.time() < until:
        notifier.extend(EXTEND_BY_S)
        await asyncio.sleep(interval_s)
