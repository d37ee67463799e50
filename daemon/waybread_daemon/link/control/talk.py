"""A command that is connected to the control socket: its one request, and the lines that it is told."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable

import msgspec

from waybread_daemon.link.control.messages import LINE_BYTES, Asked, Told

READ_TIMEOUT_S = 10
"""So long a command may take for its one line."""


class RefusalError(Exception):
    """A request is not carried out: a sentence."""


class GoneError(Exception):
    """The command went away while it was waiting."""


class Talk:
    """A command that is connected."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def hear(self) -> Asked:
        """Its request. Raises `RefusalError`."""
        try:
            async with asyncio.timeout(READ_TIMEOUT_S):
                line = await self._reader.readline()
        except TimeoutError as fault:
            raise RefusalError(f"no request came within {READ_TIMEOUT_S} s: send one line") from fault
        except ValueError as fault:
            raise RefusalError(f"the request is over {LINE_BYTES} bytes: send less") from fault
        try:
            return msgspec.json.decode(line, type=Asked)
        except (msgspec.DecodeError, RecursionError) as fault:
            raise RefusalError(f"this is no request ({fault}): is the command of the daemon's version?") from fault

    async def tell(self, told: Told) -> None:
        """Sends a line."""
        self._writer.write(msgspec.json.encode(told) + b"\n")
        await self._writer.drain()

    async def while_there(self, work: Awaitable[None]) -> None:
        """Waits for the work, but no longer than the command does. Raises `GoneError`."""
        working = asyncio.ensure_future(work)
        leaving = asyncio.ensure_future(self._leave())
        try:
            await asyncio.wait((working, leaving), return_when=asyncio.FIRST_COMPLETED)
            if not working.done():
                raise GoneError
            working.result()
        finally:
            leaving.cancel()
            working.cancel()

    async def _leave(self) -> None:
        with contextlib.suppress(ConnectionError):
            while await self._reader.read(LINE_BYTES):
                pass
