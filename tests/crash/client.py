"""A client under load: it sends without waiting, keeps a journal of the answers, and comes back after each crash."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import cast

import msgspec

from tests.crash.journal import Change, Journal
from tests.crash.load import Load
from waybread_client.errors import Lost
from waybread_client.wire import Peer, Wire, open_wire
from waybread_protocol.codec import client_codec
from waybread_protocol.errors import ErrorCode
from waybread_protocol.limits import SUBPROTOCOL_MSGPACK
from waybread_protocol.messages import Answer, Error, Lagged, Pushed

WINDOW = 8
"""Requests that one client has under way at once."""

_CODEC = client_codec(SUBPROTOCOL_MSGPACK)


class Client:
    """One harness with its link. `device` is the store's number of its device."""

    def __init__(self, load: Load, token: str, device: int) -> None:
        self.load = load
        self.token = token
        self.device = device
        self.journal = Journal()
        self.resent: list[tuple[Change, Answer]] = []
        """What was sent again in this life, with what it was answered now."""

    @asynccontextmanager
    async def linked(self, url: str) -> AsyncGenerator[Wire, None]:
        """A link for the length of the block."""
        wire = await open_wire(Peer(url=url, token=self.token, client="crash"), 2**40)
        try:
            yield wire
        finally:
            await wire.close()

    async def send_again(self, wire: Wire) -> None:
        """Sends what was not answered, in its order, and hears the answers. Raises `Lost`."""
        again = list(self.journal.waiting.values())
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._send_all(wire, again))
            answers: dict[int, Answer] = {}
            for _ in again:
                answer = await self._hear(wire)
                answers[answer.re] = answer
                self.resent = [(request, answers[request.id]) for request in again if request.id in answers]

    async def work(self, wire: Wire) -> None:
        """Makes requests until the link is lost."""
        while True:
            while len(self.journal.waiting) < WINDOW:
                request = self.load.next()
                self.journal.send(request)
                await wire.send(_CODEC.encode(request))
            await self._hear(wire)

    async def _send_all(self, wire: Wire, requests: list[Change]) -> None:
        for request in requests:
            await wire.send(_CODEC.encode(request))

    async def _hear(self, wire: Wire) -> Answer:
        answer = await wire.receive()
        assert not isinstance(answer, Pushed | Lagged)
        request = self.journal.hear(answer)
        if isinstance(answer, Error):
            assert answer.code == ErrorCode.CONTENT_NEEDED, (request, answer)
            again = self.load.with_content(request)
            self.journal.send(again)
            await wire.send(_CODEC.encode(again))
        else:
            self.load.learn(request, answer)
        return answer


def lost(fault: BaseException) -> bool:
    """Whether it means nothing but that the daemon is dead."""
    if isinstance(fault, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", fault)
        return all(lost(inner) for inner in group.exceptions)
    return isinstance(fault, Lost)


def same_again(request: Change, request_id: int) -> Change:
    """The same request under another id."""
    return msgspec.structs.replace(request, id=request_id)
