"""A desk with a real store and no socket: requests in as structs, answers out as structs."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

import apsw
import msgspec

from waybread_daemon.link.accounts import make_device_id
from waybread_daemon.sessions.desk import Desk
from waybread_daemon.sessions.live import LiveDevice
from waybread_daemon.store.contract import Done, Record, Store, StoreFault
from waybread_daemon.store.sqlite import SqliteStore
from waybread_protocol.canonical import canonical_args
from waybread_protocol.errors import ErrorCode
from waybread_protocol.messages import (
    Answer,
    ChangeBody,
    Content,
    Error,
    FileChange,
    Inserted,
    Open,
    Page,
    ReadBody,
    Recall,
    Request,
    Result,
    Sync,
    TextBody,
    Window,
)

T = TypeVar("T")
STORE_NAME = "waybread.sqlite"
PATIENCE_S = 20


class Asker:
    """A caller of its own limits. `most_chars`: a longer text does not fit its messages."""

    def __init__(self) -> None:
        self.page_bytes = 256 * 1024
        self.most_chars = 10**9
        self.waiting: dict[int, asyncio.Future[Answer]] = {}
        self.order: list[int] = []
        """Ids in the order in which they were answered."""

    def fits(self, text: str) -> bool:
        return len(text) <= self.most_chars

    def answer(self, answer: Answer) -> None:
        self.order.append(answer.re)
        self.waiting.pop(answer.re).set_result(answer)


class FailingStore:
    """A store whose commits fail while `failing`. What was appended before the caller could know fails, too."""

    def __init__(self, store: SqliteStore) -> None:
        self._store = store
        self.failing = False
        self.on_reset: Callable[[], None] = lambda: None
        self._lost: list[Done] = []
        store.on_reset = self._reset

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def append(self, record: Record, done: Done) -> None:
        if not self.failing and not self._lost:
            self._store.append(record, done)
            return
        if not self._lost:
            asyncio.get_running_loop().call_later(0.01, self._fail)
        self._lost.append(done)

    def delete(self, record: Record, done: Done) -> None:
        if self.failing or self._lost:
            self.append(record, done)
        else:
            self._store.delete(record, done)

    async def settled(self) -> None:
        while self._lost:  # noqa: ASYNC110 - only tests wait here
            await asyncio.sleep(0.002)
        await self._store.settled()

    def _reset(self) -> None:
        self.on_reset()

    def _fail(self) -> None:
        lost, self._lost = self._lost, []
        self.on_reset()
        for done in lost:
            done(StoreFault(ErrorCode.STORAGE_FULL, "the disk is full: free some space"))


class Office:
    """One device's desk. `asker` asks where no other is named."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.faults: list[BaseException] = []
        self.asker = Asker()
        self._ids = itertools.count(1)
        self._clock = itertools.count(1_000)
        self._heavy = ThreadPoolExecutor(2)
        self.store: SqliteStore
        self.failing: FailingStore
        self.desk: Desk
        self.device: LiveDevice
        self._number = 0

    async def open_doors(self) -> None:
        self.store = SqliteStore.open(self.folder / STORE_NAME, clock_ms=lambda: 1_000)
        await self.store.start()
        self.failing = FailingStore(self.store)
        self.desk = Desk(cast("Store", self.failing), self._heavy, lambda: next(self._clock), self._report)
        if not self._number:
            self._number = (await self.store.add_device(make_device_id(), "phone", 1)).number
        self.device = self.desk.live.device(self._number)

    async def close_doors(self) -> None:
        await self.desk.quiet()
        await self.store.close()

    async def restart(self) -> None:
        """A new process: nothing is left but what the store holds."""
        await self.close_doors()
        await self.open_doors()

    async def restore(self) -> None:
        """As after a restore from a backup: the store's epoch is another."""
        await self.close_doors()
        connection: Any = apsw.Connection(str(self.folder / STORE_NAME))
        connection.execute("UPDATE meta SET value = 'restored' WHERE name = 'epoch'")
        connection.close()
        await self.open_doors()

    async def end(self) -> None:
        await self.close_doors()
        self._heavy.shutdown()

    def _report(self, fault: BaseException) -> str:
        self.faults.append(fault)
        return f"fault-{len(self.faults)}"

    # --- Asking ------------------------------------------------------------------------------------------------------

    def send(self, request: Request, asker: Asker | None = None) -> asyncio.Future[Answer]:
        """Submits a request under an id of its own, and does not wait."""
        asker = asker or self.asker
        number = next(self._ids)
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        asker.waiting[number] = future
        numbered: Any = msgspec.structs.replace(request, id=number)
        args = canonical_args(numbered.args) if isinstance(numbered, Result) else b""
        if isinstance(numbered, Sync):
            self.desk.sync(self.device, numbered, asker, lambda page, _: asker.answer(page))
        else:
            self.desk.submit(self.device, numbered, args, asker)
        return future

    async def ask(self, request: Request, expected: type[T], asker: Asker | None = None) -> T:
        """The answer, which has to be of the type expected."""
        async with asyncio.timeout(PATIENCE_S):
            answer = await self.send(request, asker)
        assert isinstance(answer, expected), answer
        return answer

    async def insert(self, request: Result | Recall) -> Inserted:
        return await self.ask(request, Inserted)

    async def error(self, request: Request, code: str) -> Error:
        """The error that a request ends in; its code is checked."""
        answer = await self.ask(request, Error)
        assert answer.code == code, answer
        return answer

    async def page(self, after: int = 0, session: str = "") -> Page:
        return await self.ask(Sync(id=1, after=after, epoch=self.store.epoch, session=session), Page)

    async def head(self) -> int:
        return await self.store.look(lambda reader: reader.head(self.device.number))

    async def another_device(self) -> LiveDevice:
        return self.desk.live.device((await self.store.add_device(make_device_id(), "other", 1)).number)


