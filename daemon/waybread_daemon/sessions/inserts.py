"""`result` and `recall`: what gets an id."""

from __future__ import annotations

from waybread_daemon.hygiene.answer import Answer as Inserting
from waybread_daemon.hygiene.lines import without_last_ending
from waybread_daemon.hygiene.recall import recall_answer, recalled_number, unknown_answer
from waybread_daemon.hygiene.repeat import result_answer
from waybread_daemon.sessions import bodies
from waybread_daemon.sessions.changes import change
from waybread_daemon.sessions.digest import request_digest, sha256_of
from waybread_daemon.sessions.job import Job
from waybread_daemon.sessions.reads import read
from waybread_daemon.store.contract import Reader, Span
from waybread_protocol.messages import ReadBody, TextBody


async def result(job: Job) -> None:
    """Inserts what a tool answered."""
    body = job.request.body
    if isinstance(body, TextBody):
        await _text(job, body)
    elif isinstance(body, ReadBody):
        await read(job, body)
    else:
        await change(job, body)


async def _text(job: Job, body: TextBody) -> None:
    request = job.request
    await job.begin()
    data = job.small_utf8(body.text)
    small = data is not None
    if data is None:
        data = await job.utf8(body.text)
    text_bytes = data
    sha256 = sha256_of(data) if small else await job.heavily(len(data), lambda: sha256_of(text_bytes))
    digest = request_digest("result", request.tool, job.args, request.call, "text", sha256, body.error)
    if await job.answer_repeat(digest):
        return
    state = job.state

    def decide() -> Inserting:
        return result_answer(state, request.tool, job.args, text_bytes, sha256, error=body.error)

    inserting = decide() if small else await job.heavily(len(data), decide)
    text = job.shown_now(inserting, inserting.body) if small else await job.shown(inserting, inserting.body)
    own = await job.stage_text(inserting.body)
    job.insert(
        inserting,
        text,
        digest=digest,
        body_kind="text",
        body=b"" if own else inserting.body,
        own=own,
        root=inserting.shares,
        given_bytes=len(data),
    )


async def recall(job: Job) -> None:
    """Inserts a stored result again, in full, by windows."""
    request = job.request
    state = await job.begin()
    digest = request_digest("recall", request.result, request.offset, request.limit, request.call)
    if await job.answer_repeat(digest):
        return
    state = job.state
    number = recalled_number(state, request.result)
    if not number:
        inserting = unknown_answer(state, request.result)
        text = await job.shown(inserting, inserting.body)
        job.insert(inserting, text, kind="recall", digest=digest, body=inserting.body)
        return
    await job.live.settle(job.session)
    session = job.session.number

    def look(reader: Reader) -> tuple[Inserting, bytes, Span | None, int]:
        row = reader.result(session, number)
        if row is None:
            raise LookupError(f"result {number} of session {session} is not in the store")
        body = bodies.body_of(reader, row)
        inserting = recall_answer(state, number, bodies.line_count(reader, body), request.offset, request.limit)
        if inserting.lines is None:
            return inserting, inserting.body, None, 0
        shown = without_last_ending(bodies.exact_lines(reader, body, *inserting.lines))
        return inserting, shown, bodies.recalled_span(body, *inserting.lines), body.holder.number

    inserting, shown, span, root = await job.look(look)
    text = await job.shown(inserting, shown)
    job.insert(inserting, text, kind="recall", digest=digest, body=inserting.body, span=span, root=root)
