"""A file's content as the link carries it: the hash alone, the whole, or the window that a read asks for."""

from __future__ import annotations

import asyncio
import hashlib
from typing import NamedTuple

from waybread_protocol.loop import CONTEXT
from waybread_protocol.messages import Content, Window

_THREAD_BYTES = 256 * 1024
"""From this size on, hashing and cutting leave the event loop to others."""
_BOM = b"\xef\xbb\xbf"


class Change(NamedTuple):
    """One file's change: `before` None means created, `after` None deleted. `absolute` is the resolved path."""

    path: str
    absolute: str
    before: bytes | None
    after: bytes | None


async def hash_of(content: bytes) -> str:
    """The SHA-256 of `content`: 64 lower-case hex digits."""
    if len(content) < _THREAD_BYTES:
        return _hash(content)
    return await asyncio.to_thread(_hash, content)


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def whole(content: bytes, sha256: str) -> Content:
    """All of it: as text where it is UTF-8, a BOM kept, else as bytes. The hash lets the daemon see what got lost."""
    try:
        return Content(text=content.decode(), sha256=sha256)
    except UnicodeDecodeError:
        return Content(data=content, sha256=sha256)


async def window_of(content: bytes, sha256: str, offset: int, limit: int) -> Content:
    """The lines that a read asks for, the file's length and its hash, for a file too large to send."""
    return Content(window=await asyncio.to_thread(_window, content, sha256, offset, limit))


def _window(content: bytes, sha256: str, offset: int, limit: int) -> Window:
    """The range is settled as the daemon settles it: what lies outside of its bounds becomes the default."""
    most = CONTEXT.read.window_lines
    first = max(offset, 1)
    count = most if limit < 1 else min(limit, most)
    begin = _after_lines(content, 0, first - 1)
    end = _after_lines(content, begin, count)
    # A bad sequence never reaches over a line's end, so the piece alone decodes as the whole would.
    return Window(text=content[begin:end].decode(errors="replace"), lines=_count_lines(content), sha256=sha256)


def _after_lines(content: bytes, at: int, count: int) -> int:
    """Where the text goes on `count` lines behind `at`: its end where it has fewer."""
    for _ in range(count):
        end = content.find(b"\n", at)
        if end < 0:
            return len(content)
        at = end + 1
    return at


def _count_lines(content: bytes) -> int:
    shown = content.removeprefix(_BOM)
    return shown.count(b"\n") + (not shown.endswith(b"\n")) if shown else 0
