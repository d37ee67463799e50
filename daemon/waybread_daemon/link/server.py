"""The listening side: takes connections, keeps an eye on them, and ends them all when the daemon stops."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterable

from websockets.asyncio.server import Server as WebsocketServer
from websockets.asyncio.server import ServerConnection, serve
from websockets.http11 import Request, Response
from websockets.typing import Subprotocol

from waybread_daemon.config import Config
from waybread_daemon.link.accounts import Watch
from waybread_daemon.link.connection import CLOSE_TIMEOUT_S, Connection, Log
from waybread_daemon.link.gate import Gate, Health, choose_subprotocol
from waybread_daemon.sessions.desk import Desk
from waybread_protocol.errors import CloseCode
from waybread_protocol.messages import Limits

PING_INTERVAL_S = 20
PING_TIMEOUT_S = 20
SEND_TIMEOUT_S = 60
"""A client that takes nothing of a frame for so long is cut off."""
_CHECK_INTERVAL_S = 2
_DRAIN_TIMEOUT_S = 25


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
        self._gate = Gate(config.host, config.allowed_hosts, config.allowed_origins)
        self._connections: set[Connection] = set()
        self._opened = 0
        self._server: WebsocketServer | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._closing: set[asyncio.Task[None]] = set()

    async def start(self) -> int:
        """Listens, and returns the port. Raises `OSError` where the address cannot be had."""
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
            server_header=None,
            logger=_quiet_logger(),
        )
        watch = Watch(self.desk.live.store, lambda: self._connections, self._revoked)
        loop = asyncio.get_running_loop()
        self._tasks = [loop.create_task(watch.run()), loop.create_task(self._cut_off_slow())]
        return int(next(iter(self._server.sockets)).getsockname()[1])

    async def drain(self) -> None:
        """Finishes and answers what is under way, then closes every link; new requests are `busy` meanwhile."""
        self.draining = True
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_DRAIN_TIMEOUT_S):
                await self.desk.quiet()
                await asyncio.gather(*(connection.outbox.flushed() for connection in list(self._connections)))
        for task in self._tasks:
            task.cancel()
        if self._server is not None:
            await asyncio.gather(
                *(self._close(link, CloseCode.RESTARTING, "restarting") for link in list(self._connections))
            )
            self._server.close()
            await self._server.wait_closed()

    async def _serve(self, socket: ServerConnection) -> None:
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

    def _answer_http(self, _: ServerConnection, request: Request) -> Response | None:
        if self.draining:
            return self._gate.answer(request, Health(ready=False, why="the daemon is stopping"))
        why = self.desk.live.failing
        return self._gate.answer(request, Health(ready=not why, why=why))

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
