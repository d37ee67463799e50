"""What a random session is run against: the desk in this process, or a daemon over the link."""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
from collections.abc import AsyncGenerator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

import msgspec
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from waybread_daemon.clock import now_ms
from waybread_daemon.config import Config
from waybread_daemon.link.accounts import make_device_id, make_token
from waybread_daemon.logs import make_log
from waybread_daemon.serving import STORE_NAME, serve
from waybread_daemon.sessions.desk import Desk
from waybread_daemon.store.sqlite import SqliteStore, open_accounts
from waybread_protocol.canonical import canonical_args
from waybread_protocol.messages import Answer, FromClient, Result

_REQUEST: Any = FromClient


class Driver(Protocol):
    """Takes one request after another of many sessions at once."""

    async def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer to a request."""
        ...

    async def restart(self, session: str) -> None:
        """The session's state is folded again from what is stored, where the driver can bring that about."""
        ...


class DeskDriver:
    """The desk and its store, without a socket."""

    def __init__(self, desk: Desk, device: int) -> None:
        self._desk = desk
        self._device = desk.live.device(device)

    async def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        message: Any = msgspec.convert({"id": 1, **request}, _REQUEST)
        args = canonical_args(message.args) if isinstance(message, Result) else b""
        caller = _Caller(asyncio.get_running_loop().create_future())
        self._desk.submit(self._device, message, args, caller)
        answer: dict[str, Any] = msgspec.to_builtins(await caller.answered)
        return answer

    async def restart(self, session: str) -> None:
        live = self._desk.live.session(self._device, session)
        await self._desk.live.settle(live)
        live.drop()


class _Caller:
    page_bytes = 256 * 1024

    def __init__(self, answered: asyncio.Future[Answer]) -> None:
        self.answered = answered

    def fits(self, text: str) -> bool:
        return len(text) < 2**30

    def answer(self, answer: Answer) -> None:
        self.answered.set_result(answer)


class LinkDriver:
    """One link, in either codec, with the websockets library alone."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._ids = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._text = socket.subprotocol == "waybread.v1.json"
        self.listening = asyncio.create_task(self._listen())

    async def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        message = {"id": next(self._ids), **request}
        answered: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting[message["id"]] = answered
        encode = msgspec.json.encode if self._text else msgspec.msgpack.encode
        await self._socket.send(encode(message), text=self._text)
        return await answered

    async def restart(self, session: str) -> None:
        """A link cannot bring it about: the in-process driver does it."""

    async def _listen(self) -> None:
        async for frame in self._socket:
            decode: Any = msgspec.json.decode if self._text else msgspec.msgpack.decode
            answer: dict[str, Any] = decode(frame)
            self._waiting.pop(answer["re"]).set_result(answer)


@asynccontextmanager
async def desk_driver(folder: Path) -> AsyncGenerator[DeskDriver]:
    """The desk on a store in `folder`."""
    store = SqliteStore.open(folder / STORE_NAME, clock_ms=now_ms)
    await store.start()
    device = await store.add_device("one", "one", now_ms())
    faults: list[BaseException] = []

    def report(fault: BaseException) -> str:
        faults.append(fault)
        return "fault"

    with ThreadPoolExecutor(2) as heavy:
        yield DeskDriver(Desk(store, heavy, now_ms, report), device.number)
        await store.close()
    assert not faults, faults


@asynccontextmanager
async def link_driver(folder: Path, codec: str) -> AsyncGenerator[LinkDriver]:
    """A daemon in this process on a real socket, and a link to it."""
    ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    config = Config(port=0, free_floor_bytes=0)
    daemon = asyncio.create_task(serve(folder, config, "waybread/test", make_log("error"), ready.set_result))
    url = await ready
    token = make_token()
    with open_accounts(folder / STORE_NAME) as accounts:
        device = accounts.add_device(make_device_id(), "test", now_ms())
        accounts.add_token(token.token, device.number, "device", token.secret_hash, now_ms())
    async with connect(
        url, subprotocols=[Subprotocol(f"waybread.v1.{codec}")], compression=None, max_size=None
    ) as socket:
        driver = LinkDriver(socket)
        hello = {
            "type": "hello",
            "token": token.text,
            "client": "differential",
            "max_frame": 2**26,
            "max_message": 2**26,
        }
        assert (await driver.ask(hello))["type"] == "welcome"
        yield driver
    await driver.listening
    os.kill(os.getpid(), signal.SIGTERM)
    await daemon
