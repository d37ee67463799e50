"""A daemon in this process, with its own store in a folder of the test."""

from __future__ import annotations

import itertools
from collections.abc import AsyncGenerator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from waybread_daemon.config import Config
from waybread_daemon.link.accounts import make_device_id, make_token
from waybread_daemon.link.server import Server
from waybread_daemon.sessions.desk import Desk
from waybread_daemon.store.contract import Device
from waybread_daemon.store.sqlite import SqliteStore

NAME = "waybread/test"


class Log:
    """What the link logged: the event and its fields."""

    def __init__(self, lines: list[tuple[str, dict[str, object]]], fixed: dict[str, object]) -> None:
        self.lines = lines
        self._fixed = fixed

    def info(self, event: str, **fields: object) -> None:
        self.lines.append((event, self._fixed | fields))

    def warning(self, event: str, **fields: object) -> None:
        self.lines.append((event, self._fixed | fields))

    def debug(self, event: str, **fields: object) -> None:
        self.lines.append((event, self._fixed | fields))


class Served:
    """The daemon and the one who keeps its accounts."""

    def __init__(self, store: SqliteStore, heavy: ThreadPoolExecutor, config: Config) -> None:
        clock = itertools.count(1_000)
        self.store = store
        self.faults: list[BaseException] = []
        self.log: list[tuple[str, dict[str, object]]] = []
        self.desk = Desk(store, heavy, lambda: next(clock), self._report)
        self.server = Server(self.desk, config, NAME, self._bound_log)
        self.port = 0

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self.port}/link"

    def _bound_log(self, **fixed: object) -> Log:
        return Log(self.log, fixed)

    def _report(self, fault: BaseException) -> str:
        self.faults.append(fault)
        return f"fault-{len(self.faults)}"

    async def add_device(self, name: str = "phone") -> Device:
        return await self.store.add_device(make_device_id(), name, 1)

    async def add_token(self, device: Device, role: str = "device") -> str:
        fresh = make_token()
        await self.store.add_token(fresh.token, device.number, role, fresh.secret_hash, 1)
        return fresh.text

    async def new_token(self, role: str = "device") -> str:
        """A token of a device of its own."""
        return await self.add_token(await self.add_device(), role)

    async def revoke(self, token: str) -> None:
        await self.store.revoke([token.partition(".")[0]], 2)


@asynccontextmanager
async def serving(folder: Path, **settings: Any) -> AsyncGenerator[Served, None]:
    """Serves until the block ends. `settings` are those of `Config`; the machine's own disk may be as full as it likes.

    No fault of the daemon may have come up by then that the test did not take.
    """
    store = SqliteStore.open(folder / "waybread.sqlite", clock_ms=lambda: 1_000)
    await store.start()
    heavy = ThreadPoolExecutor(2)
    given: dict[str, Any] = {"port": 0, "free_floor_bytes": 0, **settings}
    config = Config(**given)
    served = Served(store, heavy, config)
    try:
        served.port = await served.server.start()
        yield served
        await served.server.drain()
    finally:
        await store.close()
        heavy.shutdown()
    assert served.faults == []
