"""What is on its way to one client: in order, bounded, in frames that the client takes."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from waybread_protocol.limits import LEAST_MAX_BYTES
from waybread_protocol.parts import frames


class Outbox:
    """Encoded messages in the order in which they are to be sent. `run` sends them and calls `eased` after each."""

    def __init__(self, socket: ServerConnection, *, text: bool, eased: Callable[[], None]) -> None:
        self.max_frame = LEAST_MAX_BYTES
        """The largest frame that the client takes, as its hello says."""
        self.waiting_bytes = 0
        self.sending_since: float | None = None
        """When the frame under way was begun, by the loop's clock: a client that takes nothing shows here."""
        self._socket = socket
        self._text = text
        self._eased = eased
        self._messages: deque[bytes] = deque()
        self._filled = asyncio.Event()
        self._empty = asyncio.Event()
        self._empty.set()
        self._closed = False

    def put(self, data: bytes) -> None:
        """Takes an encoded message; drops it where the connection is closed."""
        if self._closed:
            return
        self.waiting_bytes += len(data)
        self._messages.append(data)
        self._filled.set()
        self._empty.clear()

    async def run(self) -> None:
        """Sends until the connection closes. Then nothing waits any more, and whoever waits for that goes on."""
        clock = asyncio.get_running_loop().time
        try:
            while True:
                await self._filled.wait()
                self._filled.clear()
                while self._messages:
                    data = self._messages.popleft()
                    for frame in frames(data, self.max_frame, text=self._text):
                        self.sending_since = clock()
                        await self._socket.send(frame, text=self._text)
                    self.sending_since = None
                    self.waiting_bytes -= len(data)
                    self._eased()
                self._empty.set()
        except ConnectionClosed:
            pass
        finally:
            self._closed = True
            self._messages.clear()
            self.waiting_bytes, self.sending_since = 0, None
            self._empty.set()
            self._eased()

    async def flushed(self) -> None:
        """Waits until everything is handed to the socket, or it is closed."""
        await self._empty.wait()
