"""The load: a process that drives links with messages that were encoded before, and measures the answers.

`python -m tests.bench.programs.load` takes orders on standard input and tells on standard output.
"""

from __future__ import annotations

import asyncio
import gc
import os
import sys
import time

import msgspec
import uvloop
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from tests.bench.programs.orders import (
    LENGTH_BYTES,
    AnyOrder,
    Close,
    Open,
    Order,
    Pages,
    Serial,
    Stop,
    Told,
    Windowed,
)
from waybread_protocol.limits import SUBPROTOCOL_MSGPACK

_OPENING_MOST = 64
_ERROR = b"\xa4type\xa5error"


class _Page(msgspec.Struct):
    next: int
    more: bool
    epoch: str
    entries: list[msgspec.Raw]


class Links:
    """All links of this process, by the name of their group."""

    def __init__(self) -> None:
        self._links: dict[str, list[ClientConnection]] = {}
        self._stop = asyncio.Event()

    def stop(self) -> None:
        """Ends what is under way."""
        self._stop.set()

    async def act(self, order: Order) -> Told:
        """Carries an order out."""
        match order:
            case Open():
                return await self._open(order)
            case Serial():
                return await self._serial(self._links[order.links][0], order)
            case Windowed():
                return await self._windowed(self._links[order.links], order)
            case Pages():
                return await _pages(self._links[order.links][0])
            case Close():
                await asyncio.gather(*(link.close() for link in self._links.pop(order.links)))
                return Told()
            case _:
                raise TypeError(f"{order!r} is no order")

    async def _open(self, order: Open) -> Told:
        opening = asyncio.Semaphore(_OPENING_MOST)

        async def one(prelude: list[bytes]) -> ClientConnection:
            async with opening:
                link = await connect(
                    order.url,
                    subprotocols=[Subprotocol(SUBPROTOCOL_MSGPACK)] if prelude else None,
                    compression=None,
                    max_size=None,
                    ping_interval=None,
                    open_timeout=60,
                )
                for message in prelude:
                    await link.send(message)
                    _check(await link.recv())
                return link

        self._links[order.links] = list(await asyncio.gather(*map(one, order.preludes)))
        return Told()

    async def _serial(self, link: ClientConnection, order: Serial) -> Told:
        samples: list[tuple[float, float]] = []
        answers: list[bytes] = []
        clock = time.monotonic
        self._stop.clear()
        for message in order.messages:
            if self._stop.is_set():
                break
            begin = clock()
            for frame in message:
                await link.send(frame)
            answer = await link.recv()
            samples.append((begin, clock() - begin))
            _check(answer)
            if order.keeps_answers and isinstance(answer, bytes):
                answers.append(answer)
        return Told(samples=samples, answers=answers)

    async def _windowed(self, links: list[ClientConnection], order: Windowed) -> Told:
        async def one(link: ClientConnection, messages: list[bytes]) -> None:
            room = asyncio.Semaphore(order.window)

            async def send() -> None:
                for message in messages:
                    await room.acquire()
                    await link.send(message)

            sending = asyncio.get_running_loop().create_task(send())
            for _ in messages:
                _check(await link.recv())
                room.release()
            await sending

        begin = time.monotonic()
        await asyncio.gather(*map(one, links, order.messages))
        return Told(seconds=time.monotonic() - begin)


async def _pages(link: ClientConnection) -> Told:
    decoder = msgspec.msgpack.Decoder(_Page)
    encode = msgspec.msgpack.encode
    after, epoch, entries = 0, "", 0
    begin = time.monotonic()
    while True:
        await link.send(encode({"type": "sync", "id": 1, "after": after, "epoch": epoch}))
        answer = await link.recv()
        _check(answer)
        page = decoder.decode(answer)  # type: ignore[arg-type]  # the subprotocol's messages are binary
        entries += len(page.entries)
        after, epoch = page.next, page.epoch
        if not page.more:
            return Told(seconds=time.monotonic() - begin, entries=entries)


def _check(answer: bytes | str) -> None:
    """An error is never fast: the bench ends where one comes."""
    if isinstance(answer, bytes) and answer[1 : 1 + len(_ERROR)] == _ERROR:
        raise RuntimeError(f"the daemon answered {msgspec.msgpack.decode(answer)}")


async def _orders() -> asyncio.StreamReader:
    reader = asyncio.StreamReader(2**20)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    return reader


def _tell(told: Told) -> None:
    data = msgspec.msgpack.encode(told)
    sys.stdout.buffer.write(len(data).to_bytes(LENGTH_BYTES, "big") + data)
    sys.stdout.buffer.flush()


async def _main() -> None:
    reader = await _orders()
    links = Links()
    waiting: asyncio.Queue[AnyOrder] = asyncio.Queue()
    decoder = msgspec.msgpack.Decoder(AnyOrder)

    async def receive() -> None:
        while True:
            length = int.from_bytes(await reader.readexactly(LENGTH_BYTES), "big")
            order: AnyOrder = decoder.decode(await reader.readexactly(length))
            if isinstance(order, Stop):
                links.stop()
            else:
                waiting.put_nowait(order)

    receiving = asyncio.get_running_loop().create_task(receive())
    # Who gave the orders is gone: so is this process.
    receiving.add_done_callback(lambda _: os._exit(0))
    while True:
        order = await waiting.get()
        # Collecting garbage at random moments would show as the daemon's own slowness.
        gc.collect()
        gc.disable()
        _tell(await links.act(order))
        gc.enable()


if __name__ == "__main__":
    uvloop.run(_main())
