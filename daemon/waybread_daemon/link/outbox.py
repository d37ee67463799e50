"""What is on its way to one client: in order, bounded, in frames that the client takes."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed
from websockets.protocol import State

from waybread_daemon.sessions.lane import start
from waybread_daemon.watching.counts import Counts
from waybread_protocol.limits import LEAST_MAX_BYTES
from waybread_protocol.parts import iter_frames


class Outbox:
    """Encoded messages in the order in which they are to be sent. Calls `eased` after each one that was sent.

    A message goes out at once where the socket takes it, without a task of its own: most do, and two thousand links that
    say nothing need no task that waits for them to.
    """

    __slots__ = (
        "_closed",
        "_counts",
        "_eased",
        "_empty",
        "_messages",
        "_socket",
        "_task",
        "_text",
        "max_frame",
        "sending_since",
        "waiting_bytes",
    )

    def __init__(self, socket: ServerConnection, counts: Counts, *, text: bool, eased: Callable[[], None]) -> None:
        self.max_frame = LEAST_MAX_BYTES
        """The largest frame that the client takes, as its hello says."""
        self.waiting_bytes = 0
        self.sending_since: float | None = None
        """When the frame under way was begun, by the loop's clock: a client that takes nothing shows here."""
        self._socket = socket
        self._counts = counts
        self._text = text
        self._eased = eased
        self._messages: deque[bytes] | None = None
        self._task: asyncio.Task[None] | None = None
        self._empty: asyncio.Future[None] | None = None
        self._closed = False

    def put(self, data: bytes) -> None:
        """Takes an encoded message; drops it where the connection is closed."""
        if self._closed:
            return
        self.waiting_bytes += len(data)
        if self._messages is None:
            self._messages = deque((data,))
            self._task = start(self._send())
        else:
            self._messages.append(data)

    def close(self) -> None:
        """Drops what waits: nothing is sent any more, and whoever waits for that goes on."""
        self._closed = True
        if self._task is not None:
            self._task.cancel()
        self._end()

    async def flushed(self) -> None:
        """Waits until everything is handed to the socket, or it is closed."""
        if self._messages is None:
            return
        if self._empty is None:
            self._empty = asyncio.get_running_loop().create_future()
        await asyncio.shield(self._empty)

    async def _send(self) -> None:
        """Sends what waits, and what comes meanwhile."""
        clock = asyncio.get_running_loop().time
        try:
            while self._messages:
                data = self._messages.popleft()
                for frame in iter_frames(data, self.max_frame, text=self._text):
                    if self._socket.state is not State.OPEN:
                        self._closed = True
                        return
                    self.sending_since = clock()
                    await self._socket.send(frame, text=self._text)
                    self._counts.sent_bytes += len(frame)
                self.sending_since = None
                self.waiting_bytes -= len(data)
                self._eased()
        except ConnectionClosed:
            self._closed = True
        finally:
            self._end()

    def _end(self) -> None:
        self._messages = self._task = None
        self.sending_since = None
        if self._closed:
            self.waiting_bytes = 0
        if self._empty is not None and not self._empty.done():
            self._empty.set_result(None)
        self._empty = None
        self._eased()