@asynccontextmanager
async def an_office(folder: Path, *sessions: str, kind: str = "agent") -> AsyncGenerator[Office, None]:
    """An office with sessions open. At its end no fault may be left that the test did not take."""
    office = Office(folder)
    await office.open_doors()
    try:
        for session in sessions:
            await office.ask(opening(session, kind), object)
        yield office
    finally:
        await office.end()
    assert office.faults == []


# --- Requests --------------------------------------------------------------------------------------------------------


def opening(session: str = "s", kind: str = "agent", **fields: str) -> Open:
    return Open(id=1, session=session, kind=kind, **fields)  # type: ignore[arg-type]


def content_of(content: bytes | str | Content) -> Content:
    """A file's content for a request: bytes and text as they are."""
    if isinstance(content, bytes):
        return Content(data=content)
    return Content(text=content) if isinstance(content, str) else content


def _result(tool: str, key: str, body: Any, session: str, fields: dict[str, Any]) -> Result:
    return Result(id=1, session=session, key=key, body=body, tool=fields.pop("tool", tool), **fields)


def text(key: str, body: str, session: str = "s", **fields: Any) -> Result:
    return _result("bash", key, TextBody(text=body, error=fields.pop("error", False)), session, fields)


def read(
    key: str,
    content: bytes | str | Content,
    offset: int = 1,
    limit: int = 2000,
    *,
    path: str = "a.py",
    absolute: str = "/x/a.py",
    session: str = "s",
    **fields: Any,
) -> Result:
    body = ReadBody(path=path, absolute=absolute, offset=offset, limit=limit, content=content_of(content))
    return _result("read", key, body, session, fields)


def change_of(path: str, before: bytes | str | Content | None, after: bytes | str | Content | None) -> FileChange:
    """A change of `path`, whose absolute path is `/x/` and it."""
    return FileChange(
        path=path,
        absolute=f"/x/{path}",
        before=None if before is None else content_of(before),
        after=None if after is None else content_of(after),
    )


def change(key: str, *changes: FileChange, note: str = "", session: str = "s", **fields: Any) -> Result:
    body = ChangeBody(changes=list(changes), note=note)
    return _result("edit", key, body, session, fields)


def recall(key: str, result: str, offset: int = 1, limit: int = 2000, session: str = "s") -> Recall:
    return Recall(id=1, session=session, key=key, result=result, offset=offset, limit=limit)


def window(text_: str, lines: int, sha256: str) -> Content:
    return Content(window=Window(text=text_, lines=lines, sha256=sha256))
