"""A fixed course of requests of every kind, each tried again until it succeeds, and what it must have left behind."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator

import msgspec

from tests.faults.house import Caller
from waybread_protocol.errors import ErrorCode
from waybread_protocol.messages import (
    Carry,
    ChangeBody,
    Compact,
    Compacted,
    Content,
    Delete,
    Done,
    Entry,
    EntryText,
    Error,
    FileChange,
    History,
    Inserted,
    Message,
    Open,
    Opened,
    Page,
    ReadBody,
    ReadList,
    Reads,
    Recall,
    Request,
    Result,
    SessionList,
    Sessions,
    Show,
    Shown,
    Sync,
    TakeBack,
    TextBody,
    TextPiece,
    Turn,
    Window,
)

Promise = Done | Inserted | Opened | Compacted
TRIES = 5
"""One call that fails may fail two requests or three in a row: those that were on their way with it."""


def large_text(mark: str) -> str:
    """Over the 256 KiB from which content is written ahead, and no two alike."""
    return "".join(f"{mark} line {number}\n" for number in range(300_000 // (len(mark) + 11)))


def course(mark: str, ids: Callable[[], int]) -> Iterator[Request]:
    """The requests of one course, in sessions of its own."""
    session, other = f"{mark}-main", f"{mark}-other"
    small, large = f"{mark}\nsmall\n".encode(), large_text(mark).encode()
    window = Window(text=f"{mark} b\n", lines=3, sha256=_hash(f"{mark} a\n{mark} b\n{mark} c\n".encode()))

    def result(number: int, body: TextBody | ReadBody | ChangeBody) -> Result:
        tool = {TextBody: "bash", ReadBody: "read", ChangeBody: "edit"}[type(body)]
        return Result(id=ids(), session=session, key=f"key {number}", tool=tool, args={"n": number}, body=body)

    def read(path: str, content: Content, offset: int = 1, limit: int = 2000) -> ReadBody:
        return ReadBody(path=path, absolute=f"/{mark}/{path}", offset=offset, limit=limit, content=content)

    change = FileChange(
        path="small",
        absolute=f"/{mark}/small",
        before=Content(sha256=_hash(small)),
        after=Content(data=small + b"more\n"),
    )
    yield Open(id=ids(), session=session, kind="agent", title=mark)
    yield Turn(id=ids(), session=session, turn="first")
    yield result(1, TextBody(text=f"said {mark}"))
    yield result(2, TextBody(text=large_text(f"{mark} said")))
    yield result(3, read("small", Content(data=small)))
    yield result(4, read("small", Content(sha256=_hash(small))))
    yield result(5, read("large", Content(data=large)))
    yield result(6, read("window", Content(window=window), 2, 1))
    yield result(7, ChangeBody(changes=[change]))
    yield Recall(id=ids(), session=session, key="key 8", result="#0001")
    yield Recall(id=ids(), session=session, key="key 9", result="#0002", offset=3000)
    yield Carry(id=ids(), session=session, key="key 10", results=["#0003"])
    yield Turn(id=ids(), session=session, turn="second")
    yield Message(id=ids(), session=session, key="key 11", role="user", text=f"asked {mark}")
    yield Message(id=ids(), session=session, key="key 12", role="assistant", text=large_text(f"{mark} answered"))
    yield Compact(id=ids(), session=session, key="key 13")
    yield TakeBack(id=ids(), session=session, key="key 14", turns=["second"])
    yield Open(id=ids(), session=other, kind="chat")
    yield Message(id=ids(), session=other, key="key 15", role="user", text=large_text(f"{mark} other"))
    yield Delete(id=ids(), session=other)


class Told(msgspec.Struct, frozen=True):
    """A request and the answer that acknowledged it."""

    request: Request
    answer: Promise


class Courses:
    """Courses one after another on one device: each change gets the next `seq`, each result the next number."""

    def __init__(self, *, may_be_there: bool = False) -> None:
        self.told: list[Told] = []
        self.errors: list[Error] = []
        self._may_be_there = may_be_there
        """A commit whose sync failed may be there all the same: then the next try by its key says so."""
        self.seq = 0
        """The last `seq` that was given."""

    async def run(self, caller: Caller, mark: str) -> None:
        """One course. What fails is tried again, and nothing of the failed try is seen: not its key, number or `seq`."""
        results = 0
        for request in course(mark, caller.next_id):
            answer = await self._until_done(caller, request)
            self.seq += 1
            assert answer.seq == self.seq, (request, answer)
            if isinstance(answer, Inserted):
                results += 1
                assert answer.result == f"#{results:04x}", answer
            self.told.append(Told(request, answer))
        assert results == 9

    async def _until_done(self, caller: Caller, request: Request) -> Promise:
        failed = False
        for _ in range(TRIES):
            answer = await caller.ask(request)
            if not isinstance(answer, Error):
                assert isinstance(answer, Promise), answer
                repeated = not answer.created if isinstance(answer, Opened) else answer.repeated
                assert not repeated or (failed and self._may_be_there), (request, answer)
                return answer
            failed = True
            check_error(answer)
            self.errors.append(answer)
        raise AssertionError(f"{request} keeps failing: {self.errors[-TRIES:]}")

    async def check(self, caller: Caller, since: int = 0) -> None:
        """Everything acknowledged is there, word by word; looks fail nowhere."""
        told = [one for one in self.told if one.answer.seq > since]
        entries = await _entries(caller, since)
        for one in told:
            request, answer = one.request, one.answer
            if isinstance(request, Carry) or str(request.session).endswith("-other"):  # type: ignore[union-attr]
                continue
            entry = entries[answer.seq]
            text = entry.text
            while len(text) < entry.text_chars:
                piece = await caller.look(EntryText(id=caller.next_id(), seq=entry.seq, from_char=len(text)), TextPiece)
                text += piece.text
            if isinstance(answer, Inserted):
                assert (text, entry.result) == (answer.text, answer.result)
            elif isinstance(request, Message):
                assert text == request.text
            elif isinstance(answer, Compacted):
                assert text == answer.table
            if isinstance(request, Result) and isinstance(request.body, TextBody):
                assert await _shown(caller, request.session, entry.result) == request.body.text
        deleted = [str(one.request.session) for one in told if isinstance(one.request, Delete)]
        kinds = {entry.session: entry.kind for entry in entries.values()}
        assert all(kinds[session] == "deleted" for session in deleted)


def check_error(error: Error) -> None:
    """A sentence for a person that says what to do; the same request can succeed later."""
    assert error.retry, error
    if error.code == ErrorCode.STORAGE_FULL:
        assert "is full. Nothing of this was stored: free some space there and send it again" in error.message
    else:
        assert error.code == ErrorCode.INTERNAL, error
        assert "Nothing of this was stored: send it again" in error.message, error


async def look_at_all(caller: Caller, session: str) -> None:
    """Every request that only looks."""
    ids = caller.next_id
    await caller.look(Sessions(id=ids()), SessionList)
    await caller.look(History(id=ids(), session=session), Page)
    await caller.look(Reads(id=ids(), session=session), ReadList)
    await caller.look(Show(id=ids(), session=session, result="#0002"), Shown)
    await caller.look(EntryText(id=ids(), seq=1), TextPiece)
    await caller.look(Sync(id=ids(), session=session), Page)


async def _entries(caller: Caller, after: int) -> dict[int, Entry]:
    """All entries of the log behind `after`."""
    entries: dict[int, Entry] = {}
    more = True
    while more:
        page = await caller.look(Sync(id=caller.next_id(), after=after, epoch=caller.epoch), Page)
        entries |= {entry.seq: entry for entry in page.entries}
        after, more = page.next, page.more
    return entries


async def _shown(caller: Caller, session: str, result: str) -> str:
    text, offset, from_char, lines = "", 1, 0, 1
    while offset <= lines:
        request = Show(id=caller.next_id(), session=session, result=result, offset=offset, from_char=from_char)
        shown = await caller.look(request, Shown)
        text += shown.text
        lines = shown.lines
        offset, from_char = (offset + 2000, 0) if shown.next_char is None else (offset, shown.next_char)
    return text


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
