"""Where requests are taken: each goes to its handler, those about one session in the order in which they came."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor
from typing import Any, Protocol

from waybread_daemon.sessions import inserts, looks, retention, room, turns
from waybread_daemon.sessions.asker import Asker
from waybread_daemon.sessions.job import Caller, Job, error_answer, fault_answer
from waybread_daemon.sessions.lane import start
from waybread_daemon.sessions.live import Live, LiveDevice, StaleError
from waybread_daemon.sessions.retention import Retention
from waybread_daemon.sessions.room import Room
from waybread_daemon.store.contract import Store, StoreFault
from waybread_daemon.store.sizes import OldSession
from waybread_daemon.watching.counts import Counts
from waybread_protocol.errors import ErrorCode, RequestError
from waybread_protocol.messages import (
    Carry,
    Compact,
    Delete,
    Done,
    EntryText,
    History,
    Message,
    Open,
    Page,
    Reads,
    Recall,
    Request,
    Result,
    Sessions,
    Show,
    Sync,
    TakeBack,
    Turn,
)

_ATTEMPTS = 3
_STOPPING = "the daemon is stopping: send it again when it is back"


class Settings(room.Settings, retention.Settings, Protocol):
    """What the settings say of both."""


Handler = Callable[[Job], Awaitable[None]]
HANDLERS: dict[type[Any], Handler] = {
    Open: turns.open_session,
    Turn: turns.turn,
    Carry: turns.carry,
    Result: inserts.result,
    Recall: inserts.recall,
    TakeBack: turns.take_back,
    Compact: turns.compact,
    Message: turns.message,
    Show: looks.show,
    Reads: looks.reads,
    History: looks.history,
    Delete: turns.delete,
}
"""Requests about one session."""


class Desk:
    """Takes requests of all links. `report` is told of a fault of the daemon and gives the id that the answer names."""

    def __init__(
        self, store: Store, heavy: Executor, now_ms: Callable[[], int], report: Callable[[BaseException], str]
    ) -> None:
        self.live = Live(store)
        self.room = Room(store)
        self.retention = Retention(store, self, now_ms, time.monotonic)
        self.heavy = heavy
        self.counts = Counts()
        self.now_ms = now_ms
        self.report = report
        self._looking: set[asyncio.Task[None]] = set()
        self._ended = False

    def submit(
        self, device: LiveDevice, request: Request, args: bytes, caller: Caller, *, text: bytes | None = None
    ) -> None:
        """Takes a request that is checked as far as the message goes; `args` are its arguments in canonical form.

        `text` is its one large text as UTF-8, where that was lifted out of it.
        """
        handler = HANDLERS.get(type(request))
        if handler is not None:
            session = self.live.session(device, request.session)  # type: ignore[union-attr]  # all handlers' have one
            job = Job(self, device, session, request, args, caller, text)
            session.lane.submit(lambda: self._guarded(request.id, caller, lambda: handler(job), job))
        elif isinstance(request, Sessions):
            self._start(request.id, caller, lambda: looks.session_list(self.live, device, request, caller))
        elif isinstance(request, EntryText):
            self._start(request.id, caller, lambda: looks.entry_text(self.live, device, request, caller))
        else:
            raise TypeError(f"{type(request).__name__} is no request for the desk")

    def sync(self, device: LiveDevice, request: Sync, caller: Caller, made: Callable[[Page, int | None], None]) -> None:
        """Makes a page, in the session's order where the request names one. `made` gets it, and the session's number."""

        async def all_sessions() -> None:
            made(await looks.sync_page(self.live, device, request, caller, None), None)

        if not request.session:
            self._start(request.id, caller, all_sessions)
            return
        session = self.live.session(device, request.session)
        job = Job(self, device, session, request, b"", caller)

        async def one_session() -> None:
            made(*await looks.session_sync(job))

        session.lane.submit(lambda: self._guarded(request.id, caller, one_session))

    async def delete_unchanged(self, old: OldSession) -> bool:
        """Deletes a session, unless anything was done in it since it was found old; whether it did.

        In the session's order, and as a device does it itself: its followers hear of it.
        """
        device = self.live.device(old.device)
        session = self.live.session(device, old.session)
        if not session.lane.idle:
            return False
        asker = Asker()

        async def unless_changed(job: Job) -> None:
            if (session.known or await self.live.load(session)) and session.last_seq == old.head:
                await turns.delete(job)
            else:
                asker.answer(Done(re=job.request.id, seq=0, repeated=True))

        job = Job(self, device, session, Delete(id=1, session=old.session), b"", asker)
        session.lane.submit(lambda: self._guarded(1, asker, lambda: unless_changed(job), job))
        answer = await asker.answered
        return isinstance(answer, Done) and not answer.repeated

    async def delete_device(self, device: LiveDevice) -> int:
        """Deletes a device: its tokens, its sessions, its log, itself. Durable when it returns. Raises `StoreFault`.

        What is under way comes first; then its requests are answered `gone`. Nothing is written to its log, which goes as a
        whole: who follows it is a link of this device, and links whose token is revoked are closed. Gives how many sessions
        it had.
        """
        await self.live.end_device(device)
        device.gone = True
        try:
            return await self.live.store.delete_device(device.number, self.now_ms())
        except BaseException:
            device.gone = False
            raise

    def reconfigure(self, settings: Settings) -> None:
        """Takes other settings of room and retention: they are in force from now on."""
        self.room.reconfigure(settings)
        self.retention.reconfigure(settings)

    @property
    def not_ready(self) -> str:
        """Why nothing can be stored, empty where it can."""
        return self.live.failing or self.room.full

    async def upkeep(self, retired: Callable[[int], None]) -> None:
        """What is to be done beside requests, until it is cancelled. `retired` is told how many old sessions were deleted."""
        await asyncio.gather(self.live.notice_recovery(), self.room.run(), self.retention.run(retired))

    async def quiet(self) -> None:
        """Waits until nothing is under way. To be called when no more requests are submitted."""
        await self.live.quiet()
        if self._looking:
            await asyncio.wait(list(self._looking))

    def end(self) -> None:
        """The daemon waits no longer, and closes the store next. What still waits is `busy`, and so is what fails now."""
        self._ended = True

    def _start(self, request_id: int, caller: Caller, work: Callable[[], Awaitable[None]]) -> None:
        task = start(self._guarded(request_id, caller, work))
        if task is not None:
            self._looking.add(task)
            task.add_done_callback(self._looking.discard)

    async def _guarded(
        self, request_id: int, caller: Caller, work: Callable[[], Awaitable[None]], job: Job | None = None
    ) -> None:
        """Does the work, again where a failed commit of others came between, and answers what it raises."""
        try:
            if self._ended:
                raise RequestError(ErrorCode.BUSY, _STOPPING)
            for _ in range(_ATTEMPTS):
                try:
                    await work()
                except BaseException as fault:
                    if job is not None:
                        job.let_go()
                    if not isinstance(fault, StaleError):
                        raise
                    continue
                return
            caller.answer(error_answer(request_id, RequestError(ErrorCode.BUSY, "storing keeps failing: try again")))
        except RequestError as fault:
            caller.answer(error_answer(request_id, fault))
        except StoreFault as fault:
            caller.answer(fault_answer(request_id, fault))
        except Exception as fault:  # noqa: BLE001  # a fault of ours ends one request, never the link or the process
            if self._ended:
                # The threads and the store that it needed are gone: no fault, and by now nobody hears the answer.
                caller.answer(error_answer(request_id, RequestError(ErrorCode.BUSY, _STOPPING)))
                return
            name = self.report(fault)
            sentence = f"a fault of the daemon, logged as {name}: try again, and report it if it stays"
            caller.answer(error_answer(request_id, RequestError(ErrorCode.INTERNAL, sentence)))
