"""A client of maps and frames: it knows nothing of the contract's structs, so a test says the very fields it sends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

MSGPACK = "waybread.v1.msgpack"
JSON = "waybread.v1.json"
CODECS = (MSGPACK, JSON)
PATIENCE_S = 15

Map = dict[str, Any]


class Wire:
    """One link. `ask` sends a request and waits for its answer; what is pushed meanwhile stands in `pushed`."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.text = socket.subprotocol == JSON
        self.pushed: list[Map] = []
        self.frame_sizes: list[int] = []
        """Of all frames heard, in bytes."""
        self._next_id = 1

    def encode(self, message: object) -> bytes:
        return msgspec.json.encode(message) if self.text else msgspec.msgpack.encode(message)

    async def say(self, message: Map) -> None:
        await self.say_bytes(self.encode(message))

    async def say_bytes(self, data: bytes) -> None:
        await self.socket.send(data, text=self.text)

    async def say_in_parts(self, message: Map, piece_bytes: int) -> None:
        data = self.encode(message)
        pieces = [data[at : at + piece_bytes] for at in range(0, len(data), piece_bytes)]
        for index, piece in enumerate(pieces):
            await self.say({"type": "part", "index": index, "last": index == len(pieces) - 1, "data": piece})

    async def send(self, type_: str, **fields: object) -> int:
        """Sends a request and returns its id."""
        number, self._next_id = self._next_id, self._next_id + 1
        await self.say({"type": type_, "id": number, **fields})
        return number

    async def hear(self, timeout_s: float = PATIENCE_S) -> Map:
        """The next message, parts joined."""
        joined = b""
        while True:
            async with asyncio.timeout(timeout_s):
                frame = await self.socket.recv()
            data = frame.encode() if isinstance(frame, str) else frame
            assert isinstance(frame, str) == self.text
            self.frame_sizes.append(len(data))
            message = self._decode(data)
            if message["type"] != "part":
                return message
            piece = message["data"]
            joined += msgspec.convert(piece, bytes, strict=False) if self.text else piece
            if message["last"]:
                return self._decode(joined)

    async def answer_to(self, number: int) -> Map:
        """The answer to a request; pushes before it are kept."""
        while True:
            message = await self.hear()
            if "re" not in message:
                self.pushed.append(message)
                continue
            assert message["re"] == number, message
            return message

    async def answers_to(self, numbers: Sequence[int]) -> dict[int, Map]:
        """The answers to some requests, in whatever order they come."""
        found: dict[int, Map] = {}
        while len(found) < len(numbers):
            message = await self.hear()
            if "re" not in message:
                self.pushed.append(message)
                continue
            assert message["re"] in numbers, message
            found[message["re"]] = message
        return found

    async def ask(self, type_: str, **fields: object) -> Map:
        return await self.answer_to(await self.send(type_, **fields))

    async def push(self, timeout_s: float = PATIENCE_S) -> Map:
        """The next push."""
        if self.pushed:
            return self.pushed.pop(0)
        message = await self.hear(timeout_s)
        assert "re" not in message, message
        return message

    async def pushes(self, count: int) -> list[Map]:
        return [await self.push() for _ in range(count)]

    async def close_code(self) -> int | None:
        """The code with which the daemon closes; what it says before is passed over."""
        try:
            while True:
                async with asyncio.timeout(PATIENCE_S):
                    await self.socket.recv()
        except ConnectionClosed:
            return self.socket.close_code

    def _decode(self, data: bytes) -> Map:
        message: Map = msgspec.json.decode(data) if self.text else msgspec.msgpack.decode(data)
        return message


@asynccontextmanager
async def linked(url: str, codec: str = MSGPACK, *, max_size: int | None = None) -> AsyncGenerator[Wire, None]:
    """An open socket that has not said hello."""
    async with connect(
        url,
        subprotocols=[Subprotocol(codec)],
        compression=None,
        max_size=max_size,
        ping_interval=None,
        proxy=None,
        close_timeout=1,
    ) as socket:
        yield Wire(socket)


@asynccontextmanager
async def greeted(url: str, token: str, codec: str = MSGPACK, **hello: object) -> AsyncGenerator[Wire, None]:
    """A link that was welcomed."""
    async with linked(url, codec) as wire:
        welcome = await wire.ask("hello", token=token, client="test 1", **hello)
        assert welcome["type"] == "welcome", welcome
        yield wire


def text_result(session: str, key: str, text: str = "out", **fields: object) -> Map:
    """The fields of a `result` whose body is text."""
    body = {"kind": "text", "text": text}
    return {"session": session, "key": key, "tool": "bash", "body": body, **fields}
