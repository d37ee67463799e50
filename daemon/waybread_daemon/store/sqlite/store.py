"""The store as the event loop holds it: everything here only hands work to threads."""

# ruff: noqa: D102 - what each method promises stands once, in the contract.

from __future__ import annotations

import asyncio
import itertools
import os
from collections import deque
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import apsw

from waybread_daemon.store.contract import Device, Done, Reader, Record, Staged, StoreFault
from waybread_daemon.store.sizes import Volume
from waybread_daemon.store.sqlite import accounts
from waybread_daemon.store.sqlite.batch import BatchWriter
from waybread_daemon.store.sqlite.checkpoints import LogKeeper
from waybread_daemon.store.sqlite.connection import close, connect_reader, connect_writer, prepare
from waybread_daemon.store.sqlite.faults import refusal_of
from waybread_daemon.store.sqlite.jobs import Job
from waybread_daemon.store.sqlite.looks import Looks
from waybread_daemon.store.sqlite.migration import bring_up_to_date
from waybread_daemon.store.sqlite.packing import Packer
from waybread_daemon.store.sqlite.place import hold_place, make_place
from waybread_daemon.store.sqlite.purge import GRACE_MS, Purge
from waybread_daemon.store.sqlite.seen import Seen
from waybread_daemon.store.sqlite.shrink import Shrink
from waybread_daemon.store.sqlite.sizes import Usage
from waybread_daemon.store.sqlite.staging import Stager
from waybread_daemon.store.sqlite.statements import run
from waybread_daemon.store.sqlite.tidying import Tidying
from waybread_daemon.store.sqlite.writer import Waiting, Writer
from waybread_daemon.watching.counts import StoreCounts

T = TypeVar("T")


