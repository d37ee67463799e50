"""One connection: from the handshake and `hello` to its end, messages whole, parts in both directions."""

from __future__ import annotations

import asyncio
import logging
import ssl as tls
from dataclasses import dataclass
from typing import Any, NoReturn
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import (
    ConnectionClosed,
    InvalidHandshake,
    InvalidProxy,
    InvalidStatus,
    InvalidURI,
    WebSocketException,
)
from websockets.typing import Subprotocol

from waybread_client.errors import Denied, LinkEnded, Lost, closed
from waybread_protocol.codec import Codec, client_codec
from waybread_protocol.errors import CloseCode, ErrorCode, FrameError
from waybread_protocol.limits import (
    HELLO_TIMEOUT_S,
    INTEGER_MAX,
    MAX_FRAME_BYTES,
    MAX_MESSAGE_BYTES,
    PATH,
    PROTOCOL,
    SUBPROTOCOL_MSGPACK,
)
from waybread_protocol.messages import Answer, Error, FromDaemon, Hello, Part, Push, Welcome
from waybread_protocol.parts import Joiner, frames

PING_INTERVAL_S = 20.0
PING_TIMEOUT_S = 20.0
_CLOSE_TIMEOUT_S = 5.0
_REASON_BYTES = 123
_TEMPORARY_STATUS = frozenset({408, 425, 429})

# The library's own logger would print headers and messages, and with them the token, where its level is DEBUG.
_LOGGER = logging.getLogger("waybread_client.websocket")
_LOGGER.setLevel(logging.INFO)


@dataclass(frozen=True, kw_only=True, repr=False)
class Peer:
    """Whom to speak to, and how. `token` is not shown by `repr`."""

    url: str
    token: str
    client: str = f"waybread-client {PROTOCOL}"
    subprotocol: str = SUBPROTOCOL_MSGPACK
    max_frame: int = MAX_FRAME_BYTES
    max_message: int = MAX_MESSAGE_BYTES
    ssl: tls.SSLContext | None = None
    proxy: str | None = None

    def __post_init__(self) -> None:
        if urlsplit(self.url).scheme not in ("ws", "wss"):
            raise ValueError(f"the address {self.url!r} is not of a link: it begins with ws:// or wss://")

    def __repr__(self) -> str:
        return f"Peer(url={self.url!r}, client={self.client!r}, subprotocol={self.subprotocol!r})"

    @property
    def address(self) -> str:
        """The URL with the link's own path, unless it names one (behind a proxy that adds a prefix)."""
        parts = urlsplit(self.url)
        return parts._replace(path=PATH).geturl() if parts.path in ("", "/") else self.url


