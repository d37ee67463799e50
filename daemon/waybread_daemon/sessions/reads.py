"""Reads of files: what came along decides how the answer is made, never what it is."""

from __future__ import annotations

from msgspec import UNSET

from waybread_daemon.hygiene.answer import Answer as Inserting
from waybread_daemon.hygiene.answer import Shape
from waybread_daemon.hygiene.lines import BOM, count_file_lines, count_lines, cut_lines, numbered, shown_range
from waybread_daemon.hygiene.read import Asked, known_lines, read_answer
from waybread_daemon.sessions.contents import check_hash, content_needed, given, kept, settle_device
from waybread_daemon.sessions.digest import request_digest
from waybread_daemon.sessions.job import Job
from waybread_daemon.store.contract import FileContent, Span, Staged
from waybread_protocol.errors import ErrorCode, RequestError
from waybread_protocol.loop import CONTEXT
from waybread_protocol.messages import ReadBody, Window


async def read(job: Job, body: ReadBody) -> None:
    """Inserts a read: of content that came along, of a window of it, or of content that is known by its hash."""
    request, content = job.request, body.content
    await job.begin()
    text = None if content.text is UNSET else await job.utf8(content.text)
    size = len(text or b"") if content.data is UNSET else len(content.data)
    brought = await job.heavily(size, lambda: given(content, text))
    asked = Asked(body.path, body.absolute, brought.sha256, body.offset, body.limit)
    digest = request_digest(
        "result", request.tool, job.args, request.call, "read", *asked[:2], body.offset, body.limit, brought.sha256
    )
    if await job.answer_repeat(digest):
        return
    check_hash(body.path, brought)
    if content.window is not UNSET:
        await _read_window(job, asked, digest, content.window)
    elif brought.data is not None:
        await _read_content(job, asked, digest, brought.data)
    else:
        await _read_known(job, asked, digest)


async def _read_content(job: Job, asked: Asked, digest: bytes, data: bytes) -> None:
    """The whole content came along."""
    size = len(data)
    lines = await job.heavily(size, lambda: count_file_lines(data))
    job.services.counts.contents.note(asked.sha256, size, lines)
    inserting = read_answer(job.state, asked, lines)
    if inserting.stub_of:
        _insert(job, asked, inserting, digest)
        return
    text = None
    if inserting.lines is not None:
        first, last = inserting.lines
        text = inserting.lead + await job.heavily(size, lambda: _numbered_lines(data, first, last, lines))
        await job.check_fits_heavily(text)
    contents = (await kept(job, asked.sha256, data),)
    _insert(job, asked, inserting, digest, text=text, contents=contents, source=asked.sha256)


def _numbered_lines(data: bytes, first: int, last: int, lines: int) -> str:
    shown = data if first == 1 and last == lines else cut_lines(data, first, last)
    return numbered(shown, first)


async def _read_window(job: Job, asked: Asked, digest: bytes, window: Window) -> None:
    """Only the range asked for came along: it is kept for itself."""
    data = await job.heavily(len(window.text), window.text.encode)
    await job.heavily(len(data), lambda: _check_window(data, asked, window.lines))
    inserting = read_answer(job.state, asked, window.lines)
    if inserting.lines is None:
        _insert(job, asked, inserting, digest)
        return
    first, last = inserting.lines
    job.services.counts.contents.note(asked.sha256, len(data), last - first + 1)
    if inserting.stub_of:
        _insert(job, asked, inserting, digest)
        return
    text = inserting.lead + await job.heavily(len(data), lambda: numbered(data, first))
    await job.check_fits_heavily(text)
    own = await job.stage_text(data)
    _insert(job, asked, inserting, digest, text=text, base=first, body=b"" if own else data, own=own)


def _check_window(data: bytes, asked: Asked, lines: int) -> None:
    """A window is the lines of its range, endings included; a byte-order mark stands before the first line."""
    shown = shown_range(asked.offset, asked.limit, lines, CONTEXT.read.window_lines) if lines else None
    if shown is None:
        wanted, complete, has = 0, True, len(data.removeprefix(BOM) if not lines else data)
    else:
        first, last = shown
        wanted = last - first + 1
        has = count_file_lines(data) if first == 1 else count_lines(data)
        complete = last == lines or data.endswith(b"\n")
    if has != wanted or not complete:
        raise RequestError(
            ErrorCode.BAD_MESSAGE,
            f"the window's text has to hold exactly {wanted} lines of a file of {lines}, each with its ending: "
            "send the lines of the range asked for",
        )


async def _read_known(job: Job, asked: Asked, digest: bytes) -> None:
    """Only the hash came along: the state or the store may know the content."""
    lines = known_lines(job.state, asked)
    inserting = None if lines is None else read_answer(job.state, asked, lines)
    if inserting is not None and (inserting.stub_of or inserting.lines is None):
        _insert(job, asked, inserting, digest)
        return
    await settle_device(job)
    device = job.device.number
    content = await job.look(lambda reader: reader.content(device, asked.sha256))
    if content is None:
        raise content_needed([asked.sha256])
    found = content
    job.services.counts.contents.note(asked.sha256, found.size_bytes, found.lines)
    inserting = read_answer(job.state, asked, found.lines)
    text = None
    if inserting.lines is not None and not inserting.stub_of:
        first, last = inserting.lines
        text = inserting.lead + await job.look(lambda reader: numbered(reader.lines(found, first, last), first))
        await job.check_fits_heavily(text)
    contents = () if inserting.stub_of else (FileContent(asked.sha256, None),)
    _insert(job, asked, inserting, digest, text=text, contents=contents, source=asked.sha256)


def _insert(
    job: Job,
    asked: Asked,
    inserting: Inserting,
    digest: bytes,
    *,
    text: str | None = None,
    contents: tuple[FileContent, ...] = (),
    source: bytes = b"",
    base: int = 1,
    body: bytes = b"",
    own: Staged | None = None,
) -> None:
    full = inserting.lines is not None and not inserting.stub_of
    given_bytes = 0
    if inserting.stub_of and inserting.lines is not None:
        first, last = inserting.lines
        given_bytes = job.services.counts.contents.share_bytes(asked.sha256, last - first + 1)
    if inserting.shape is Shape.WHOLE and not full:
        # One sentence: there is no such line.
        body = inserting.body
    job.insert(
        inserting,
        job.shown_now(inserting, inserting.body) if text is None else text,
        digest=digest,
        body_kind="read",
        span=None if inserting.lines is None else Span(*inserting.lines, base, numbered=True),
        body=body,
        own=own,
        source=source if full else b"",
        root=inserting.shares,
        contents=contents,
        given_bytes=given_bytes,
    )