class SqliteStore:
    """What `contract.Store` promises, in one file. Made by `open`; good between `start` and `close`."""

    def __init__(self, path: Path, vfs: str | None, clock_ms: Callable[[], int], grace_ms: int, lock: int) -> None:
        self.on_reset: Callable[[], None] = _nothing
        self.counts = StoreCounts()
        self._path = path
        self._vfs = vfs
        self._lock = lock
        # Open as long as the store is: when SQLite's last connection ends, the next one reads the log anew, and would
        # take a transaction whose sync failed for a good one.
        self._anchor = connect_reader(path, vfs)
        self._usage = Usage()
        purge = Purge(clock_ms, self._usage, grace_ms)
        shrink = Shrink()
        try:
            self.epoch, sessions, contents = _beginnings(self._anchor)
            self._usage.load(self._anchor)
            purge.load(self._anchor)
            shrink.load(self._anchor)
        except apsw.Error:
            close(self._anchor)
            raise
        self._sessions = itertools.count(sessions + 1)
        self._contents = itertools.count(contents + 1)
        self._looks = Looks(path, self._connect_reader)
        self._log = LogKeeper(self._connect_writer)
        self._tidying = Tidying(purge, shrink, self._log)
        self.used_bytes = self._usage.used_bytes
        self._stager = Stager(self._submit, self._contents, self._drop)
        self._seen = Seen(lambda seen: self._submit(lambda cursor: accounts.note_seen(cursor, seen)))
        self._generation = 0
        self._appended = 0
        self._answered = 0
        self._settling: deque[tuple[int, asyncio.Future[None]]] = deque()

    @classmethod
    def open(
        cls, path: Path, *, vfs: str | None = None, clock_ms: Callable[[], int], grace_ms: int = GRACE_MS
    ) -> SqliteStore:
        """Opens a store, makes it where there is none, brings its schema up to date. Blocks; needs no event loop.

        One process at a time. `grace_ms`: how long content that no session holds stays. Raises `StoreRefusal`.
        """
        make_place(path)
        lock = hold_place(path)
        try:
            bring_up_to_date(path, vfs)
            prepare(path, vfs)
            return cls(path, vfs, clock_ms, grace_ms, lock)
        except BaseException as error:
            os.close(lock)
            if isinstance(error, apsw.Error):
                raise refusal_of(error, path) from error
            raise

    async def start(self) -> None:
        """Starts the threads. Everything else may be called from then on, in this event loop."""
        self._loop = asyncio.get_running_loop()
        batch = BatchWriter(Packer(), self._contents, self.epoch, self._usage)
        self._writer = Writer(
            self._path, self._connect_writer, batch, self._tidying, self._log, self._loop, self, self.counts
        )
        self._put = self._writer.put
        self._log.start()
        self._writer.start()

    async def close(self) -> None:
        """Makes durable what was appended, then lets go of everything."""
        await self.settled()
        await self._seen.finish()
        await self._loop.run_in_executor(None, self._end)
        os.close(self._lock)

    def append(self, record: Record, done: Done) -> None:
        self._appended += 1
        self._put((self._generation, record, done))

    def delete(self, record: Record, done: Done) -> None:
        if record.kind != "deleted":
            raise ValueError(f"a session is deleted by a record of kind `deleted`, not `{record.kind}`")
        self.append(record, done)

    def new_session(self) -> int:
        return next(self._sessions)

    def settled(self) -> Awaitable[None]:
        future: asyncio.Future[None] = self._loop.create_future()
        if self._answered == self._appended:
            future.set_result(None)
        else:
            self._settling.append((self._appended, future))
        return future

    def stage(
        self, device: int, sha256: bytes, data: bytes, *, text: bool, allow: Callable[[int], None] | None = None
    ) -> Awaitable[Staged]:
        return self._stager.stage(device, None if text else sha256, data, allow)

    def drop(self, staged: Staged) -> None:
        self._drop(staged.content)

    def look(self, read: Callable[[Reader], T]) -> Awaitable[T]:
        return self._looks.look(read)

    def add_device(self, device: str, name: str, at_ms: int) -> Awaitable[Device]:
        return self._submit(lambda cursor: accounts.add_device(cursor, device, name, at_ms))

    def add_token(
        self, token: str, device: int, role: str, secret_hash: bytes, at_ms: int, name: str = ""
    ) -> Awaitable[None]:
        return self._submit(lambda cursor: accounts.add_token(cursor, token, device, role, secret_hash, at_ms, name))

    def rename_device(self, device: int, name: str) -> Awaitable[None]:
        return self._submit(lambda cursor: accounts.rename_device(cursor, device, name))

    def revoke(self, tokens: list[str], at_ms: int) -> Awaitable[None]:
        return self._submit(lambda cursor: accounts.revoke(cursor, tokens, at_ms))

    async def delete_device(self, device: int, at_ms: int) -> int:
        deleted = await self._submit(lambda cursor: accounts.delete_device(cursor, device, at_ms))

        def purge(_: apsw.Cursor) -> None:
            for session in deleted.to_purge:
                self._tidying.session_deleted(session)

        # Only now it is certain that they are deleted. The next start would find them, too.
        self._submit(purge).add_done_callback(_heard)
        return deleted.sessions

    def seen(self, token: str, at_ms: int) -> Awaitable[None]:
        return self._seen.note(token, at_ms)

    def volume(self) -> Awaitable[Volume]:
        return self._looks.volume()

    async def purged(self, *, skip_grace: bool = False) -> None:
        waiter: asyncio.Future[StoreFault | None] = self._loop.create_future()

        def told(fault: StoreFault | None) -> None:
            self._loop.call_soon_threadsafe(_tell, waiter, fault)

        await self._submit(lambda _: self._tidying.tell_when_tidy(told, skip_grace=skip_grace))
        fault = await waiter
        if fault is not None:
            raise fault

    def probe(self) -> Awaitable[None]:
        return self._submit(_probe)

    def beat(self) -> Awaitable[None]:
        # A transaction that changes nothing writes nothing.
        return self._submit(_nothing_of)

    @property
    def waiting(self) -> int:
        """How much waits for the writing thread: records and other work."""
        return self._writer.waiting

    @property
    def written_bytes(self) -> tuple[int, int]:
        """What was written since the start: arguments, bodies and contents as they came, and compressed."""
        staged, counts = self._stager, self.counts
        return staged.raw_bytes + counts.raw_bytes, staged.stored_bytes + counts.stored_bytes

    def records_settled(self, waiting: list[Waiting], fault: StoreFault | None) -> None:
        """Called by the writer: these are durable, or have failed."""
        for _, _, done in waiting:
            try:
                done(fault)
            except Exception as error:  # noqa: BLE001 - one caller's fault must not keep the answer from the others
                self._loop.call_exception_handler({"message": "an answer to a record failed", "exception": error})
        self._answered += len(waiting)
        while self._settling and self._settling[0][0] <= self._answered:
            _, future = self._settling.popleft()
            if not future.done():
                future.set_result(None)

    def generation_ended(self, generation: int) -> None:
        """Called by the writer: a commit failed, and all that was appended until now will be answered by its fault."""
        self._generation = generation
        self.on_reset()

    def _submit(self, work: Callable[[apsw.Cursor], T]) -> asyncio.Future[T]:
        future: asyncio.Future[T] = self._loop.create_future()
        self._put(Job(work, future))
        return future

    def _drop(self, content: int) -> None:
        # It cannot fail but for the disk, and then the next start finds the content.
        self._submit(lambda _: self._tidying.content_dropped(content)).add_done_callback(_heard)

    def _end(self) -> None:
        """Lets the threads end one after the other: the writer's connection is the last, and empties the log."""
        self._stager.close()
        self._looks.close()
        self._log.stop()
        close(self._anchor)
        self._writer.stop()

    def _connect_writer(self) -> apsw.Connection:
        return connect_writer(self._path, self._vfs)

    def _connect_reader(self) -> apsw.Connection:
        return connect_reader(self._path, self._vfs)


def _beginnings(connection: apsw.Connection) -> tuple[str, int, int]:
    """The store's epoch, and the last numbers of a session and a content that were given."""
    ((epoch, sessions, contents),) = run(
        connection.cursor(),
        "SELECT (SELECT value FROM meta WHERE name = 'epoch'), "
        "coalesce((SELECT max(number) FROM session), 0), coalesce((SELECT max(id) FROM content), 0)",
    )
    return str(epoch), int(sessions), int(contents)


def _probe(cursor: apsw.Cursor) -> None:
    # A value that is the same as before would not be written.
    run(
        cursor,
        "INSERT INTO meta (name, value) VALUES ('probes', 1) ON CONFLICT (name) DO UPDATE SET value = value + 1",
    )


def _tell(waiter: asyncio.Future[StoreFault | None], fault: StoreFault | None) -> None:
    if not waiter.done():
        waiter.set_result(fault)


def _heard(future: asyncio.Future[Any]) -> None:
    if not future.cancelled():
        future.exception()


def _nothing() -> None:
    pass


def _nothing_of(_: apsw.Cursor) -> None:
    pass
