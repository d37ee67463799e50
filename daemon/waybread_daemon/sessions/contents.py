"""Contents as requests bring them: by text, bytes, hash or window; and what the store is to keep of them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import NamedTuple

from msgspec import UNSET

from waybread_daemon.hygiene.lines import BOM
from waybread_daemon.sessions.digest import sha256_of
from waybread_daemon.sessions.job import Job
from waybread_daemon.store.contract import LARGE_BYTES, FileContent
from waybread_protocol.errors import ErrorCode, RequestError
from waybread_protocol.messages import Content

_KNOWN_TO_ALL = {hashlib.sha256(data).digest(): data for data in (b"", BOM)}
"""Contents that everybody has: a file of nothing, and a file of nothing but a byte-order mark."""


class Given(NamedTuple):
    """Content as a request gave it: its hash, its bytes where they came along, whether another hash stood beside them."""

    sha256: bytes
    data: bytes | None
    mismatch: bool


def given(content: Content, text: bytes | None = None) -> Given:
    """What a content says. The hash is made from the bytes where there are any; `text` is that of the content as UTF-8."""
    declared = None if content.sha256 is UNSET else bytes.fromhex(content.sha256)
    if content.data is not UNSET:
        text = content.data
    elif content.text is not UNSET and text is None:
        text = content.text.encode()
    elif content.window is not UNSET:
        return Given(bytes.fromhex(content.window.sha256), None, mismatch=False)
    if text is None:
        if declared is None:
            raise RequestError(ErrorCode.BAD_MESSAGE, "content needs one of `text`, `bytes`, `sha256`, `window`")
        return Given(declared, _KNOWN_TO_ALL.get(declared), mismatch=False)
    sha256 = sha256_of(text)
    return Given(sha256, text, mismatch=declared not in (None, sha256))


def check_hash(path: str, content: Given) -> None:
    """Raises `hash_mismatch` where the hash beside a content is not its own."""
    if content.mismatch:
        raise RequestError(
            ErrorCode.HASH_MISMATCH,
            f"the content of {path[:256]!r} has the SHA-256 {content.sha256.hex()} as it arrived, which is not the one "
            "beside it: send `bytes` if decoding the file changed it",
        )


def content_needed(hashes: Iterable[bytes]) -> RequestError:
    """The answer where hashes are not enough: it names each once."""
    needed = tuple(dict.fromkeys(sha256.hex() for sha256 in hashes))
    what = "one of the hashes" if len(needed) == 1 else f"{len(needed)} of the hashes"
    return RequestError(
        ErrorCode.CONTENT_NEEDED,
        f"the content of {what} is not here: send the same request again with the content",
        needed=needed,
    )


async def kept(job: Job, sha256: bytes, data: bytes) -> FileContent:
    """Content for the store to keep: large content is written ahead, unless it is there."""
    if len(data) < LARGE_BYTES:
        return FileContent(sha256, data)
    await settle_device(job)
    device = job.device.number
    known = await job.look(lambda reader: reader.content(device, sha256))
    return FileContent(sha256, None if known is not None else await job.stage_content(sha256, data))


async def settle_device(job: Job) -> None:
    """Waits for content that is on its way to the store with another request of this device."""
    if job.device.head is None or job.device.head > job.device.durable:
        await job.live.store.settled()
