"""A wire that can go dead: a TCP relay that stops carrying bytes and closes nothing, as when a phone leaves the network."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager


class Relay:
    """Carries bytes between clients and a port. `die`: from then on nothing is carried, and no end of a connection."""

    def __init__(self, port: int) -> None:
        self.port = 0
        self._target = port
        self._dead = False
        self._writers: list[asyncio.StreamWriter] = []
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self.port}/link"

    def die(self) -> None:
        """Both sides still believe that they are connected."""
        self._dead = True
        for task in self._tasks:
            task.cancel()

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        to_reader, to_writer = await asyncio.open_connection("127.0.0.1", self._target)
        self._writers += [writer, to_writer]
        for source, target in ((reader, to_writer), (to_reader, writer)):
            self._tasks.append(asyncio.create_task(self._carry(source, target)))

    async def _carry(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        try:
            while data := await source.read(65_536):
                target.write(data)
                await target.drain()
        except ConnectionError:
            pass
        finally:
            if not self._dead:
                target.close()

    def end(self) -> None:
        self._dead = True
        for task in self._tasks:
            task.cancel()
        for writer in self._writers:
            writer.transport.abort()


@asynccontextmanager
async def relaying(port: int) -> AsyncGenerator[Relay]:
    """A relay to a port of this machine."""
    relay = Relay(port)
    server = await asyncio.start_server(relay.accept, "127.0.0.1", 0)
    relay.port = int(server.sockets[0].getsockname()[1])
    try:
        yield relay
    finally:
        relay.end()
        server.close()
        await server.wait_closed()
