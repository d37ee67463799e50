"""When tokens were last used: written one batch at a time, however many links open at once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable


class Seen:
    """Collects what comes while a batch is being written. Called in the event loop."""

    def __init__(self, write: Callable[[dict[str, int]], asyncio.Future[None]]) -> None:
        self._write = write
        self._waiting: dict[str, int] = {}
        self._waiters: list[asyncio.Future[None]] = []
        self._writing: asyncio.Future[None] | None = None

    def note(self, token: str, at_ms: int) -> Awaitable[None]:
        """Done when it is written. Raises `StoreFault`; whoever does not care need not wait."""
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        waiter.add_done_callback(_heard)
        self._waiting[token] = max(at_ms, self._waiting.get(token, 0))
        self._waiters.append(waiter)
        if self._writing is None:
            self._flush()
        return waiter

    async def finish(self) -> None:
        """Waits until nothing is left to write."""
        while self._writing is not None:
            await asyncio.wait([self._writing])
            await asyncio.sleep(0)

    def _flush(self) -> None:
        waiting, self._waiting = self._waiting, {}
        waiters, self._waiters = self._waiters, []
        self._writing = self._write(waiting)
        self._writing.add_done_callback(lambda written: self._written(written, waiters))

    def _written(self, written: asyncio.Future[None], waiters: list[asyncio.Future[None]]) -> None:
        self._writing = None
        error = written.exception()
        for waiter in waiters:
            if waiter.done():
                continue
            if error is None:
                waiter.set_result(None)
            else:
                waiter.set_exception(error)
        if self._waiting:
            self._flush()


def _heard(waiter: asyncio.Future[None]) -> None:
    """A fault that nobody waits for is no news: the next use of the token is written again."""
    if not waiter.cancelled():
        waiter.exception()
