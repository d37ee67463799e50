"""The listening side: takes connections, keeps an eye on them, and ends them all when the daemon stops."""

from __future__ import annotations

import asyncio
import http
import logging
import ssl
import time
from collections.abc import Callable, Iterable

from websockets.asyncio.server import Server as WebsocketServer
from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers
from websockets.http11 import Request, Response
from websockets.typing import Subprotocol

from waybread_daemon.certificates import CertificateFault
from waybread_daemon.config import Config, ConfigError, is_loopback
from waybread_daemon.link import draining
from waybread_daemon.link.accounts import Watch
from waybread_daemon.link.connection import CLOSE_TIMEOUT_S, Connection, Log
from waybread_daemon.link.control.addresses import multicast_name
from waybread_daemon.link.gate import Gate, Health, Refused, choose_subprotocol, plain
from waybread_daemon.link.guard import Guard
from waybread_daemon.link.pairing import Pairing
from waybread_daemon.link.proxies import Proxies
from waybread_daemon.link.sockets import HANDSHAKE_TIMEOUT_S, LinkSocket, raise_descriptors, sockets_of
from waybread_daemon.link.tls import Encryption
from waybread_daemon.sessions.desk import Desk
from waybread_protocol.errors import CloseCode
from waybread_protocol.messages import Limits

PING_INTERVAL_S = 20
PING_TIMEOUT_S = 20
SEND_TIMEOUT_S = 60
"""A client that takes nothing of a frame for so long is cut off."""
BACKLOG = 2048
"""Sockets that the system keeps until they are taken: in a flood a client's own would have to be tried again else."""
_CHECK_INTERVAL_S = 2
RESTART_S = 5
"""What is advised while the daemon stops: it may be there again by then."""
_STOPPING = "the daemon is stopping: link again when it is back\n"


