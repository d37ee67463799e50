"""The stores that the contract is tried on, and what their tests share.

A store joins by one more class in `PLACES`.
"""

from __future__ import annotations

import asyncio
import hashlib
from pathlib import Path
from typing import Protocol

from tests.daemon.store.faulty import FaultyVFS
from waybread_daemon.clock import now_ms
from waybread_daemon.store.contract import (
    ContentFacts,
    Facts,
    FileContent,
    Opening,
    Reader,
    Record,
    Row,
    SessionFacts,
    Staged,
    Store,
    StoreFault,
)
from waybread_daemon.store.sqlite import SqliteStore


class Place(Protocol):
    """Where one kind of store lives: it can be opened again and again, and its disk can be broken."""

    def __init__(self, folder: Path) -> None: ...

    async def open(self, *, grace_ms: int = 60_000) -> Store:
        """Opens the store, and makes it the first time."""
        ...

    def break_disk(self, *, full: bool = False) -> None:
        """From now on nothing can be written: an I/O error, or no room."""
        ...

    def mend_disk(self) -> None:
        """Everything can be written again."""
        ...

    def size_bytes(self) -> int:
        """What the store takes on the disk, all its files together."""
        ...


class SqlitePlace:
    """A SQLite store on a disk that can be broken."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "store.sqlite"
        self.vfs = FaultyVFS(f"faulty-{folder}")

    async def open(self, *, grace_ms: int = 60_000) -> SqliteStore:
        store = SqliteStore.open(self.path, vfs=self.vfs.name, clock_ms=now_ms, grace_ms=grace_ms)
        await store.start()
        return store

    def break_disk(self, *, full: bool = False) -> None:
        self.vfs.fail("write", "sync", full=full)

    def mend_disk(self) -> None:
        self.vfs.mend()

    def size_bytes(self) -> int:
        return sum(file.stat().st_size for file in self.path.parent.glob(self.path.name + "*"))


PLACES: list[type[Place]] = [SqlitePlace]


def sha(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


class Log:
    """One device's log, appended as the daemon does it: the next number of everything is known beforehand."""

    def __init__(self, store: Store, device: int = 1, seq: int = 0) -> None:
        self.store = store
        self.device = device
        self.seq = seq
        self.results: dict[int, int] = {}
        self.turns: dict[int, str] = {}

    def record(self, session: int, kind: str, facts: Facts | None = None) -> Record:
        """The next record, to be filled in and appended."""
        self.seq += 1
        facts = facts or Facts(self.seq)
        return Record(
            self.device, self.seq, session, kind, facts, self.results.get(session, 0), self.turns.get(session, "")
        )

    def append(self, record: Record) -> asyncio.Future[None]:
        """Appends it; the future is done when the record is, and raises its fault."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def done(fault: StoreFault | None) -> None:
            if fault is None:
                future.set_result(None)
            else:
                future.set_exception(fault)

        if record.kind == "deleted":
            self.store.delete(record, done)
        else:
            self.store.append(record, done)
        return future

    def open(self, name: str = "a", kind: str = "agent") -> tuple[int, asyncio.Future[None]]:
        """Opens a session: its number, and when it is there."""
        number = self.store.new_session()
        record = self.record(number, "opened")
        record.opening = Opening(name, kind, f"title of {name}", "/home")
        return number, self.append(record)

    async def session(self, name: str = "a") -> int:
        """A session that is there."""
        number, opened = self.open(name)
        await opened
        return number

    def next_result(self, session: int) -> Record:
        """The session's next result, to be filled in and appended."""
        number = self.results[session] = self.results.get(session, 0) + 1
        record = self.record(session, "result")
        record.number = number
        record.key = f"key-{number:09}"
        return record

    def result(self, session: int, body: bytes = b"body", event: bytes = b"event") -> asyncio.Future[None]:
        """Appends a result with that body."""
        record = self.next_result(session)
        record.body, record.event = body, event
        return self.append(record)

    def read(self, session: int, sha256: bytes, data: bytes | Staged | None) -> asyncio.Future[None]:
        """Appends a result whose body is a file's content."""
        record = self.next_result(session)
        record.source, record.contents = sha256, (FileContent(sha256, data),)
        return self.append(record)

    def delete(self, session: int) -> asyncio.Future[None]:
        """Deletes a session."""
        return self.append(self.record(session, "deleted"))


async def session_facts(store: Store, name: str = "a", device: int = 1) -> SessionFacts:
    facts = await store.look(lambda reader: reader.session(device, name))
    assert facts is not None
    return facts


async def result_row(store: Store, session: int, number: int) -> Row:
    row = await store.look(lambda reader: reader.result(session, number))
    assert row is not None
    return row


def whole(reader: Reader, content: ContentFacts) -> bytes:
    return reader.whole(content)


async def content_facts(store: Store, sha256: bytes, device: int = 1) -> ContentFacts:
    facts = await store.look(lambda reader: reader.content(device, sha256))
    assert facts is not None
    return facts
