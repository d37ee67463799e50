"""The first messages of a link: who speaks, until when, and what a one-time code gets."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import NamedTuple, Protocol

import msgspec

from waybread_daemon.config import Config
from waybread_daemon.link.accounts import token_id, valid_token
from waybread_daemon.link.guard import Guard
from waybread_daemon.link.pairing import Pairing
from waybread_daemon.link.sockets import LinkSocket
from waybread_daemon.sessions.desk import Desk
from waybread_daemon.sessions.job import error_answer
from waybread_daemon.store.contract import StoreFault, Token
from waybread_daemon.watching.counts import UNKNOWN
from waybread_protocol.codec import Codec
from waybread_protocol.errors import CloseCode, ErrorCode, FrameError, RequestError
from waybread_protocol.limits import HELLO_MAX_BYTES, type_of
from waybread_protocol.messages import Answer, FromClient, Hello, Paired, Part


class Log(Protocol):
    """The part of a structlog logger that is used here."""

    def info(self, event: str, **fields: object) -> None:
        """What happens once a link."""
        ...


class House(Protocol):
    """What the server lends to an opening."""

    desk: Desk
    config: Config
    guard: Guard
    pairing: Pairing


class Opened(Protocol):
    """The connection that is opened."""

    socket: LinkSocket
    token: str

    def received(self, frame: bytes | str) -> None:
        """Counts a frame."""
        ...

    def answer(self, answer: Answer) -> None:
        """Sends an answer."""
        ...

    async def close(self, code: CloseCode, reason: str) -> None:
        """Ends the link when what was answered is sent."""
        ...


class Greeting(NamedTuple):
    """A hello with a valid token: the link may be welcomed."""

    hello: Hello
    token: Token


class _Refusal(Exception):  # noqa: N818  # it ends an opening, and is no fault
    """What a first message is answered with before the link is closed. `guessed`: it had a wrong token or code."""

    def __init__(self, re: int, why: str, *, guessed: bool = False) -> None:
        super().__init__(re, why)
        self.re = re
        self.why = why
        self.guessed = guessed


class Opening:
    """Takes first messages until one is a right hello, or the link is refused."""

    def __init__(
        self, link: Opened, house: House, codec: Codec[FromClient], log: Log, flushed: Callable[[], Awaitable[None]]
    ) -> None:
        self._link = link
        self._house = house
        self._codec = codec
        self._log = log
        self._flushed = flushed
        self._deadline: asyncio.Timeout | None = None

    async def greet(self) -> Greeting | None:
        """The hello with which the link opens; None where it was refused, or did not come in time, and is closed."""
        timeout_s = self._house.config.hello_timeout_s
        try:
            async with asyncio.timeout(timeout_s) as self._deadline:
                while True:
                    greeting = await self._first(await self._link.socket.recv())
                    if greeting is not None:
                        break
        except TimeoutError:
            self._house.guard.gave_up(self._link.socket)
            await self._refuse(_Refusal(0, f"no hello came within {timeout_s:g} s"))
            return None
        except _Refusal as refusal:
            await self._refuse(refusal)
            return None
        house = self._house
        if house.guard.greeted(self._link.socket, greeting.token.device.number):
            return greeting
        house.desk.counts.refusals["device_connections"] += 1
        most = house.config.max_device_connections
        await self._turn_away(
            greeting.hello.id,
            f"this device has {most} links already, which is the most (max_device_connections): close one of them, or try "
            "again later",
            "too many links of this device",
        )
        return None

    async def _first(self, frame: bytes | str) -> Greeting | None:
        """What a first message opens; None where another one may follow it."""
        self._link.received(frame)
        self._codec.check_kind(frame)
        if len(frame if isinstance(frame, bytes) else frame.encode()) > HELLO_MAX_BYTES:
            raise _Refusal(0, f"the first message is over {HELLO_MAX_BYTES} bytes")
        try:
            message = self._codec.decode(frame)
        except RequestError as fault:
            self._house.desk.counts.requests[UNKNOWN] += 1
            await self._misread(frame, fault)
            return None
        self._house.desk.counts.requests[UNKNOWN if isinstance(message, Part) else type_of(message)] += 1
        if not isinstance(message, Hello):
            re = 0 if isinstance(message, Part) else message.id
            raise _Refusal(re, f"the first message is {type_of(message)!r}, not 'hello'")
        if message.token and message.code:
            sentence = (
                "hello has a token and a code: send the code once to get a token, and from then on the token alone"
            )
            self._link.answer(error_answer(message.id, RequestError(ErrorCode.BAD_MESSAGE, sentence)))
            return None
        if message.code:
            await self._pair(message)
            return None
        token = await self._find(message.id, message.token)
        if token is None:
            why = "the token is unknown, wrong or revoked" if message.token else "there is no valid token"
            raise _Refusal(message.id, why, guessed=True)
        return Greeting(message, token)

    async def _misread(self, frame: bytes | str, fault: RequestError) -> None:
        """A message with a bad field is told so where its token or code is right. The code stays good."""
        said = _secrets_of(frame)
        if said is None:
            raise _Refusal(fault.re, "the first message is no valid hello")
        if said.code:
            self._check_barred(fault.re)
            right = not said.token and self._house.pairing.knows(said.code)
        else:
            right = await self._find(fault.re, said.token) is not None
            self._link.token = ""
        if not right:
            raise _Refusal(fault.re, "the first message is no valid hello", guessed=True)
        self._link.answer(error_answer(fault.re, fault))

    async def _pair(self, hello: Hello) -> None:
        """Answers with the token that the code stands for, with which the client says hello again."""
        self._check_barred(hello.id)
        until = self._stop_clock()
        try:
            made = await self._house.pairing.take(hello.code, hello.name)
        except StoreFault as fault:
            sentence = f"{fault.sentence}; the code is still good: try again"
            self._link.answer(error_answer(hello.id, RequestError(fault.code, sentence)))
            await self._flushed()
            raise _try_later() from fault
        finally:
            self._start_clock(until)
        if made is None:
            raise _Refusal(hello.id, "the code is wrong, used or too old", guessed=True)
        self._log.info("paired", device=made.device.device, role=made.role)
        self._link.answer(Paired(re=hello.id, device=made.device.device, role=made.role, token=made.token))

    def _stop_clock(self) -> float | None:
        """Nothing is broken off that makes a token: it would be there, and nobody would know it."""
        if self._deadline is None:
            return None
        until = self._deadline.when()
        self._deadline.reschedule(None)
        return until

    def _start_clock(self, until: float | None) -> None:
        if self._deadline is not None:
            self._deadline.reschedule(until)

    async def _find(self, re: int, text: str) -> Token | None:
        self._check_barred(re)
        # Held before it is looked up, or the watch would miss that it is revoked between the look and the welcome.
        self._link.token = token_id(text)
        try:
            found = await self._house.desk.live.store.look(lambda reader: valid_token(reader, text))
        except StoreFault as fault:
            raise _try_later() from fault
        if found is None:
            self._link.token = ""
        return found

    def _check_barred(self, re: int) -> None:
        """No token and no code is looked at where too many from this address were wrong: it came in before they were."""
        if why := self._house.guard.barred(self._link.socket.client):
            self._link.answer(error_answer(re, RequestError(ErrorCode.BUSY, why)))
            raise FrameError(CloseCode.TRY_LATER, why)

    async def _refuse(self, refusal: _Refusal) -> None:
        house = self._house
        self._log.info("hello_refused", why=refusal.why)
        if refusal.guessed:
            house.guard.failed(self._link.socket.client)
        house.desk.counts.failed_hellos += 1
        sentence = f"{refusal.why}: say hello with a valid token"
        self._link.answer(error_answer(refusal.re, RequestError(ErrorCode.UNAUTHENTICATED, sentence)))
        await self._flushed()
        await self._link.close(CloseCode.UNAUTHENTICATED, refusal.why)

    async def _turn_away(self, re: int, sentence: str, why: str) -> None:
        self._log.info("link_refused", why=why)
        self._link.answer(error_answer(re, RequestError(ErrorCode.BUSY, sentence)))
        await self._flushed()
        await self._link.close(CloseCode.TRY_LATER, why)


def _try_later() -> FrameError:
    return FrameError(CloseCode.TRY_LATER, "the store does not answer just now: try again later")


_SURROGATE = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")


class _Secrets(msgspec.Struct):
    type: str
    token: str = ""
    code: str = ""


def _secrets_of(frame: bytes | str) -> _Secrets | None:
    """The token or the code of a hello whose other fields do not fit."""
    try:
        if isinstance(frame, str):
            # A decoder takes no half of a surrogate pair, whichever field it stands in; no secret has one.
            hello = msgspec.json.decode(_SURROGATE.sub(r"\\ufffd", frame), type=_Secrets)
        else:
            hello = msgspec.msgpack.decode(frame, type=_Secrets)
    except (msgspec.DecodeError, RecursionError):
        return None
    return hello if hello.type == "hello" and (hello.token or hello.code) else None