class Server:
    """All links of a daemon."""

    def __init__(self, desk: Desk, config: Config, server_name: str, bind_log: Callable[..., Log]) -> None:
        self.desk = desk
        self.config = config
        self.limits = Limits(max_frame=config.max_frame, max_message=config.max_message, page_bytes=config.page_bytes)
        self.server_name = server_name
        self.draining = False
        self._bind_log = bind_log
        self._log = bind_log()
        self.guard = Guard(config, time.monotonic)
        self.pairing = Pairing(desk.live.store, desk.now_ms)
        self.encryption: Encryption | None = None
        """What the sockets are encrypted with, from the start on."""
        self._gate = self._gate_of(config)
        self._proxies = Proxies(config.trusted_proxies)
        self._connections: set[Connection] = set()
        self._opened = 0
        self._server: WebsocketServer | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._closing: set[asyncio.Task[None]] = set()

    async def start(self) -> int:
        """Listens, and returns the port.

        Raises `OSError` where the address cannot be had, and `ConfigError` where the certificate cannot.
        """
        try:
            self.encryption = Encryption(self.config, self._log, self.desk.now_ms)
        except CertificateFault as fault:
            raise ConfigError([str(fault)]) from fault
        if not (self.config.tls_cert or is_loopback(self.config.host)):
            self._log.warning(
                "plaintext",
                why=f"links on {self.config.host} are not encrypted: who listens in reads tokens and results",
            )
        if warning := raise_descriptors(self.config.max_connections):
            self._log.warning("few_descriptors", why=warning)
        self._server = await serve(
            self._serve,
            self.config.host,
            self.config.port,
            process_request=self._answer_http,
            select_subprotocol=_select,
            compression=None,
            max_size=self.limits.max_frame,
            ping_interval=PING_INTERVAL_S,
            ping_timeout=PING_TIMEOUT_S,
            close_timeout=CLOSE_TIMEOUT_S,
            open_timeout=HANDSHAKE_TIMEOUT_S,
            backlog=BACKLOG,
            server_header=None,
            logger=_quiet_logger(),
            create_connection=sockets_of(self),
        )
        watch = Watch(self.desk.live.store, lambda: self._connections, self._revoked)
        loop = asyncio.get_running_loop()
        running = (watch.run(), self._cut_off_slow(), self.encryption.watch())
        self._tasks = [loop.create_task(each) for each in running]
        return int(next(iter(self._server.sockets)).getsockname()[1])

    @property
    def connections(self) -> list[Connection]:
        """Those that are open, with those that have not yet said hello. To be asked in any thread."""
        return list(self._connections)

    @property
    def fingerprint(self) -> str:
        """The SHA-256 of the certificate in force, in lower-case hex; empty where the daemon does not encrypt."""
        return "" if self.encryption is None else self.encryption.fingerprint

    async def drain(self, hurry: asyncio.Event | None = None) -> None:
        """Finishes and answers what is under way, then closes every link; new requests are `busy` meanwhile.

        It takes less than half a minute, whatever clients do; and a few seconds from when `hurry` is set. Whoever comes
        meanwhile is told that the daemon stops, until the last link is closed.
        """
        self.draining = True
        hurry = hurry or asyncio.Event()
        await draining.finish(self.desk, lambda: self.connections, hurry)
        for task in self._tasks:
            task.cancel()
        await draining.close(
            lambda: self.connections, lambda link: self._close(link, CloseCode.RESTARTING, "restarting"), hurry
        )
        self.guard.close()
        if self._server is not None:
            await draining.end(self._server, hurry)
        self.desk.end()

    def reconfigure(self, config: Config) -> None:
        """Puts other settings into force, for the links that are open, too.

        The address, whether it is encrypted, and `page_bytes` stay as they were at the start; `max_frame` and
        `max_message` are for links that open from now on: the others were told theirs. Of limits that are lower than what
        is there nobody is cut off.
        """
        self.config = config
        self.limits = Limits(
            max_frame=config.max_frame, max_message=config.max_message, page_bytes=self.limits.page_bytes
        )
        self.guard.config = config
        self._gate = self._gate_of(config)
        self._proxies = Proxies(config.trusted_proxies)
        if self.encryption is not None:
            self.encryption.reconfigure(config)

    # --- Sockets -----------------------------------------------------------------------------------------------------

    def came(self, socket: LinkSocket) -> bool:
        """Whether a socket may begin its handshake."""
        return self.guard.came(socket, self._proxies.client(socket.peer, Headers()))

    def left(self, socket: LinkSocket) -> None:
        """The socket is gone."""
        self.guard.left(socket)

    def context(self) -> ssl.SSLContext | None:
        """What the next socket is encrypted with."""
        return None if self.encryption is None else self.encryption.context

    def unencrypted(self, why: str) -> None:
        """A client did not come to terms about TLS: it spoke plain HTTP, or does not trust the certificate."""
        self._log.debug("not_encrypted", why=why)

    async def _serve(self, socket: ServerConnection) -> None:
        if not isinstance(socket, LinkSocket):
            raise TypeError("the library made a socket that is none of ours")
        self._opened += 1
        log = self._bind_log(connection=self._opened)
        connection = Connection(socket, self, log)
        self._connections.add(connection)
        try:
            await connection.run()
        except Exception as fault:
            # The library closes with 1011 and would log it, but its log is kept quiet: nobody else tells.
            self.desk.report(fault)
            raise
        finally:
            self._connections.discard(connection)
            log.info("link_closed", code=socket.close_code)

    def _answer_http(self, socket: ServerConnection, request: Request) -> Response | None:
        if not isinstance(socket, LinkSocket):
            raise TypeError("the library made a socket that is none of ours")
        why = "the daemon is stopping" if self.draining else self.desk.not_ready
        secure = self.context() is not None or self._proxies.secure(socket.peer, request.headers)
        answer = self._gate.answer(request, Health(ready=not why, why=why), secure=secure)
        if answer is not None:
            return answer
        if self.draining:
            self.desk.counts.refusals["stopping"] += 1
            return plain(http.HTTPStatus.SERVICE_UNAVAILABLE, _STOPPING, RESTART_S)
        socket.client = self._proxies.client(socket.peer, request.headers)
        refusal = self.guard.admit(socket, socket.client)
        if refusal is not None:
            self.desk.counts.refusals[refusal.limit] += 1
            return plain(refusal.status, f"{refusal.sentence}\n", refusal.retry_s)
        socket.protocol.max_message_size = self.limits.max_frame
        return None

    def _gate_of(self, config: Config) -> Gate:
        return Gate(config, self._count_refused, multicast_name(self.desk.live.store.epoch))

    def _count_refused(self, why: Refused) -> None:
        self.desk.counts.refusals[why] += 1

    def linked_tokens(self) -> list[str]:
        """The public ids of the tokens of all links, those too that are just saying hello."""
        return [connection.token for connection in self._connections if connection.token]

    def _revoked(self, token: str) -> None:
        for connection in list(self._connections):
            if connection.token == token:
                self._close_soon(connection, CloseCode.REVOKED, "the token was revoked")

    async def _cut_off_slow(self) -> None:
        clock = asyncio.get_running_loop().time
        while True:
            await asyncio.sleep(_CHECK_INTERVAL_S)
            for connection in list(self._connections):
                since = connection.outbox.sending_since
                if since is not None and clock() - since > SEND_TIMEOUT_S:
                    self._close_soon(connection, CloseCode.TOO_SLOW, "too slow to take what it is sent")

    def _close_soon(self, connection: Connection, code: CloseCode, reason: str) -> None:
        if connection.ending:
            # Closing may take longer than until the next look.
            return
        task = asyncio.get_running_loop().create_task(self._close(connection, code, reason))
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def _close(self, connection: Connection, code: CloseCode, reason: str) -> None:
        self._log.info("link_ended", code=code.value, why=reason)
        await connection.close(code, reason)


def _select(_: ServerConnection, offered: Iterable[str]) -> Subprotocol | None:
    chosen = choose_subprotocol(offered)
    return None if chosen is None else Subprotocol(chosen)


def _quiet_logger() -> logging.Logger:
    """The library's logger: below this level it writes headers, and with them tokens that a client puts there."""
    logger = logging.getLogger("waybread.websockets")
    logger.setLevel(logging.CRITICAL)
    return logger
