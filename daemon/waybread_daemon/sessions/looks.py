"""What only looks: show, reads, sessions, sync, history, entry_text."""

from __future__ import annotations

from waybread_daemon.hygiene.compaction import newest_reads
from waybread_daemon.hygiene.ids import result_id, result_number
from waybread_daemon.hygiene.lines import count_chars, shown_range
from waybread_daemon.sessions import bodies
from waybread_daemon.sessions.entries import fill, rows_after, rows_before
from waybread_daemon.sessions.job import Caller, Job
from waybread_daemon.sessions.last_lines import last_line
from waybread_daemon.sessions.live import Live, LiveDevice
from waybread_daemon.sessions.turns import read_row
from waybread_daemon.store.contract import Reader, SessionFacts
from waybread_protocol.errors import ErrorCode, RequestError
from waybread_protocol.loop import CONTEXT
from waybread_protocol.messages import (
    EntryText,
    Page,
    ReadList,
    SessionList,
    SessionRow,
    Sessions,
    Shown,
    Sync,
    TextPiece,
)


async def show(job: Job) -> None:
    """An exact piece of a stored body."""
    request = job.request
    state = await job.begin(changes=False)
    number = result_number(request.result)
    if not 1 <= number <= state.results:
        raise RequestError(
            ErrorCode.UNKNOWN_RESULT,
            f"session {request.session!r} has given {state.results} ids and {request.result[:64]!r} is none of them",
        )
    await job.live.settle(job.session)
    session, page_bytes = job.session.number, job.caller.page_bytes

    def read(reader: Reader) -> Shown:
        row = reader.result(session, number)
        if row is None:
            raise LookupError(f"result {number} of session {session} is not in the store")
        body = bodies.body_of(reader, row)
        lines = bodies.line_count(reader, body)
        shown = shown_range(request.offset, request.limit, lines, CONTEXT.recall.window_lines) if lines else None
        text, more = b"", False
        if shown is not None:
            text, more = bodies.piece(reader, body, *shown, request.from_char, page_bytes)
        first, last = shown or (0, 0)
        return Shown(
            re=request.id,
            result=result_id(number),
            tool=row.facts.tool,
            text=text.decode(),
            first=first,
            last=last,
            lines=lines,
            next_char=request.from_char + count_chars(text) if more else None,
            seq=row.seq,
        )

    job.caller.answer(await job.look(read))


async def reads(job: Job) -> None:
    """The newest full read of each file not taken back."""
    await job.begin(changes=False)
    await job.live.load_whole(job.session)
    state = job.state
    rows = [read_row(state, read, in_request=state.is_carried(read.number)) for read in newest_reads(state)]
    await job.answer_when_durable(ReadList(re=job.request.id, reads=rows))


async def history(job: Job) -> None:
    """A session's last entries before a cursor."""
    request = job.request
    await job.begin(changes=False)
    await job.live.settle(job.session)
    session, device = job.session.number, job.device.number
    epoch, page_bytes = job.live.store.epoch, job.caller.page_bytes

    def read(reader: Reader) -> Page:
        newest_first = rows_before(reader, session, request.before)
        entries, more = fill(reader, newest_first, page_bytes, request.limit)
        entries.reverse()
        return Page(
            re=request.id,
            epoch=epoch,
            entries=entries,
            next=entries[0].seq if more else 0,
            head=reader.head(device),
            more=more,
        )

    job.caller.answer(await job.look(read))


async def session_sync(job: Job) -> tuple[Page, int]:
    """A page of one session's log, and the session's number in the store."""
    await job.begin(changes=False)
    number = job.session.number
    page = await sync_page(job.live, job.device, job.request, job.caller, number)
    job.check_generation()
    return page, number


async def sync_page(live: Live, device: LiveDevice, request: Sync, caller: Caller, session: int | None) -> Page:
    """A page of the device's log, of one session or of all. Raises `reset` for a cursor that is not of this log."""
    epoch, page_bytes = live.store.epoch, caller.page_bytes
    if request.after and not request.epoch:
        raise RequestError(
            ErrorCode.BAD_MESSAGE, "`epoch` is required where `after` is not 0: send the one that came with the cursor"
        )
    if request.after and request.epoch != epoch:
        raise RequestError(
            ErrorCode.RESET, f"the cursor is of epoch {request.epoch[:64]!r} and the log of {epoch!r}: start from 0"
        )
    await live.store.settled()

    def read(reader: Reader) -> Page:
        head = reader.head(device.number)
        if request.after > head:
            raise RequestError(
                ErrorCode.RESET, f"the cursor {request.after} is beyond the log's end {head}: start from 0"
            )
        entries, more = fill(
            reader, rows_after(reader, device.number, request.after, session), page_bytes, MOST_ENTRIES
        )
        end = entries[-1].seq if more else head
        return Page(re=request.id, epoch=epoch, entries=entries, next=end, head=head, more=more)

    return await live.store.look(read)


MOST_ENTRIES = 1000
"""Entries of a page at most: small ones would make a page that is slow to make and to take."""


async def session_list(live: Live, device: LiveDevice, request: Sessions, caller: Caller) -> None:
    """The device's sessions, last changed first."""
    await live.store.settled()
    page_bytes = caller.page_bytes

    def read(reader: Reader) -> SessionList:
        found = reader.sessions(device.number, request.before, request.limit + 1)
        rows: list[SessionRow] = []
        left = page_bytes
        for facts in found[: request.limit]:
            row = _session_row(facts, last_line(reader, facts.number))
            left -= sum(len(text.encode()) for text in (row.session, row.title, row.directory, row.last_line))
            if left < 0 and rows:
                break
            rows.append(row)
        return SessionList(re=request.id, sessions=rows, more=len(rows) < len(found))

    caller.answer(await live.store.look(read))


def _session_row(facts: SessionFacts, line: str) -> SessionRow:
    return SessionRow(
        session=facts.session,
        kind=facts.kind,  # type: ignore[arg-type]  # it was one of the kinds when it was opened
        title=facts.title,
        directory=facts.directory,
        results=facts.results,
        head=facts.head,
        opened_ms=facts.opened_ms,
        changed_ms=facts.changed_ms,
        last_line=line,
        raw_bytes=facts.raw_bytes,
        stored_bytes=facts.stored_bytes,
    )


async def entry_text(live: Live, device: LiveDevice, request: EntryText, caller: Caller) -> None:
    """The rest of a text that a page cut."""
    await live.store.settled()
    page_bytes = caller.page_bytes

    def read(reader: Reader) -> TextPiece:
        row = reader.entry(device.number, request.seq)
        if row is None:
            raise RequestError(ErrorCode.UNKNOWN_RESULT, f"there is no entry with the `seq` {request.seq} to show")
        text, more = bodies.cut_text(bodies.text_of(reader, row), request.from_char, page_bytes)
        return TextPiece(
            re=request.id,
            seq=request.seq,
            from_char=request.from_char,
            text=text.decode(),
            next_char=request.from_char + count_chars(text) if more else None,
        )

    caller.answer(await live.store.look(read))
