"""`result` and `recall`: what gets an id."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

from msgspec import UNSET

from waybread_daemon.hygiene.answer import Answer as Inserting
from waybread_daemon.hygiene.answer import Shape
from waybread_daemon.hygiene.change import FileChange, change_answer, describe_change
from waybread_daemon.hygiene.ids import result_id
from waybread_daemon.hygiene.lines import (
    BOM,
    count_file_lines,
    count_lines,
    cut_lines,
    numbered,
    shown_range,
    without_last_ending,
)
from waybread_daemon.hygiene.read import Asked, known_lines, read_answer
from waybread_daemon.hygiene.recall import recall_answer, recalled_number, unknown_answer
from waybread_daemon.hygiene.repeat import result_answer
from waybread_daemon.sessions import bodies
from waybread_daemon.sessions.digest import request_digest
from waybread_daemon.sessions.job import Job
from waybread_daemon.store.contract import LARGE_BYTES, ContentFacts, FileContent, Reader, Row, Span
from waybread_protocol.errors import ErrorCode, RequestError
from waybread_protocol.loop import CONTEXT
from waybread_protocol.messages import ChangeBody, Content, Inserted, ReadBody, TextBody, Window

_NO_LINES = {hashlib.sha256(data).digest(): data for data in (b"", BOM)}
"""Contents that everybody has: a file of nothing, and a file of nothing but a byte-order mark."""


async def result(job: Job) -> None:
    """Inserts what a tool answered."""
    body = job.request.body
    if isinstance(body, TextBody):
        await _text(job, body)
    elif isinstance(body, ReadBody):
        await _read(job, body)
    else:
        await _change(job, body)


# --- Text ------------------------------------------------------------------------------------------------------------


async def _text(job: Job, body: TextBody) -> None:
    request = job.request
    await job.begin()
    data = await job.utf8(body.text)
    size = len(data)
    sha256 = await job.heavily(size, lambda: hashlib.sha256(data).digest())
    digest = request_digest("result", request.tool, job.args, request.call, "text", sha256, body.error)
    if await _repeated(job, digest):
        return
    state = job.state
    inserting = await job.heavily(
        size, lambda: result_answer(state, request.tool, job.args, data, sha256, error=body.error)
    )
    text = job.shown(inserting, inserting.body)
    own = None
    if len(inserting.body) >= LARGE_BYTES:
        own = await job.stage(sha256, inserting.body, text=True)
    job.insert(
        inserting,
        text,
        digest=digest,
        body_kind="text",
        body=b"" if own else inserting.body,
        own=own,
        root=inserting.shares,
    )


# --- Reads -----------------------------------------------------------------------------------------------------------


class _Given(NamedTuple):
    """Content as a request gave it: its hash, and its bytes where they came along."""

    sha256: bytes
    data: bytes | None
    mismatch: bool


async def _given(job: Job, content: Content) -> _Given:
    """The hash decides: it is made from the bytes where there are any."""
    declared = None if content.sha256 is UNSET else bytes.fromhex(content.sha256)
    if content.data is not UNSET:
        data = content.data
    elif content.text is not UNSET:
        data = await job.utf8(content.text)
    elif declared is not None:
        return _Given(declared, _NO_LINES.get(declared), mismatch=False)
    else:
        raise RequestError(ErrorCode.BAD_MESSAGE, "content needs one of `text`, `bytes`, `sha256`, `window`")
    sha256 = await job.heavily(len(data), lambda: hashlib.sha256(data).digest())
    return _Given(sha256, data, mismatch=declared not in (None, sha256))


def _check_hash(path: str, given: _Given) -> None:
    if given.mismatch:
        raise RequestError(
            ErrorCode.HASH_MISMATCH,
            f"the content of {path[:256]!r} has the SHA-256 {given.sha256.hex()} as it arrived, which is not the one "
            "beside it: send `bytes` if decoding the file changed it",
        )


async def _read(job: Job, body: ReadBody) -> None:
    request = job.request
    await job.begin()
    window = body.content.window
    if window is UNSET:
        given = await _given(job, body.content)
    else:
        given = _Given(bytes.fromhex(window.sha256), None, mismatch=False)
    asked = Asked(body.path, body.absolute, given.sha256, body.offset, body.limit)
    digest = request_digest(
        "result", request.tool, job.args, request.call, "read", *asked[:2], body.offset, body.limit, given.sha256
    )
    if await _repeated(job, digest):
        return
    _check_hash(body.path, given)
    if window is not UNSET:
        await _read_window(job, asked, digest, window)
    elif given.data is not None:
        await _read_content(job, asked, digest, given.data)
    else:
        await _read_known(job, asked, digest)


async def _read_content(job: Job, asked: Asked, digest: bytes, data: bytes) -> None:
    """The whole content came along."""
    size = len(data)
    lines = await job.heavily(size, lambda: count_file_lines(data))
    inserting = read_answer(job.state, asked, lines)
    contents: tuple[FileContent, ...] = ()
    shown = b""
    if not inserting.stub_of:
        if inserting.lines is not None:
            first, last = inserting.lines
            shown = await job.heavily(size, lambda: numbered(cut_lines(data, first, last), first).encode())
        job.check_fits(inserting.lead + shown.decode())
        contents = (await _kept(job, asked.sha256, data),)
    _insert_read(job, inserting, shown, digest, contents=contents, source=asked.sha256)


async def _read_window(job: Job, asked: Asked, digest: bytes, window: Window) -> None:
    """Only the range asked for came along: it is kept for itself."""
    data = await job.heavily(len(window.text), window.text.encode)
    await job.heavily(len(data), lambda: _check_window(data, asked, window.lines))
    inserting = read_answer(job.state, asked, window.lines)
    if inserting.lines is None or inserting.stub_of:
        _insert_read(job, inserting, b"", digest)
        return
    first, _ = inserting.lines
    shown = await job.heavily(len(data), lambda: numbered(data, first).encode())
    job.check_fits(inserting.lead + shown.decode())
    own = await job.stage(asked.sha256, data, text=True) if len(data) >= LARGE_BYTES else None
    _insert_read(job, inserting, shown, digest, base=first, body=b"" if own else data, own=own)


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
        _insert_read(job, inserting, b"", digest)
        return
    await _settle_device(job)
    device = job.device.number
    content = await job.look(lambda reader: reader.content(device, asked.sha256))
    if content is None:
        raise _needed([asked.sha256])
    inserting = read_answer(job.state, asked, content.lines)
    shown = b""
    if inserting.lines is not None and not inserting.stub_of:
        first, last = inserting.lines
        known: ContentFacts = content
        shown = await job.look(lambda reader: numbered(reader.lines(known, first, last), first).encode())
        job.check_fits(inserting.lead + shown.decode())
    contents = () if inserting.stub_of else (FileContent(asked.sha256, None),)
    _insert_read(job, inserting, shown, digest, contents=contents, source=asked.sha256)


def _insert_read(
    job: Job,
    inserting: Inserting,
    shown: bytes,
    digest: bytes,
    *,
    contents: tuple[FileContent, ...] = (),
    source: bytes = b"",
    base: int = 1,
    body: bytes = b"",
    own: object = None,
) -> None:
    full = inserting.lines is not None and not inserting.stub_of
    span = None if inserting.lines is None else Span(*inserting.lines, base, numbered=True)
    if inserting.shape is Shape.WHOLE and not full:
        # One sentence: there is no such line.
        body, shown = inserting.body, inserting.body
    job.insert(
        inserting,
        job.shown(inserting, shown),
        digest=digest,
        body_kind="read",
        span=span,
        body=body,
        own=own,  # type: ignore[arg-type]
        source=source if full else b"",
        root=inserting.shares,
        contents=contents,
    )


async def _kept(job: Job, sha256: bytes, data: bytes) -> FileContent:
    """Content for the store to keep: large content is written ahead, unless it is there."""
    if len(data) < LARGE_BYTES:
        return FileContent(sha256, data)
    await _settle_device(job)
    device = job.device.number
    known = await job.look(lambda reader: reader.content(device, sha256))
    return FileContent(sha256, None if known is not None else await job.stage(sha256, data, text=False))


async def _settle_device(job: Job) -> None:
    """Content may be on its way to the store with another request of this device."""
    if job.device.head is None or job.device.head > job.device.durable:
        await job.live.store.settled()


def _needed(hashes: list[bytes]) -> RequestError:
    return RequestError(
        ErrorCode.CONTENT_NEEDED,
        f"the content of {len(hashes)} of the hashes is not here: send the same request again with the content",
        needed=tuple(dict.fromkeys(sha256.hex() for sha256 in hashes)),
    )


# --- Changes ---------------------------------------------------------------------------------------------------------


async def _change(job: Job, body: ChangeBody) -> None:
    request = job.request
    await job.begin()
    sides: list[tuple[_Given | None, _Given | None]] = []
    for change in body.changes:
        before = None if change.before is None else await _given(job, change.before)
        after = None if change.after is None else await _given(job, change.after)
        sides.append((before, after))
    compared = [
        (change.path, change.absolute, before and before.sha256, after and after.sha256)
        for change, (before, after) in zip(body.changes, sides, strict=True)
    ]
    digest = request_digest("result", request.tool, job.args, request.call, "change", compared, body.note)
    if await _repeated(job, digest):
        return
    for change, pair in zip(body.changes, sides, strict=True):
        for given in pair:
            if given is not None:
                _check_hash(change.path, given)
    known = await _fetched(job, [given for pair in sides for given in pair if given is not None])
    changes = [
        FileChange(
            change.path,
            change.absolute,
            None if before is None else known[before.sha256],
            None if after is None else known[after.sha256],
            None if after is None else after.sha256,
        )
        for change, (before, after) in zip(body.changes, sides, strict=True)
    ]
    size = sum(len(content) for content in known.values())
    described = await job.heavily(size, lambda: describe_change(changes))
    state = job.state
    inserting = await job.heavily(len(described.shown), lambda: change_answer(state, described, body.note))
    text = job.shown(inserting, inserting.body)
    sent: dict[bytes, bytes | None] = {}
    for given in (given for pair in sides for given in pair if given is not None):
        # A move names its content twice, and may send it only once.
        sent[given.sha256] = given.data if given.data is not None else sent.get(given.sha256)
    contents = tuple(
        [FileContent(sha256, None) if data is None else await _kept(job, sha256, data) for sha256, data in sent.items()]
    )
    own = None
    if len(inserting.body) >= LARGE_BYTES:
        own = await job.stage(hashlib.sha256(inserting.body).digest(), inserting.body, text=True)
    job.insert(
        inserting,
        text,
        digest=digest,
        body_kind="change",
        body=b"" if own else inserting.body,
        own=own,
        contents=contents,
    )


async def _fetched(job: Job, sides: list[_Given]) -> dict[bytes, bytes]:
    """The bytes of every side by its hash, from the request or the store. Raises `content_needed` for all that miss."""
    known = {given.sha256: given.data for given in sides if given.data is not None}
    asked = [given.sha256 for given in sides if given.sha256 not in known]
    if asked:
        await _settle_device(job)
        device = job.device.number

        def read(reader: Reader) -> dict[bytes, bytes]:
            found = {sha256: reader.content(device, sha256) for sha256 in asked}
            return {sha256: reader.whole(content) for sha256, content in found.items() if content is not None}

        known |= await job.look(read)
    missing = [sha256 for sha256 in asked if sha256 not in known]
    if missing:
        raise _needed(missing)
    return known


# --- Recall ----------------------------------------------------------------------------------------------------------


async def recall(job: Job) -> None:
    """Inserts a stored result again, in full, by windows."""
    request = job.request
    state = await job.begin()
    digest = request_digest("recall", request.result, request.offset, request.limit, request.call)
    if await _repeated(job, digest):
        return
    state = job.state
    number = recalled_number(state, request.result)
    if not number:
        inserting = unknown_answer(state, request.result)
        text = job.shown(inserting, inserting.body)
        job.insert(inserting, text, kind="recall", digest=digest, body=inserting.body)
        return
    await job.live.settle(job.session)
    session = job.session.number

    def read(reader: Reader) -> tuple[Inserting, bytes, Span | None, int]:
        row = reader.result(session, number)
        if row is None:
            raise LookupError(f"result {number} of session {session} is not in the store")
        body = bodies.body_of(reader, row)
        inserting = recall_answer(state, number, bodies.line_count(reader, body), request.offset, request.limit)
        if inserting.lines is None:
            return inserting, inserting.body, None, 0
        shown = without_last_ending(bodies.exact_lines(reader, body, *inserting.lines))
        return inserting, shown, bodies.recalled_span(body, *inserting.lines), body.holder.number

    inserting, shown, span, root = await job.look(read)
    text = job.shown(inserting, shown)
    job.insert(inserting, text, kind="recall", digest=digest, body=inserting.body, span=span, root=root)


# --- Repeats ---------------------------------------------------------------------------------------------------------


async def _repeated(job: Job, digest: bytes) -> bool:
    """Answers a request that was carried out before with what it was answered then."""
    row = await job.repeat_of(digest)
    if row is None:
        return False
    first: Row = row
    text = (await job.look(lambda reader: bodies.text_of(reader, first))).decode()
    job.check_fits(text)
    stub_of = first.facts.stub_of
    job.caller.answer(
        Inserted(
            re=job.request.id,
            seq=first.seq,
            result=result_id(first.number),
            text=text,
            stub_of=result_id(stub_of) if stub_of else None,
            capped=first.facts.cut is not None,
            repeated=True,
        )
    )
    return True
