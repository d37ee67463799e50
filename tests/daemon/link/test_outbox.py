"""What waits to be sent: in order, counted, in frames of the client's size, and let go when the link closes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, cast

import msgspec
import pytest
from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosedError
from websockets.protocol import State

from waybread_daemon.link.outbox import Outbox
from waybread_daemon.watching.counts import Counts


class Socket:
    """Takes frames while its gate is open, and none when it is closed."""

    def __init__(self) -> None:
        self.frames: list[tuple[bytes, bool]] = []
        self.state = State.OPEN
        self.gate = asyncio.Event()
        self.gate.set()
        self.closed = False

    async def send(self, frame: bytes, *, text: bool) -> None:
        await self.gate.wait()
        if self.closed:
            raise ConnectionClosedError(None, None)
        self.frames.append((frame, text))


class Box:
    def __init__(self, *, text: bool = False) -> None:
        self.socket = Socket()
        self.eased = 0
        self.outbox = Outbox(cast("ServerConnection", self.socket), Counts(), text=text, eased=self._ease)

    def _ease(self) -> None:
        self.eased += 1


@asynccontextmanager
async def running(box: Box) -> AsyncGenerator[None, None]:
    """A box that is closed at the end."""
    try:
        yield
    finally:
        box.outbox.close()


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


@pytest.mark.parametrize("text", [False, True])
async def test_messages_go_out_in_order_and_in_the_frame_kind_of_the_codec(text: bool) -> None:
    box = Box(text=text)
    async with running(box):
        for number in range(5):
            box.outbox.put(b"%d" % number)
        await box.outbox.flushed()
    assert box.socket.frames == [(b"%d" % number, text) for number in range(5)]
    assert box.eased >= 5


async def test_what_waits_is_counted_until_it_is_handed_over() -> None:
    box = Box()
    box.socket.gate.clear()
    box.outbox.put(b"x" * 10)
    box.outbox.put(b"y" * 5)
    assert box.outbox.waiting_bytes == 15
    async with running(box):
        await settle()
        assert box.outbox.waiting_bytes == 15
        assert box.eased == 0
        box.socket.gate.set()
        await box.outbox.flushed()
        assert box.outbox.waiting_bytes == 0


async def test_flushed_returns_at_once_where_nothing_waits_and_not_before_all_is_sent() -> None:
    box = Box()
    await box.outbox.flushed()
    box.socket.gate.clear()
    async with running(box):
        box.outbox.put(b"x")
        flushed = asyncio.create_task(box.outbox.flushed())
        await settle()
        assert not flushed.done()
        box.socket.gate.set()
        await flushed


async def test_before_hello_a_message_over_4_kib_goes_in_parts() -> None:
    box = Box()
    data = msgspec.msgpack.encode({"type": "error", "text": "x" * 9000})
    async with running(box):
        box.outbox.put(data)
        await box.outbox.flushed()
    parts: list[dict[str, Any]] = [msgspec.msgpack.decode(frame) for frame, _ in box.socket.frames]
    assert [(part["index"], part["last"]) for part in parts] == [(0, False), (1, False), (2, True)]
    assert b"".join(part["data"] for part in parts) == data
    assert max(len(frame) for frame, _ in box.socket.frames) <= 4096


async def test_the_time_since_when_it_is_sending_is_that_of_the_frame_and_not_of_the_message() -> None:
    box = Box()
    clock = asyncio.get_running_loop().time
    box.socket.gate.clear()
    box.outbox.put(b"x" * 8000)
    async with running(box):
        await settle()
        first = box.outbox.sending_since
        assert first is not None
        await asyncio.sleep(0.05)
        box.socket.gate.set()
        await settle()
        box.socket.gate.clear()
        box.outbox.put(b"y" * 8000)
        await settle()
        second = box.outbox.sending_since
        assert second is not None
        assert second >= first + 0.05
        assert second <= clock()
        box.socket.gate.set()
        await box.outbox.flushed()
        assert box.outbox.sending_since is None


async def test_a_client_that_takes_frame_after_frame_of_one_message_is_not_slow() -> None:
    box = Box()
    since: list[float] = []

    async def send(frame: bytes, *, text: bool) -> None:
        await asyncio.sleep(0.02)
        assert box.outbox.sending_since is not None
        since.append(box.outbox.sending_since)

    box.socket.send = send  # type: ignore[method-assign]
    async with running(box):
        box.outbox.put(b"x" * 20_000)
        await box.outbox.flushed()
    assert len(since) == 5
    assert since[-1] - since[0] >= 0.08


async def test_when_the_link_closes_all_that_waits_is_let_go_and_whoever_waits_goes_on() -> None:
    box = Box()
    box.socket.gate.clear()
    box.outbox.put(b"x" * 10)
    box.outbox.put(b"y" * 10)
    flushed = asyncio.create_task(box.outbox.flushed())
    await settle()
    assert not flushed.done()
    box.socket.closed = True
    box.socket.gate.set()
    await flushed
    assert (box.outbox.waiting_bytes, box.outbox.sending_since, box.eased) == (0, None, 1)
    box.outbox.put(b"late")
    assert box.outbox.waiting_bytes == 0
    await box.outbox.flushed()


async def test_closing_lets_go_of_what_waits_and_of_whoever_waits() -> None:
    box = Box()
    box.socket.gate.clear()
    box.outbox.put(b"x" * 10)
    flushed = asyncio.create_task(box.outbox.flushed())
    await settle()
    box.outbox.close()
    await flushed
    assert (box.outbox.waiting_bytes, box.outbox.sending_since, box.socket.frames) == (0, None, [])
