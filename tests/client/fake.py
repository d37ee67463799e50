"""A daemon of a few lines, for tests: each connection is played by a coroutine that the test writes."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from waybread_client import Backoff, Keys, Link
from waybread_protocol.codec import daemon_codec
from waybread_protocol.limits import (
    HELLO_MAX_BYTES,
    MAX_FRAME_BYTES,
    MAX_MESSAGE_BYTES,
    PAGE_BYTES,
    PROTOCOL,
    SUBPROTOCOL_JSON,
    SUBPROTOCOL_MSGPACK,
)
from waybread_protocol.messages import (
    BaseRequest,
    Done,
    Entry,
    Hello,
    Inserted,
    Limits,
    Opened,
    Page,
    Part,
    Pushed,
    Struct,
    Welcome,
)
from waybread_protocol.parts import Joiner, frames

TOKEN = "a-token-that-is-secret"  # not one of a real daemon
R = TypeVar("R", bound=BaseRequest)


class Side:
    """The daemon's side of one connection."""

    def __init__(self, socket: ServerConnection, number: int, limits: Limits) -> None:
        self.socket = socket
        self.number = number
        """The first connection is 1."""
        self.limits = limits
        self.codec = daemon_codec(str(socket.subprotocol))
        self.joiner = Joiner(limits.max_message)
        self.hello: Hello
        self.frames_heard: list[int] = []

    async def hear(self) -> BaseRequest:
        """The next request, parts joined."""
        while True:
            frame = await self.socket.recv()
            self.frames_heard.append(len(frame.encode() if isinstance(frame, str) else frame))
            self.codec.check_kind(frame)
            message = self.codec.decode(frame)
            if isinstance(message, Part):
                joined = self.joiner.join(message)
                if joined is None:
                    continue
                message = self.codec.decode(joined)
            assert isinstance(message, BaseRequest)
            return message

    async def hear_a(self, request: type[R]) -> R:
        heard = await self.hear()
        assert isinstance(heard, request), heard
        return heard

    async def say(self, *messages: Struct) -> None:
        for message in messages:
            for frame in frames(self.codec.encode(message), self.hello.max_frame, text=self.codec.text):
                await self.socket.send(frame, text=self.codec.text)

    async def say_raw(self, message: dict[str, Any]) -> None:
        """What no struct of this version holds."""
        await self.socket.send(self.codec.encode(message), text=self.codec.text)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

    async def welcome(self, *, epoch: str = "e1", head: int = 0) -> None:
        assert len(await _first(self)) <= HELLO_MAX_BYTES
        await self.say(
            Welcome(
                re=self.hello.id,
                protocol=PROTOCOL,
                server="fake",
                device="d1",
                name="laptop",
                role="device",
                epoch=epoch,
                head=head,
                limits=self.limits,
                features=[],
            )
        )

    async def drop(self) -> None:
        """The connection breaks, without a close."""
        self.socket.transport.abort()
        await self.socket.wait_closed()


async def _first(side: Side) -> bytes:
    frame = await side.socket.recv()
    hello = side.codec.decode(frame)
    assert isinstance(hello, Hello)
    side.hello = hello
    return frame.encode() if isinstance(frame, str) else frame


Script = Callable[[Side], Awaitable[None]]
LIMITS = Limits(max_frame=MAX_FRAME_BYTES, max_message=MAX_MESSAGE_BYTES, page_bytes=PAGE_BYTES)


class FakeDaemon:
    """Plays `script` on each connection, which stays open behind its end until the client leaves."""

    def __init__(self, script: Script, limits: Limits) -> None:
        self.script = script
        self.limits = limits
        self.connections = 0
        self.faults: list[BaseException] = []
        self.server: Server

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self.server.sockets[0].getsockname()[1]}"

    async def play(self, socket: ServerConnection) -> None:
        self.connections += 1
        try:
            await self.script(Side(socket, self.connections, self.limits))
            await socket.wait_closed()
        except ConnectionClosed:
            return
        except Exception as fault:
            self.faults.append(fault)
            raise


@asynccontextmanager
async def fake_daemon(script: Script, limits: Limits = LIMITS) -> AsyncGenerator[FakeDaemon]:
    """A fake daemon on a free port. What goes wrong in its script fails the test."""
    fake = FakeDaemon(script, limits)
    both = [Subprotocol(SUBPROTOCOL_MSGPACK), Subprotocol(SUBPROTOCOL_JSON)]
    async with serve(
        fake.play, "127.0.0.1", 0, subprotocols=both, compression=None, max_size=limits.max_frame
    ) as server:
        fake.server = server
        yield fake
    assert fake.faults == []


class Waits:
    """Stands in for `sleep`: it notes the waits and does not wait."""

    def __init__(self) -> None:
        self.waits_s: list[float] = []

    async def __call__(self, wait_s: float) -> None:
        self.waits_s.append(wait_s)
        await asyncio.sleep(0)


def link_to(fake: FakeDaemon, *, waits: Waits | None = None, **more: Any) -> Link:
    """A link with waits that take no time, whose jitter is always the half."""
    sleep = Waits() if waits is None else waits
    return Link(fake.url, TOKEN, backoff=Backoff(random=lambda: 0.5), sleep=sleep, keys=Keys(), **more)


def opened(re: int, session: str = "s") -> Opened:
    return Opened(re=re, seq=1, session=session, kind="agent", created=True, results=0, turn="")


def inserted(re: int, number: int = 1, text: str = "", *, repeated: bool = False) -> Inserted:
    result = f"#{number:04x}"
    text = text or f"[{result}]"
    return Inserted(re=re, seq=number, result=result, text=text, stub_of=None, capped=False, repeated=repeated)


def done(re: int) -> Done:
    return Done(re=re, seq=1)


def entry(seq: int, text: str = "", text_chars: int | None = None) -> Entry:
    chars = len(text) if text_chars is None else text_chars
    return Entry(seq=seq, session="s", at_ms=0, kind="result", text=text, text_chars=chars)


def pushed(seq: int, text: str = "") -> Pushed:
    return Pushed(entry=entry(seq, text))


def page(re: int, seqs: list[int], *, more: bool = False, next: int | None = None, epoch: str = "e1") -> Page:  # noqa: A002
    last = seqs[-1] if seqs else 0
    end = last if next is None else next
    return Page(re=re, epoch=epoch, entries=[entry(seq) for seq in seqs], next=end, head=end, more=more)
