"""The end of all links: what is under way is finished and answered, in bounded time, whatever clients do."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from websockets.asyncio.server import Server as WebsocketServer

from waybread_daemon.link.connection import Connection
from waybread_daemon.sessions.desk import Desk

FINISH_TIMEOUT_S = 15.0
"""For answers to what is under way: a client that does not take them, or work that hangs, costs so much."""
_CLOSE_TIMEOUT_S = 6.0
"""Each link gives its client five seconds for the closing handshake."""
_CLOSE_HURRIED_S = 1.0
_LAST_ANSWERS_S = 0.25
"""For answers to plain HTTP requests that are on their way."""
_LAST_TIMEOUT_S = 1.0
_POLL_S = 0.01

Links = Callable[[], list[Connection]]


async def finish(desk: Desk, links: Links, hurry: asyncio.Event) -> None:
    """Waits until all that was taken is carried out, durable and answered, or until it takes too long."""
    await _within(FINISH_TIMEOUT_S, _finished(desk, links), hurry)


async def close(links: Links, close_one: Callable[[Connection], Awaitable[None]], hurry: asyncio.Event) -> None:
    """Closes every link, by `close_one`."""
    closing = [close_one(link) for link in links()]
    await _within(_CLOSE_TIMEOUT_S, _all(closing), hurry, hurried_s=_CLOSE_HURRIED_S)


async def end(server: WebsocketServer, hurry: asyncio.Event) -> None:
    """Stops listening, and cuts off who is still there. No handler of a link runs any more then."""
    server.close()
    await _within(_LAST_ANSWERS_S, server.wait_closed(), hurry, hurried_s=_LAST_ANSWERS_S)
    # Who has not even finished its opening handshake is waited for by the library; there is nothing to tell it.
    for socket in list(server.all_connections):
        socket.transport.abort()
    await _within(_LAST_TIMEOUT_S, server.wait_closed(), hurry, hurried_s=_LAST_TIMEOUT_S)


async def _finished(desk: Desk, links: Links) -> None:
    await desk.quiet()
    for link in links():
        # Large answers are put into their form beside the loop, after the desk is done with them.
        while link.open_requests and not link.ending and link in links():  # noqa: ASYNC110  # no answer waits for an event
            await asyncio.sleep(_POLL_S)
        await link.outbox.flushed()


async def _all(closing: list[Awaitable[None]]) -> None:
    await asyncio.gather(*closing)


async def _within(
    timeout_s: float, work: Coroutine[Any, Any, None], hurry: asyncio.Event, *, hurried_s: float = 0.0
) -> None:
    """Does the work for at most `timeout_s`, and for at most `hurried_s` from when `hurry` is set."""
    working = asyncio.ensure_future(work)
    hurried = asyncio.ensure_future(hurry.wait())
    try:
        await asyncio.wait((working, hurried), timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
        if not working.done() and hurried_s:
            await asyncio.wait((working,), timeout=hurried_s)
    finally:
        working.cancel()
        hurried.cancel()
        await asyncio.gather(working, hurried, return_exceptions=True)
