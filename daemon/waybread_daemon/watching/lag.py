"""How late the event loop comes: while it is held up, every link waits."""

from __future__ import annotations

import asyncio
import time

from waybread_daemon.watching.counts import Histogram

SAMPLE_INTERVAL_S = 0.5


async def sample_lag(lag_s: Histogram, interval_s: float = SAMPLE_INTERVAL_S) -> None:
    """Notes by how much each wake-up is late. Runs until it is cancelled."""
    while True:
        due_s = time.monotonic() + interval_s
        await asyncio.sleep(interval_s)
        # Timers have a resolution of a millisecond and may fire a little early.
        lag_s.observe(max(time.monotonic() - due_s, 0.0))
