"""A socket from the moment it is accepted: counted, encrypted where there is a certificate, then a WebSocket."""

from __future__ import annotations

import asyncio
import resource
import ssl
from typing import Any, Protocol, cast

from websockets.asyncio.server import Server as WebsocketServer
from websockets.asyncio.server import ServerConnection
from websockets.server import ServerProtocol

from waybread_daemon.link.guard import SPARE_SOCKETS
from waybread_daemon.link.proxies import UNKNOWN

HANDSHAKE_TIMEOUT_S = 10
"""For each of the two handshakes, TLS and HTTP: it bounds how long a socket that says nothing is kept."""
_TLS_CLOSE_TIMEOUT_S = 5
_HANDSHAKE_RECORD = 0x16
_SENTENCE = b"this port speaks TLS: use https:// or wss://\n"
_SPEAK_TLS = (
    b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\n"
    b"Content-Length: %d\r\nConnection: close\r\n\r\n%b" % (len(_SENTENCE), _SENTENCE)
)
_OTHER_FILES = 192
"""The store's connections, the log, metrics, the control socket and its commands."""


class Keeper(Protocol):
    """Who takes sockets in."""

    def came(self, socket: LinkSocket) -> bool:
        """Whether it may stay."""
        ...

    def left(self, socket: LinkSocket) -> None:
        """It is gone."""
        ...

    def context(self) -> ssl.SSLContext | None:
        """What it is encrypted with: the certificate that is in force at that moment."""
        ...

    def unencrypted(self, why: str) -> None:
        """A client and the daemon did not agree on TLS."""
        ...


class LinkSocket(ServerConnection):
    """A connection of the library's, which it calls as any other.

    It is counted before its first byte, so that sockets on which nothing is ever said are bounded, too. TLS is begun here
    rather than by the listening side, so that the same holds for sockets that never finish that handshake, so that a new
    certificate is used from the next one on, and so that plain HTTP is told what is wrong.
    """

    keeper: Keeper

    def __init__(self, protocol: ServerProtocol, server: WebsocketServer, **options: Any) -> None:
        super().__init__(protocol, server, **options)
        self.peer = UNKNOWN
        """The address that speaks to this machine: the client's, or a proxy's."""
        self.client = UNKNOWN
        """The client's address, by which it is counted."""
        self._plain: asyncio.Transport
        self._context: ssl.SSLContext | None = None
        self._made = False
        self._early: list[bytes] = []
        """What has come and nobody could take yet: first for the TLS handshake, and after that for the link."""
        self._ended_early = False
        self._securing: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None

    def abort(self) -> None:
        """Ends it at once, whatever state it is in."""
        (self.transport if self._made else self._plain).abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """It is accepted."""
        self._plain = cast("asyncio.Transport", transport)
        peer = transport.get_extra_info("peername")
        self.peer = self.client = str(peer[0]) if peer else UNKNOWN
        if not self.keeper.came(self):
            self._plain.abort()
            return
        self._context = self.keeper.context()
        if self._context is None:
            self._begin(self._plain)
        else:
            self._timer = self.loop.call_later(HANDSHAKE_TIMEOUT_S, self._plain.abort)

    def data_received(self, data: bytes) -> None:
        """Bytes of the client."""
        if self._made:
            super().data_received(data)
            return
        self._early.append(data)
        if self._context is None or self._timer is None:
            return
        self._timer.cancel()
        self._timer = None
        if data[0] != _HANDSHAKE_RECORD:
            self.keeper.unencrypted("no TLS")
            if data[:1].isalpha():
                self._plain.write(_SPEAK_TLS)
            self._plain.close()
            return
        self._securing = self.loop.create_task(self._secure(self._context))
        # The task sets TLS up in its first step and lets it begin in the next round of the loop. What is called there
        # behind that comes after it, and before anything else is read.
        self.loop.call_soon(self.loop.call_soon, self._hand_on)

    def eof_received(self) -> None:
        """The client sends nothing more."""
        if self._made:
            super().eof_received()
        else:
            self._ended_early = True

    def connection_lost(self, exc: Exception | None) -> None:
        """It is gone."""
        self.keeper.left(self)
        if self._timer is not None:
            self._timer.cancel()
        if self._made:
            super().connection_lost(exc)
        elif self._securing is not None:
            self._securing.cancel()

    async def _secure(self, context: ssl.SSLContext) -> None:
        try:
            secured = await self.loop.start_tls(
                self._plain,
                self,
                context,
                server_side=True,
                ssl_handshake_timeout=HANDSHAKE_TIMEOUT_S,
                ssl_shutdown_timeout=_TLS_CLOSE_TIMEOUT_S,
            )
        except OSError as fault:
            # Who does not trust the certificate, only looks whether the port is open, is slow, or is gone.
            self.keeper.unencrypted(getattr(fault, "reason", None) or type(fault).__name__)
            self._plain.abort()
            self.keeper.left(self)
            return
        if secured is None or self._plain.is_closing():
            self.keeper.left(self)
            return
        self._begin(secured)
        for data in self._early:
            super().data_received(data)
        self._early.clear()
        if self._ended_early:
            super().eof_received()

    def _hand_on(self) -> None:
        """Gives the TLS handshake its first bytes, which were read to see that it is one."""
        given, self._early = b"".join(self._early), []
        if self._plain.get_protocol() is self or self._plain.is_closing():
            return
        # Each loop has a class of its own for it, with the same two methods.
        tls = cast("asyncio.BufferedProtocol", self._plain.get_protocol())
        while given:
            room = memoryview(tls.get_buffer(len(given)))
            size = min(len(room), len(given))
            room[:size] = given[:size]
            tls.buffer_updated(size)
            given = given[size:]

    def _begin(self, transport: asyncio.Transport) -> None:
        self._made = True
        super().connection_made(transport)


def sockets_of(keeper: Keeper) -> type[LinkSocket]:
    """The class of the sockets of one server: the library makes them, and gives them nothing of ours."""
    return type("LinkSocket", (LinkSocket,), {"keeper": keeper})


def raise_descriptors(links: int) -> str:
    """Lets the process open as many files and sockets as so many links need. A sentence where it may not, else empty."""
    needed = links + SPARE_SOCKETS + _OTHER_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return ""
    soft = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    if soft >= needed:
        return ""
    return (
        f"this process may open {soft} files and sockets, and {links} links (max_connections) need {needed}: raise its limit "
        "(`ulimit -n`, LimitNOFILE), or lower max_connections"
    )
