"""What lies between a phone and a daemon. It may be cut, and what is connected may go silent, as after a sleep."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

_CHUNK_BYTES = 65536


class Cable:
    """`port` is the phone's end."""

    def __init__(self, to: int) -> None:
        self._to = to
        self._ends: set[asyncio.StreamWriter] = set()
        self._silent: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._whole = True
        self.port = 0

    async def open(self, context: ssl.SSLContext | None) -> asyncio.Server:
        """Lets phones come in, encrypted where there is a context for that."""
        server = await asyncio.start_server(self._join, "127.0.0.1", 0, ssl=context)
        self.port = int(server.sockets[0].getsockname()[1])
        return server

    def cut(self) -> None:
        """Nothing comes through from now on, and what is connected is told so."""
        self._whole = False
        for end in self._ends:
            end.transport.abort()
        self._ends.clear()

    def mend(self) -> None:
        """New connections come through again."""
        self._whole = True

    def silence(self) -> None:
        """What is connected now hears nothing any more, and is not told. New connections come through."""
        self._silent |= self._ends

    async def close(self) -> None:
        self.cut()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if not self._whole:
                raise ConnectionError
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._to)
        except OSError:
            writer.transport.abort()
            return
        for source, target in ((reader, far_writer), (far_reader, writer)):
            self._ends.add(target)
            task = asyncio.create_task(self._carry(source, target))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _carry(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        try:
            while data := await source.read(_CHUNK_BYTES):
                if target not in self._silent:
                    target.write(data)
                    await target.drain()
        except OSError:
            pass
        if target not in self._silent:
            target.close()


@asynccontextmanager
async def cable_to(port: int, context: ssl.SSLContext | None = None) -> AsyncGenerator[Cable]:
    """A cable to a daemon's port. With a context the phone's end is encrypted, and the daemon knows nothing of it."""
    cable = Cable(port)
    server = await cable.open(context)
    try:
        yield cable
    finally:
        server.close()
        await cable.close()
