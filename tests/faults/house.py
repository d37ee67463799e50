"""The whole daemon in this process, on a disk that can fail, and a caller that speaks to it over a real socket."""

from __future__ import annotations

import asyncio
import functools
import itertools
import logging
import os
import signal
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar, cast
from unittest import mock
from urllib.parse import urlsplit

import apsw
import structlog
from structlog.typing import FilteringBoundLogger

from tests.faults.disk import Disk
from waybread_client.errors import Lost
from waybread_client.wire import Peer, Wire, open_wire
from waybread_daemon.config import Config
from waybread_daemon.link.accounts import make_device_id, make_token
from waybread_daemon.serving import STORE_NAME, serve
from waybread_daemon.store.sqlite import SqliteStore, open_accounts
from waybread_daemon.store.sqlite.purge import GRACE_MS
from waybread_daemon.store.sqlite.statements import value
from waybread_protocol.codec import client_codec
from waybread_protocol.limits import SUBPROTOCOL_MSGPACK
from waybread_protocol.messages import Answer, BaseAnswer, Lagged, Pushed, Request

A = TypeVar("A", bound=BaseAnswer)

_CODEC = client_codec(SUBPROTOCOL_MSGPACK)
_PATIENCE_S = 20


def new_token(data: Path) -> str:
    """A token of a new device, in a store that is made where there is none."""
    token = make_token()
    with open_accounts(data / STORE_NAME) as accounts:
        device = accounts.add_device(make_device_id(), "phone", 1)
        accounts.add_token(token.token, device.number, "device", token.secret_hash, 1)
    return token.text


class Lines:
    """What the daemon logged: the fields of each event."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []

    def logger(self) -> FilteringBoundLogger:
        def note(_: object, method: str, event: Any) -> str:
            self.events.append({**event, "method": method})
            raise structlog.DropEvent

        logger = structlog.wrap_logger(
            None, processors=[note], wrapper_class=structlog.make_filtering_bound_logger(logging.INFO)
        )
        return cast("FilteringBoundLogger", logger)

    def surprises(self) -> list[dict[str, Any]]:
        """Faults of the program: a fault of the disk is none, and that it is told is right."""
        told = [event for event in self.events if event["method"] not in ("info", "debug")]
        return [event for event in told if event["event"] != "not_ready"]


@asynccontextmanager
async def serving(data: Path, disk: Disk | None = None, *, grace_ms: int = GRACE_MS) -> AsyncGenerator[str, None]:
    """Serves as `waybread serve` does, and gives the address. It ends as it does on SIGTERM, without any surprise.

    `grace_ms` is how long content that no session holds stays. Raises `StoreRefusal` where the store cannot be opened.
    """
    lines = Lines()
    listening: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    vfs = None if disk is None else disk.name
    open_store = functools.partial(SqliteStore.open, grace_ms=grace_ms)
    with mock.patch.object(SqliteStore, "open", open_store):
        daemon = asyncio.create_task(
            serve(
                data,
                Config(port=0, free_floor_bytes=0),
                "waybread/faults",
                lines.logger(),
                listening.set_result,
                vfs=vfs,
            )
        )
        waiting: set[asyncio.Future[Any]] = {daemon, listening}
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    if daemon.done():
        await daemon
    try:
        yield listening.result()
    finally:
        os.kill(os.getpid(), signal.SIGTERM)
        async with asyncio.timeout(_PATIENCE_S):
            await daemon
    assert lines.surprises() == []


class Caller:
    """A client that asks one thing after another and hears every answer, errors included."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._ids = itertools.count(1)

    @property
    def epoch(self) -> str:
        return self._wire.welcome.epoch

    def next_id(self) -> int:
        return next(self._ids)

    async def ask(self, request: Request) -> Answer:
        async with asyncio.timeout(_PATIENCE_S):
            await self._wire.send(_CODEC.encode(request))
            answer = await self._wire.receive()
        assert not isinstance(answer, Pushed | Lagged)
        assert answer.re == request.id
        return answer

    async def look(self, request: Request, kind: type[A]) -> A:
        """Asks what must be answered, and not by an error."""
        answer = await self.ask(request)
        assert isinstance(answer, kind), answer
        return answer


async def health(url: str, path: str = "/readyz") -> tuple[int, str]:
    """What HTTP on the same port says: the status and the text."""
    address = urlsplit(url)
    assert address.hostname is not None
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: {address.netloc}\r\nConnection: close\r\n\r\n".encode())
    head, _, body = (await reader.read()).decode().partition("\r\n\r\n")
    writer.close()
    await writer.wait_closed()
    return int(head.split()[1]), body


async def until(true: Callable[[], bool], timeout_s: float = _PATIENCE_S) -> None:
    """Waits until something is so that goes on behind the requests."""
    async with asyncio.timeout(timeout_s):
        while not await asyncio.to_thread(true):  # noqa: ASYNC110  # nothing tells of it
            await asyncio.sleep(0.01)


def left_to_purge(data: Path) -> int:
    """Deleted sessions and contents that nobody holds which are still in the file, as another process sees them."""
    connection = apsw.Connection(str(data / STORE_NAME), apsw.SQLITE_OPEN_READONLY)
    connection.set_busy_timeout(5000)
    try:
        count = value(
            connection.cursor(),
            "SELECT (SELECT count(*) FROM session WHERE state = 1) "
            "+ (SELECT count(*) FROM content WHERE id NOT IN (SELECT content FROM holding))",
        )
        return int(count)
    finally:
        connection.close()


@asynccontextmanager
async def calling(url: str, token: str, *, tries: int = 1) -> AsyncGenerator[Caller, None]:
    """A link. While the store cannot be read the daemon asks to come again later, and the caller does, some times."""
    wire = await _welcomed(url, token, tries)
    try:
        yield Caller(wire)
    finally:
        await wire.close()


async def _welcomed(url: str, token: str, tries: int) -> Wire:
    for tries_left in reversed(range(tries)):
        try:
            return await open_wire(Peer(url=url, token=token, client="faults"), 1)
        except Lost as fault:
            if not tries_left or "1013" not in str(fault):
                raise
    raise AssertionError("the last try returns or raises")
