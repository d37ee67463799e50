"""What can be told of a daemon process from outside: its memory, its sockets, its log; and accounts made in its store."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from tests.running import Daemon
from waybread_daemon.config import STORE_NAME
from waybread_daemon.link.accounts import make_device_id, make_token
from waybread_daemon.store.contract import Device
from waybread_daemon.store.sqlite import open_accounts

MIB = 1024 * 1024


class Account(NamedTuple):
    """A device and a token of it."""

    device: Device
    token: str


def new_account(data: Path, role: str = "device", of: Device | None = None) -> Account:
    """A token of a new device, or a further one `of` a device. Made beside the running daemon, as the command does it."""
    fresh = make_token()
    with open_accounts(data / STORE_NAME) as accounts:
        device = accounts.add_device(make_device_id(), "test", 1) if of is None else of
        accounts.add_token(fresh.token, device.number, role, fresh.secret_hash, 1)
    return Account(device, fresh.text)


def revoke(data: Path, account: Account) -> None:
    with open_accounts(data / STORE_NAME) as accounts:
        accounts.revoke([account.token.partition(".")[0]], 2)


def memory_bytes(daemon: Daemon) -> int:
    """The memory that the process holds for itself. Pages of its files, which the system gives and takes, do not count."""
    status = Path(f"/proc/{daemon.process.pid}/status").read_text(encoding="ascii")
    found = next(line for line in status.splitlines() if line.startswith("RssAnon:"))
    return int(found.split()[1]) * 1024


class Growth:
    """By how much a daemon's memory grew at most since `before` was measured."""

    def __init__(self, daemon: Daemon) -> None:
        self.before = memory_bytes(daemon)
        self.most = 0
        self._daemon = daemon

    def look(self) -> None:
        self.most = max(self.most, memory_bytes(self._daemon) - self.before)

    def __str__(self) -> str:
        return f"grown by {self.most / MIB:.0f} MiB from {self.before / MIB:.0f} MiB"


@asynccontextmanager
async def growing(daemon: Daemon) -> AsyncGenerator[Growth]:
    """Looks at the daemon's memory again and again."""
    growth = Growth(daemon)

    async def watch() -> None:
        while True:
            growth.look()
            await asyncio.sleep(0.01)

    watching = asyncio.create_task(watch())
    try:
        yield growth
    finally:
        watching.cancel()
        growth.look()


def open_sockets(daemon: Daemon) -> int:
    """Sockets that the process has open; those that listen and those of its event loop are among them."""
    folder = Path(f"/proc/{daemon.process.pid}/fd")
    found = 0
    for name in os.listdir(folder):  # noqa: PTH208  # names are all that is wanted, and they come and go
        try:
            found += os.readlink(folder / name).startswith("socket:")  # noqa: PTH115  # a socket is no path
        except FileNotFoundError:
            continue
    return found


def log_lines(daemon: Daemon) -> list[dict[str, Any]]:
    """The daemon's log. Raises where a line is no event: what Python prints by itself is a fault that nobody took."""
    return [msgspec.json.decode(line, type=dict[str, Any]) for line in daemon.log.read_bytes().splitlines()]


def assert_no_fault(daemon: Daemon) -> None:
    """The log holds no traceback and tells of no fault of the daemon."""
    assert [line for line in log_lines(daemon) if line["event"] in ("fault", "loop_fault")] == []
