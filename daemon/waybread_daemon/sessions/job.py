"""One request about a session, while it is worked on: what all handlers need."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any, Protocol, TypeVar

from waybread_daemon.hygiene.answer import Answer as Inserting
from waybread_daemon.hygiene.answer import text_of
from waybread_daemon.hygiene.events import encode_event
from waybread_daemon.hygiene.ids import result_id
from waybread_daemon.hygiene.session import State
from waybread_daemon.redaction import without_secrets
from waybread_daemon.sessions.bodies import text_of as stored_text_of
from waybread_daemon.sessions.live import Live, LiveDevice, LiveSession, StaleError
from waybread_daemon.sessions.room import Room
from waybread_daemon.store.contract import (
    LARGE_BYTES,
    Cut,
    Facts,
    FileContent,
    Reader,
    Record,
    Row,
    Span,
    Staged,
    StoreFault,
)
from waybread_daemon.watching.counts import SHORTENING, Counts, Measure, shortened_bytes
from waybread_protocol.errors import ErrorCode, RequestError
from waybread_protocol.messages import Answer, Error, Inserted, Request

T = TypeVar("T")


class Caller(Protocol):
    """Who sent a request, and how it is answered."""

    @property
    def page_bytes(self) -> int:
        """How much text a page for this caller holds."""
        ...

    def fits(self, text: str) -> bool:
        """Whether an answer with this text is within the largest message that the caller takes."""
        ...

    def answer(self, answer: Answer) -> None:
        """Sends the answer. Never waits, never raises."""
        ...


class Services(Protocol):
    """What the desk lends to a job."""

    live: Live
    room: Room
    heavy: Executor
    counts: Counts

    def now_ms(self) -> int:
        """The time, in milliseconds since 1970."""
        ...


class Job:
    """A request about a session. Its handler calls `begin`, looks for a repeat, decides, and appends."""

    def __init__(
        self,
        services: Services,
        device: LiveDevice,
        session: LiveSession,
        request: Request,
        args: bytes,
        caller: Caller,
        text: bytes | None = None,
    ) -> None:
        self.services = services
        self.live = services.live
        self.device = device
        self.session = session
        self.request: Any = request
        self.args = args
        self.caller = caller
        self._lifted = text
        self._staged: tuple[Staged, ...] = ()
        self._staged_bytes = 0
        self.generation = self.live.generation

    # --- Before the decision -----------------------------------------------------------------------------------------

    async def begin(self, *, changes: bool = True) -> State:
        """The session's state, loaded. Raises `unknown_session`, `gone` and, for a request that changes it, `read_only`."""
        self.generation = self.live.generation
        session = self.session
        if not session.known and not await self.live.load(session):
            raise RequestError(
                ErrorCode.UNKNOWN_SESSION, f"there is no session {session.name[:128]!r} on this device: open it first"
            )
        if session.gone:
            raise RequestError(ErrorCode.GONE, f"session {session.name!r} was deleted: open another under a new id")
        if changes and session.read_only:
            raise RequestError(
                ErrorCode.READ_ONLY,
                f"session {session.name!r} is from before the store was restored and takes nothing new: open another",
            )
        if self.device.head is None:
            await self.live.load_head(self.device)
        return self.state

    @property
    def state(self) -> State:
        """The state, as it is after everything that came before. Raises `StaleError` where it was dropped meanwhile."""
        self.check_generation()
        if self.session.state is None:
            raise StaleError
        return self.session.state

    def check_generation(self) -> None:
        """Raises `StaleError` where a commit failed since the request began."""
        if self.generation != self.live.generation:
            raise StaleError

    async def repeat_of(self, digest: bytes) -> Row | None:
        """The entry that the request's key stands for, if there is one. Raises `key_conflict`.

        What it returns is durable. Where there is none the request is to be carried out, for which there must be room:
        raises `storage_full`.
        """
        session, key = self.session, self.request.key
        used = session.keys.get(key)
        if used is None and key > session.older_newest_key:
            self.check_room()
            return None
        if used is not None and used[0] != digest:
            raise self._key_conflict()
        await self.live.settle(session)
        number = session.number
        row = await self.look(lambda reader: reader.keyed(number, key))
        if row is None:
            self.check_room()
        elif row.facts.digest != digest:
            raise self._key_conflict()
        return row

    def check_room(self) -> None:
        """Raises `storage_full` where the device may store nothing, and `gone` where it is being deleted."""
        self._check_there()
        self.services.room.check(self.device)

    def _check_there(self) -> None:
        if self.device.gone:
            raise RequestError(ErrorCode.GONE, "this device was deleted: pair it again, as another one")

    def _key_conflict(self) -> RequestError:
        return RequestError(
            ErrorCode.KEY_CONFLICT,
            f"the key {self.request.key!r} stands for another request of this session: make a fresh key for each",
        )

    async def look(self, read: Callable[[Reader], T]) -> T:
        """Looks into the store, and makes sure that nothing failed since the request began or meanwhile."""
        self.check_generation()
        found = await self.live.store.look(read)
        self.check_generation()
        return found

    async def heavily(self, size: int, work: Callable[[], T]) -> T:
        """Does the work at once where it is small, else in a thread, so that nobody else waits for it."""
        if size < LARGE_BYTES:
            return work()
        return await asyncio.get_running_loop().run_in_executor(self.services.heavy, work)

    async def utf8(self, text: str) -> bytes:
        """The UTF-8 of the request's one text, which may have been lifted out of it."""
        if self._lifted is not None:
            return self._lifted
        return await self.heavily(len(text), text.encode)

    def small_utf8(self, text: str) -> bytes | None:
        """The UTF-8 of a text that is small enough to be worked on at once, else None."""
        return text.encode() if self._lifted is None and len(text) < LARGE_BYTES // 4 else None

    async def stage_text(self, text: bytes) -> Staged | None:
        """Writes a large text ahead, a body or a window; None for one that is small enough to go with its record."""
        if len(text) < LARGE_BYTES:
            return None
        # It is kept apart and found by no hash, so it needs none.
        return await self._stage(b"", text, text=True)

    async def stage_content(self, sha256: bytes, data: bytes) -> Staged:
        """Writes a large file's content ahead."""
        return await self._stage(sha256, data, text=False)

    async def _stage(self, sha256: bytes, data: bytes, *, text: bool) -> Staged:
        number = self.device.number
        staged = await self.live.store.stage(number, sha256, data, text=text, allow=self._allow)
        self._staged += (staged,)
        return staged

    def _allow(self, piece_bytes: int) -> None:
        self.services.room.check(self.device, piece_bytes)
        self.device.pending_bytes += piece_bytes
        self._staged_bytes += piece_bytes

    def let_go(self) -> None:
        """Drops what was written ahead, after a failure: no record takes it up."""
        self.device.pending_bytes -= self._staged_bytes
        for staged in self._staged:
            self.live.store.drop(staged)
        self._staged, self._staged_bytes = (), 0

    # --- The decision ------------------------------------------------------------------------------------------------

    def check_fits(self, text: str) -> None:
        """Raises `too_large` where the answer is more than the caller takes: nothing is stored then."""
        if not self.caller.fits(text):
            raise RequestError(
                ErrorCode.TOO_LARGE,
                f"the answer has {len(text)} characters, more than the `max_message` of this link: ask for less",
            )

    async def check_fits_heavily(self, text: str) -> None:
        """The same for a text that may be large: to tell its size in the caller's encoding takes its time."""
        await self.heavily(len(text), lambda: self.check_fits(text))

    def record(self, kind: str, facts: Facts, **fields: Any) -> Record:  # the fields of Record
        """A record of this session that comes next in the log."""
        self._check_there()
        state = self.state
        head = self.device.head
        if head is None:
            raise StaleError
        return Record(
            device=self.device.number,
            seq=head + 1,
            session=self.session.number,
            kind=kind,
            facts=facts,
            results=fields.pop("results", state.results),
            current_turn=fields.pop("current_turn", state.turn),
            **fields,
        )

    def append(self, record: Record, answer: Answer, measure: Measure | None = None, saved_bytes: int = 0) -> None:
        """Appends the record and answers when it is durable; then an insertion is counted by its measure.

        What was written ahead is the record's from now on.
        """
        staged_bytes, self._staged, self._staged_bytes = self._staged_bytes, (), 0

        def done(fault: StoreFault | None) -> None:
            self.device.pending_bytes -= staged_bytes
            if measure is not None and fault is None:
                self.services.counts.inserted(measure, saved_bytes)
            self.caller.answer(answer if fault is None else fault_answer(self.request.id, fault))

        self.live.append(self.session, record, done)

    async def answer_when_durable(self, answer: Answer) -> None:
        """Answers a request that changes nothing but tells of a change: when that is durable."""
        await self.live.settle(self.session)
        self.check_generation()
        self.caller.answer(answer)

    def insert(
        self,
        inserting: Inserting,
        text: str,
        *,
        kind: str = "result",
        digest: bytes,
        body_kind: str = "",
        span: Span | None = None,
        body: bytes = b"",
        own: Staged | None = None,
        source: bytes = b"",
        root: int = 0,
        contents: tuple[FileContent, ...] = (),
        given_bytes: int = 0,
    ) -> None:
        """Appends an insertion, applies it to the state, and answers when it is durable. Nothing here waits.

        `given_bytes` is what the tool's answer has, for the count of what was saved.
        """
        request, state = self.request, self.state
        capped = inserting.capped
        facts = Facts(
            at_ms=self.services.now_ms(),
            turn=state.turn,
            lead=inserting.lead,
            shape=int(inserting.shape),
            cut=None if capped is None else Cut(capped.head_end, capped.middle(inserting.number), capped.tail_start),
            span=span,
            tool=request.tool if kind == "result" else "",
            call=request.call,
            body=body_kind,
            error=inserting.error,
            stub_of=inserting.stub_of,
            digest=digest,
        )
        record = self.record(
            kind,
            facts,
            results=inserting.number,
            number=inserting.number,
            key=request.key,
            event=encode_event(inserting.event),
            args=self.args,
            body=body,
            own=own,
            source=source,
            root=root,
            contents=contents,
        )
        state.apply(inserting.event)
        measure = _measure(inserting, kind, body_kind)
        self.append(
            record,
            Inserted(
                re=request.id,
                seq=record.seq,
                result=result_id(inserting.number),
                text=text,
                stub_of=result_id(inserting.stub_of) if inserting.stub_of else None,
                capped=capped is not None,
                repeated=False,
            ),
            measure,
            shortened_bytes(given_bytes, text) if measure in SHORTENING else 0,
        )

    async def shown(self, inserting: Inserting, body: bytes) -> str:
        """The text of an insertion, checked against what the caller takes."""
        if inserting.capped is not None or len(body) < LARGE_BYTES:
            return self.shown_now(inserting, body)
        text = await self.heavily(len(body), lambda: text_of(inserting, body))
        await self.check_fits_heavily(text)
        return text

    def shown_now(self, inserting: Inserting, body: bytes) -> str:
        """The same for a small or capped text."""
        text = text_of(inserting, body)
        self.check_fits(text)
        return text

    async def answer_repeat(self, digest: bytes) -> bool:
        """Answers an insertion that was carried out before with what it was answered then; whether it was."""
        row = await self.repeat_of(digest)
        if row is None:
            return False
        first: Row = row
        text = (await self.look(lambda reader: stored_text_of(reader, first))).decode()
        await self.check_fits_heavily(text)
        stub_of = first.facts.stub_of
        self.caller.answer(
            Inserted(
                re=self.request.id,
                seq=first.seq,
                result=result_id(first.number),
                text=text,
                stub_of=result_id(stub_of) if stub_of else None,
                capped=first.facts.cut is not None,
                repeated=True,
            )
        )
        return True


def _measure(inserting: Inserting, kind: str, body_kind: str) -> Measure:
    if kind == "recall":
        return "recall"
    if inserting.stub_of:
        return "stub"
    if inserting.capped is not None:
        return "capped"
    return "diff" if body_kind == "change" else "full"


def error_answer(re: int, fault: RequestError) -> Error:
    """The answer to a request that failed. Its sentence may name what the client sent: a secret is taken out of it."""
    sentence = without_secrets(fault.sentence)
    return Error(re=re, code=fault.code, message=sentence, retry=fault.retry, needed=list(fault.needed))


def fault_answer(re: int, fault: StoreFault) -> Error:
    """The answer where nothing could be stored."""
    return error_answer(re, RequestError(fault.code, fault.sentence))
