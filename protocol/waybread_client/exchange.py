"""Requests that wait for their answers: bounded in number and in bytes, in the order in which they are sent.

Nothing here knows of sockets. The link takes from `next_to_send`, hands answers to `hear`, and calls `begin_again` when a
new connection stands.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from waybread_client.errors import AnswerError, LinkEnded, too_large
from waybread_protocol.messages import Answer

WAITING_MAX = 1024
WAITING_MAX_BYTES = 128 * 1024 * 1024

Hook = Callable[[Answer], None]


@dataclass(slots=True, eq=False)
class _Waiting:
    encoded: bytes
    answer: asyncio.Future[Answer]
    hook: Hook | None


class Exchange:
    """Who waits for what. A request that is larger than the bound on bytes goes when no other one waits."""

    def __init__(self, waiting_max: int = WAITING_MAX, waiting_max_bytes: int = WAITING_MAX_BYTES) -> None:
        self._waiting_max = waiting_max
        self._waiting_max_bytes = waiting_max_bytes
        self._waiting: dict[int, _Waiting] = {}
        self._waiting_bytes = 0
        self._outbox: deque[int] = deque()
        self._entry = asyncio.Lock()
        self._room = asyncio.Event()
        self._something_to_send = asyncio.Event()
        self._ended: LinkEnded | None = None

    async def ask(self, request_id: int, encoded: bytes, hook: Hook | None = None) -> Answer:
        """Sends a request and gives its answer, `error` included. Callers are served in the order in which they come.

        `hook` sees the answer at the moment it arrives, before any later message. Raises `LinkEnded` where the link is or
        gets over, `AnswerError` for an answer that cannot be understood. Who is cancelled here gives the request up: it
        may have been carried out, and is not sent again.
        """
        waiting = _Waiting(encoded, asyncio.get_running_loop().create_future(), hook)
        # The lock is fair, and so keeps the order where callers have to wait for room.
        async with self._entry:
            while self._ended is None and not self._has_room(len(encoded)):
                self._room.clear()
                await self._room.wait()
            if self._ended is not None:
                raise self._ended
            self._waiting[request_id] = waiting
            self._waiting_bytes += len(encoded)
            self._outbox.append(request_id)
            self._something_to_send.set()
        try:
            return await waiting.answer
        finally:
            self._forget(request_id)

    async def next_to_send(self) -> bytes:
        """The next message that is to be sent, once there is one."""
        while True:
            while self._outbox:
                waiting = self._waiting.get(self._outbox.popleft())
                if waiting is not None:
                    return waiting.encoded
            self._something_to_send.clear()
            await self._something_to_send.wait()

    def begin_again(self, max_message: int) -> None:
        """A new connection: all that was not answered goes out again, in its order, before anything else."""
        self._outbox = deque(self._waiting)
        for request_id, waiting in list(self._waiting.items()):
            if len(waiting.encoded) > max_message:
                self.fail(request_id, too_large(len(waiting.encoded), max_message))
        self._something_to_send.set()

    def hear(self, answer: Answer) -> None:
        """An answer has come. One that nobody waits for any more is passed over."""
        waiting = self._forget(answer.re)
        if waiting is None or waiting.answer.done():
            return
        if waiting.hook is not None:
            waiting.hook(answer)
        waiting.answer.set_result(answer)

    def fail(self, request_id: int, fault: Exception) -> None:
        """A request gets an error in place of an answer."""
        waiting = self._forget(request_id)
        if waiting is not None and not waiting.answer.done():
            waiting.answer.set_exception(fault)

    def misunderstand(self, request_id: int, sentence: str) -> None:
        """The answer to a request came and could not be understood."""
        self.fail(request_id, AnswerError(f"the daemon's answer cannot be understood: {sentence}"))

    def end(self, ended: LinkEnded) -> None:
        """No more answers will come."""
        self._ended = ended
        for request_id in list(self._waiting):
            self.fail(request_id, ended)
        self._room.set()

    def _has_room(self, size_bytes: int) -> bool:
        if not self._waiting:
            return True
        fits = self._waiting_bytes + size_bytes <= self._waiting_max_bytes
        return fits and len(self._waiting) < self._waiting_max

    def _forget(self, request_id: int) -> _Waiting | None:
        waiting = self._waiting.pop(request_id, None)
        if waiting is not None:
            self._waiting_bytes -= len(waiting.encoded)
            self._room.set()
        return waiting
