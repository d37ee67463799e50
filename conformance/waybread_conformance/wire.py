"""One connection as a client has it, plainly: subprotocol, codec, parts. It shares no code with the product's own."""

from __future__ import annotations

import http
import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from time import sleep
from typing import cast

import msgspec
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

SUBPROTOCOLS = {"msgpack": "waybread.v1.msgpack", "json": "waybread.v1.json"}
MAX_FRAME_BYTES = 1024 * 1024
PART_BYTES = 500_000
"""Data of one part: as base64 in JSON it still stays below a frame of 1 MiB."""
OPEN_TIMEOUT_S = 10.0
WAIT_MOST_S = 90
"""So long a connection waits in all for a daemon that asks to come back later."""
_LATER = (http.HTTPStatus.TOO_MANY_REQUESTS, http.HTTPStatus.SERVICE_UNAVAILABLE)


class WireError(Exception):
    """The connection gave something else than a message: `what` says what."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what

    def __str__(self) -> str:
        return self.what


class RefusedError(WireError):
    """The daemon answered the opening handshake with an HTTP status."""

    def __init__(self, status: int, body: str) -> None:
        super().__init__(f"HTTP {status}: {body}")
        self.status = status
        self.body = body


class ClosedError(WireError):
    """The daemon closed the connection."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(f"the connection was closed with {code} {reason}".rstrip())
        self.code = code
        self.reason = reason


class Wire:
    """A connection in one codec. `max_frame_bytes` is what the daemon takes in one frame: larger goes in parts."""

    def __init__(
        self, url: str, codec: str, *, subprotocols: Sequence[str] | None = None, origin: str | None = None
    ) -> None:
        """Connect. `subprotocols` and `origin` are for the cases that try what is refused.

        The cases try wrong tokens, and a daemon takes only so many of them in a minute: where it says when to come
        back, that is waited for.

        Raises:
            RefusedError: the daemon answers with an HTTP status.
            WireError: there is nobody, or it is no websocket.

        """
        self.codec = codec
        self.max_frame_bytes = MAX_FRAME_BYTES
        offered = [SUBPROTOCOLS[codec]] if subprotocols is None else subprotocols
        self._open = ExitStack()
        patience_s = WAIT_MOST_S
        while True:
            try:
                self._connection = self._connect(url, offered, origin)
                return
            except InvalidStatus as error:
                wait_s = _asked_to_wait_s(error)
                body = bytes(error.response.body or b"").decode("utf-8", "replace")
                if not 0 < wait_s <= patience_s:
                    raise RefusedError(error.response.status_code, body) from error
            except (OSError, WebSocketException) as error:
                raise WireError(f"{url} cannot be reached: {error}") from error
            patience_s -= wait_s
            print(f"waybread conformance: the daemon asks to wait for {wait_s} s: {body.strip()}", file=sys.stderr)
            sleep(wait_s)

    def _connect(self, url: str, offered: Sequence[str], origin: str | None) -> ClientConnection:
        return self._open.enter_context(
            connect(
                url,
                subprotocols=[Subprotocol(name) for name in offered] or None,
                origin=Origin(origin) if origin is not None else None,
                compression=None,
                max_size=None,
                proxy=None,
                open_timeout=OPEN_TIMEOUT_S,
            )
        )

    @property
    def subprotocol(self) -> str:
        """The subprotocol that the daemon took."""
        return str(self._connection.subprotocol)

    def encode(self, message: Mapping[str, object]) -> bytes:
        """The message as bytes of this connection's codec."""
        return msgspec.msgpack.encode(message) if self.codec == "msgpack" else msgspec.json.encode(message)

    def send(self, message: Mapping[str, object]) -> None:
        """Send a message, in parts where it is larger than a frame may be. Raises `WireError`."""
        encoded = self.encode(message)
        if len(encoded) <= self.max_frame_bytes:
            self.send_frame(encoded)
            return
        starts = range(0, len(encoded), PART_BYTES)
        for index, start in enumerate(starts):
            data = encoded[start : start + PART_BYTES]
            part = {"type": "part", "index": index, "last": index == len(starts) - 1, "data": data}
            self.send_frame(self.encode(part))

    def send_frame(self, frame: bytes, *, text: bool | None = None) -> None:
        """Send one frame as it is; `text` says of which kind, the codec's own where it is left out."""
        try:
            self._connection.send(frame, text=self.codec == "json" if text is None else text)
        except ConnectionClosed as error:
            raise _closed(error) from error

    def receive(self, timeout_s: float) -> Mapping[str, object]:
        """The next message, its parts joined.

        Raises:
            ClosedError: the daemon closes instead.
            WireError: nothing comes in time, or it is no message of this codec.

        """
        message = self._decode(self._receive_frame(timeout_s))
        if message.get("type") != "part":
            return message
        pieces: list[bytes] = []
        while True:
            if message.get("type") != "part" or message.get("index") != len(pieces):
                raise WireError(f"part {len(pieces)} is wanted, got {message!r:.200}")
            pieces.append(msgspec.convert(message.get("data"), bytes))
            if message.get("last") is True:
                return self._decode(b"".join(pieces))
            message = self._decode(self._receive_frame(timeout_s))

    def close(self) -> None:
        """Say goodbye and wait for it."""
        self._open.close()

    def _receive_frame(self, timeout_s: float) -> bytes:
        try:
            return self._connection.recv(timeout_s, decode=False)
        except TimeoutError as error:
            raise WireError(f"nothing came within {timeout_s:g} s") from error
        except ConnectionClosed as error:
            raise _closed(error) from error

    def _decode(self, encoded: bytes) -> Mapping[str, object]:
        try:
            message: object = msgspec.msgpack.decode(encoded) if self.codec == "msgpack" else json.loads(encoded)
        except (msgspec.DecodeError, ValueError) as error:
            raise WireError(f"the daemon sent what is no {self.codec}: {encoded!r:.200}") from error
        if not isinstance(message, dict):
            raise WireError(f"the daemon sent what is no map: {message!r:.200}")
        return cast("dict[str, object]", message)


def _closed(error: ConnectionClosed) -> ClosedError:
    return ClosedError(error.rcvd.code, error.rcvd.reason) if error.rcvd is not None else ClosedError(1006, str(error))


def _asked_to_wait_s(refused: InvalidStatus) -> int:
    """After how many seconds the daemon wants to be asked again; 0 where it says nothing of the kind."""
    said = refused.response.headers.get("Retry-After", "")
    return int(said) if refused.response.status_code in _LATER and said.isdecimal() else 0
