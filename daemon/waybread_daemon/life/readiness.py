"""What the log says of a daemon that cannot store: once when it begins, once when it ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from structlog.typing import FilteringBoundLogger

LOOK_INTERVAL_S = 0.5


async def tell_readiness(
    log: FilteringBoundLogger, not_ready: Callable[[], str], *, interval_s: float = LOOK_INTERVAL_S
) -> None:
    """Looks again and again whether there is a reason why nothing can be stored, until it is cancelled.

    The reason may change while it lasts, as what is free on a disk does: that is told no second time.
    """
    told = False
    while True:
        why = not_ready()
        if why and not told:
            log.error("not_ready", why=why)
        elif told and not why:
            log.info("ready_again")
        told = bool(why)
        await asyncio.sleep(interval_s)
