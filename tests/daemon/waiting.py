"""Waiting for what a test brought about."""

import asyncio
from collections.abc import Callable

WITHIN_S = 10


async def until(condition: Callable[[], object], within_s: float = WITHIN_S) -> None:
    """Waits until the condition holds. Raises `TimeoutError` where it does not in time."""
    async with asyncio.timeout(within_s):
        while not condition():  # noqa: ASYNC110 - what is waited for knows no event of ours
            await asyncio.sleep(0.005)
