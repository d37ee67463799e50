"""A store with something of every kind in it, and ways to spoil it."""

from __future__ import annotations

import asyncio
import hashlib
import os
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import pytest

from tests.daemon.store.stores import Log
from waybread_daemon.clock import now_ms
from waybread_daemon.store.sqlite import SqliteStore
from waybread_daemon.store.sqlite.checksums import COLUMNS, seal
from waybread_daemon.store.sqlite.connection import close, connect
from waybread_daemon.store.sqlite.schema import migrate, migrations

SMALL = b"one\ntwo\n"
LARGE = "".join(f"row {number} é\n" for number in range(40_000)).encode()


def fill(path: Path, sessions: tuple[str, ...] = ("a", "b")) -> None:
    """Sessions that share a small and a large file, each with a body of its own, small and large."""
    asyncio.run(_fill(path, sessions))


async def _fill(path: Path, sessions: tuple[str, ...]) -> None:
    store = SqliteStore.open(path, clock_ms=now_ms, grace_ms=0)
    await store.start()
    await store.add_device("device", "phone", now_ms())
    log = Log(store)
    for name in sessions:
        session = await log.session(name)
        await log.result(session, b"a body")
        await log.read(session, hashlib.sha256(SMALL).digest(), SMALL)
        staged = await store.stage(1, hashlib.sha256(LARGE).digest(), LARGE, text=False)
        await log.read(session, hashlib.sha256(LARGE).digest(), staged)
        record = log.next_result(session)
        record.own = await store.stage(1, hashlib.sha256(LARGE).digest(), LARGE, text=True)
        await log.append(record)
        record = log.next_result(session)
        record.root = 1
        await log.append(record)
    await store.close()


def sql(path: Path, text: str, *values: Any) -> list[tuple[Any, ...]]:
    """Carries out some SQL on a store, whatever it does to it."""
    connection: Any = apsw.Connection(str(path))
    try:
        rows: list[tuple[Any, ...]] = connection.execute(text, values or None).fetchall()
        return rows
    finally:
        connection.close()


def seal_all(path: Path) -> None:
    """Makes every checksum anew: what a test has changed then looks as if it had been written so."""
    connection = connect(path, None)
    for table in COLUMNS:
        seal(connection.cursor(), table, "1")
    close(connection)


def old_store(path: Path) -> None:
    """A store as the first version made it, with a session in it."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    connection: Any = apsw.Connection(str(path))
    connection.execute("PRAGMA journal_mode = WAL")
    migrate(connection, path, migrations()[:1])
    connection.execute("INSERT INTO device (number, device, name, made_ms) VALUES (1, 'device', 'old phone', 1)")
    connection.close()


class Disk(NamedTuple):
    """What `shutil.disk_usage` tells."""

    total: int
    used: int
    free: int


def set_disk(monkeypatch: pytest.MonkeyPatch, free: int, total: int = 10**12) -> None:
    """Makes every disk as large and as free as that."""

    def usage(_: object) -> Disk:
        return Disk(total, total - free, free)

    monkeypatch.setattr(shutil, "disk_usage", usage)


class Heard:
    """A progress that notes what it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, int, int]] = []

    def __call__(self, what: str, done: int, all_: int) -> None:
        self.told.append((what, done, all_))


def listing(folder: Path) -> dict[str, tuple[int, int, int]]:
    """The folder and every file in it: mode, size and time of the last change. Equal where nothing was touched."""
    return {
        str(file): (file.lstat().st_mode, file.lstat().st_size, file.lstat().st_mtime_ns)
        for file in (folder, *sorted(folder.rglob("*")))
    }
