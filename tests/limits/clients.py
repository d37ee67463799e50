"""Clients that do not do what they should."""

from __future__ import annotations

import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from websockets.asyncio.client import connect
from websockets.typing import Subprotocol

from tests.daemon.wire import MSGPACK, Wire

SMALL_BUFFER_BYTES = 128 * 1024


@asynccontextmanager
async def slow_linked(url: str, codec: str = MSGPACK) -> AsyncGenerator[Wire]:
    """An open socket that has not said hello and buffers little: what it does not read, the daemon cannot send."""
    host, _, port = url.removeprefix("ws://").partition("/")[0].rpartition(":")
    plain = socket.socket()
    plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL_BUFFER_BYTES)
    plain.connect((host, int(port)))
    plain.setblocking(False)
    link = await connect(
        url,
        sock=plain,
        subprotocols=[Subprotocol(codec)],
        compression=None,
        max_size=None,
        max_queue=1,
        ping_interval=None,
        proxy=None,
        close_timeout=1,
    )
    try:
        yield Wire(link)
    finally:
        link.transport.abort()


@asynccontextmanager
async def slow_client(url: str, token: str, codec: str = MSGPACK) -> AsyncGenerator[Wire]:
    """Such a link that was welcomed."""
    async with slow_linked(url, codec) as wire:
        assert (await wire.ask("hello", token=token, client="slow"))["type"] == "welcome"
        yield wire
