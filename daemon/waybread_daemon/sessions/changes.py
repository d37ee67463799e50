"""Changes of files: diffs against what stood there, made in a thread where they may take long."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import UNSET

from waybread_daemon.hygiene.change import FileChange, change_answer, describe_change
from waybread_daemon.sessions.contents import Given, check_hash, content_needed, given, kept, settle_device
from waybread_daemon.sessions.digest import request_digest
from waybread_daemon.sessions.job import Job
from waybread_daemon.store.contract import FileContent, Reader
from waybread_protocol.messages import ChangeBody, Content

_CHANGE_WEIGHT_BYTES = 4096
"""What one change costs beside its contents, as if it were so many bytes of them."""
_DIFF_WEIGHT = 16
"""A byte of a diff may cost so many times what a byte that is hashed costs."""


class _Sides(NamedTuple):
    """A change's contents as they were given; None where a file was created or deleted."""

    before: Given | None
    after: Given | None


async def change(job: Job, body: ChangeBody) -> None:
    """Inserts a change."""
    await job.begin()
    weight = _weight(body)
    sides, digest = await job.heavily(weight, lambda: _compared(job, body))
    if await job.answer_repeat(digest):
        return
    contents = [content for pair in sides for content in pair if content is not None]
    for path, pair in zip([change.path for change in body.changes], sides, strict=True):
        for content in pair:
            if content is not None:
                check_hash(path, content)
    known = await _fetched(job, contents, weight)
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
    described = await job.heavily(weight + _DIFF_WEIGHT * size, lambda: describe_change(changes))
    state = job.state
    shown_bytes = len(described.shown) + len(body.note)
    inserting = await job.heavily(shown_bytes, lambda: change_answer(state, described, body.note))
    text = await job.shown(inserting, inserting.body)
    files = await _files(job, contents)
    own = await job.stage_text(inserting.body)
    job.insert(
        inserting,
        text,
        digest=digest,
        body_kind="change",
        body=b"" if own else inserting.body,
        own=own,
        contents=files,
        given_bytes=len(body.note) + sum(len(change.after) for change in changes if change.after is not None),
    )


def _weight(body: ChangeBody) -> int:
    contents = (content for change in body.changes for content in (change.before, change.after))
    return len(body.note) + sum(_CHANGE_WEIGHT_BYTES // 2 + _size(content) for content in contents)


def _size(content: Content | None) -> int:
    if content is None:
        return 0
    if content.data is not UNSET:
        return len(content.data)
    return 0 if content.text is UNSET else len(content.text)


def _compared(job: Job, body: ChangeBody) -> tuple[list[_Sides], bytes]:
    """The contents of all changes, and what makes the request the same as another."""
    sides = [
        _Sides(
            None if change.before is None else given(change.before),
            None if change.after is None else given(change.after),
        )
        for change in body.changes
    ]
    compared = [
        (change.path, change.absolute, before and before.sha256, after and after.sha256)
        for change, (before, after) in zip(body.changes, sides, strict=True)
    ]
    request = job.request
    return sides, request_digest("result", request.tool, job.args, request.call, "change", compared, body.note)


async def _fetched(job: Job, contents: list[Given], weight: int) -> dict[bytes, bytes]:
    """The bytes of every content by its hash, from the request or the store. Raises `content_needed` for all that miss."""
    known = {content.sha256: content.data for content in contents if content.data is not None}
    asked = list(dict.fromkeys(content.sha256 for content in contents if content.sha256 not in known))
    if not asked:
        return known
    await settle_device(job)
    device = job.device.number

    def read(reader: Reader) -> dict[bytes, bytes]:
        found = {sha256: reader.content(device, sha256) for sha256 in asked}
        if None in found.values():
            # Nothing is answered with what is there: it need not be read.
            return dict.fromkeys((sha256 for sha256, content in found.items() if content is not None), b"")
        return {sha256: reader.whole(content) for sha256, content in found.items() if content is not None}

    stored = await job.look(read)
    missing = [sha256 for sha256 in asked if sha256 not in stored]
    if missing:
        raise await job.heavily(weight, lambda: content_needed(missing))
    return known | stored


async def _files(job: Job, contents: list[Given]) -> tuple[FileContent, ...]:
    """What the session holds from then on, each content once."""
    sent: dict[bytes, bytes | None] = {}
    for content in contents:
        # A move names its content twice, and may send it only once.
        sent[content.sha256] = content.data if content.data is not None else sent.get(content.sha256)
    return tuple(
        [FileContent(sha256, None) if data is None else await kept(job, sha256, data) for sha256, data in sent.items()]
    )
