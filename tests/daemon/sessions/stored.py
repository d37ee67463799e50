"""What tests of insertions share: hashes, and a stored body by its pieces."""

from __future__ import annotations

import hashlib

from tests.daemon.office import Office
from waybread_protocol.messages import Show, Shown

LINES = "".join(f"line {number}\n" for number in range(1, 341))


def sha(content: str | bytes) -> str:
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()


async def shown(office: Office, result: str) -> str:
    """A stored body by its pieces."""
    text_, offset = "", 1
    while True:
        piece = await office.ask(Show(id=1, session="s", result=result, offset=offset), Shown)
        more, from_char = piece, 0
        text_ += piece.text
        while more.next_char is not None:
            assert more.next_char > from_char
            from_char = more.next_char
            more = await office.ask(Show(id=1, session="s", result=result, offset=offset, from_char=from_char), Shown)
            text_ += more.text
        if piece.last == piece.lines:
            return text_
        offset = piece.last + 1