class Wire:
    """One connection that has been welcomed. One task sends, one receives."""

    def __init__(self, socket: ClientConnection, peer: Peer) -> None:
        self._socket = socket
        self._codec: Codec[FromDaemon] = client_codec(peer.subprotocol)
        self._joiner = Joiner(peer.max_message)
        # What the daemon takes is known from `welcome`; `hello` fits into any frame and goes whole.
        self._max_frame = INTEGER_MAX
        self.welcome: Welcome

    async def send(self, encoded: bytes) -> None:
        """Sends one message, in parts where it is larger than a frame may be. Raises `Lost` or `Denied`."""
        try:
            for frame in frames(encoded, self._max_frame, text=self._codec.text):
                await self._socket.send(frame, text=self._codec.text)
        except ConnectionClosed as fault:
            raise _meaning(fault) from None

    async def receive(self) -> Answer | Push:
        """The next message, whole.

        Raises `Lost` or `Denied` at the connection's end, `waybread_protocol.errors.RequestError` for a message that does
        not fit the contract; after that one the connection goes on.
        """
        try:
            while True:
                frame = await self._socket.recv()
                self._codec.check_kind(frame)
                message = self._whole(frame)
                if message is not None:
                    return message
        except ConnectionClosed as fault:
            raise _meaning(fault) from None
        except FrameError as fault:
            await self.close(fault.code, fault.sentence)
            raise Lost(f"the daemon sent what is no message: {fault.sentence}") from None

    def _whole(self, frame: bytes | str) -> Answer | Push | None:
        """The message that ends with this frame, None where parts are missing."""
        message = self._codec.decode(frame)
        if not isinstance(message, Part):
            if self._joiner.waiting:
                raise FrameError(CloseCode.UNDECODABLE, "a message came between the parts of another")
            return message
        joined = self._joiner.join(message)
        if joined is None:
            return None
        message = self._codec.decode(joined)
        if isinstance(message, Part):
            raise FrameError(CloseCode.UNDECODABLE, "a part came inside of parts")
        return message

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """Closes the connection; again does nothing."""
        await self._socket.close(code, reason.encode()[:_REASON_BYTES].decode(errors="ignore"))

    async def say_hello(self, hello: Hello) -> None:
        """The first message and its answer. Raises `Lost` where trying again may help, else `LinkEnded`."""
        if self._socket.subprotocol != self._codec.subprotocol:
            raise LinkEnded(f"what answers there is no link: it did not take the subprotocol {self._codec.subprotocol}")
        await self.send(self._codec.encode(hello))
        answer = await self.receive()
        if isinstance(answer, Error):
            if answer.code == ErrorCode.UNAUTHENTICATED:
                raise Denied(CloseCode.UNAUTHENTICATED, f"the daemon does not know this token: {answer.message}")
            if answer.retry:
                raise Lost(f"the daemon takes nobody at the moment: {answer.message}")
            raise LinkEnded(f"the daemon refused to open the link: {answer.code}: {answer.message}")
        if not isinstance(answer, Welcome):
            raise LinkEnded("the daemon answered `hello` with something else than `welcome`")
        self.welcome = answer
        self._max_frame = answer.limits.max_frame


async def open_wire(peer: Peer, hello_id: int) -> Wire:
    """Connects and says hello. Raises `Lost` where trying again may help, else `LinkEnded`."""
    hello = Hello(
        id=hello_id, token=peer.token, client=peer.client, max_frame=peer.max_frame, max_message=peer.max_message
    )
    secure: dict[str, Any] = {} if peer.ssl is None else {"ssl": peer.ssl}
    try:
        socket = await connect(
            peer.address,
            subprotocols=[Subprotocol(peer.subprotocol)],
            compression=None,
            max_size=peer.max_frame,
            ping_interval=PING_INTERVAL_S,
            ping_timeout=PING_TIMEOUT_S,
            open_timeout=HELLO_TIMEOUT_S,
            close_timeout=_CLOSE_TIMEOUT_S,
            proxy=peer.proxy,
            logger=_LOGGER,
            **secure,
        )
    except (OSError, TimeoutError, WebSocketException) as fault:
        _refuse(peer, fault)
    wire = Wire(socket, peer)
    try:
        async with asyncio.timeout(HELLO_TIMEOUT_S):
            await wire.say_hello(hello)
    except TimeoutError:
        await wire.close()
        raise Lost(f"the daemon did not answer `hello` within {HELLO_TIMEOUT_S} s") from None
    except BaseException:
        await wire.close()
        raise
    return wire


def _refuse(peer: Peer, fault: OSError | WebSocketException) -> NoReturn:
    """No connection was made: for now, or for good."""
    sentence = f"no connection to {peer.address}: {str(fault) or type(fault).__name__}"
    if isinstance(fault, InvalidStatus):
        status = fault.response.status_code
        if 400 <= status < 500 and status not in _TEMPORARY_STATUS:
            said = fault.response.body[:200].decode(errors="replace").strip() if fault.response.body else ""
            raise LinkEnded(f"{peer.address} refuses the link with HTTP {status}. {said}".rstrip()) from None
    elif isinstance(fault, (InvalidURI, InvalidProxy, tls.SSLCertVerificationError)):
        raise LinkEnded(sentence) from None
    elif isinstance(fault, InvalidHandshake):
        raise Lost(f"{sentence} (is it a link of this project?)") from None
    raise Lost(sentence) from None


def _meaning(fault: ConnectionClosed) -> Lost | Denied:
    if fault.rcvd is None:
        return closed(None, "")
    return closed(fault.rcvd.code, fault.rcvd.reason)
