"""A message that is larger than a frame may be goes in parts, in both directions."""

from __future__ import annotations

import base64
from collections.abc import Iterator

import msgspec

from waybread_protocol.errors import CloseCode, FrameError
from waybread_protocol.requests import Part

_SMALL_BYTES = 16 * 1024
_OVERHEAD_BYTES = 96
"""More than `part` takes around its data in either codec, whatever its index."""


def frames(encoded: bytes, max_frame: int, *, text: bool) -> list[bytes]:
    """`encoded` as it goes out: itself where it fits into `max_frame` bytes, else the parts of it.

    `text`: for JSON, whose parts carry their data in base64.
    """
    return list(iter_frames(encoded, max_frame, text=text))


def iter_frames(encoded: bytes, max_frame: int, *, text: bool) -> Iterator[bytes]:
    """The same, each frame made when it is asked for: all of those of 60 MB at once would take their time."""
    if len(encoded) <= max_frame:
        yield encoded
        return
    room = max_frame - _OVERHEAD_BYTES
    piece_bytes = room // 4 * 3 if text else room
    last_index = (len(encoded) - 1) // piece_bytes
    for index in range(last_index + 1):
        data = encoded[index * piece_bytes : (index + 1) * piece_bytes]
        yield _encode(index, index == last_index, data, text=text)


def _encode(index: int, last: bool, data: bytes, *, text: bool) -> bytes:
    if text:
        # Written out, because the encoder would make a second copy of the data as a string.
        flag = "true" if last else "false"
        head = f'{{"type":"part","index":{index},"last":{flag},"data":"'
        return b"".join((head.encode(), base64.b64encode(data), b'"}'))
    return msgspec.msgpack.encode(Part(index=index, last=last, data=data))


class Joiner:
    """Joins the parts of one direction. After a `FrameError` the link is to be closed."""

    def __init__(self, max_message: int) -> None:
        self.max_message = max_message
        self._pieces: list[bytes] = []
        self._small = bytearray()
        self._size = 0
        self._next_index = 0

    @property
    def waiting(self) -> bool:
        """Whether a message has begun and not ended: nothing but its next part may come."""
        return self._next_index > 0

    def add(self, part: Part) -> list[bytes] | None:
        """The message in pieces with its last part, None before it. Joining 60 MB takes its time: that is the caller's.

        Raises `FrameError`: 1007 where the part is not the next one, 1009 where the message grows too large.
        """
        if part.index != self._next_index:
            raise FrameError(CloseCode.UNDECODABLE, f"part {part.index} came where part {self._next_index} had to come")
        self._size += len(part.data)
        if self._size > self.max_message:
            raise FrameError(CloseCode.TOO_LARGE, f"the joined message is over the limit of {self.max_message} bytes")
        self._next_index += 1
        if len(part.data) < _SMALL_BYTES:
            # A million tiny pieces would take more room than their message.
            self._small += part.data
        else:
            self._pieces += (bytes(self._small), part.data)
            self._small = bytearray()
        if not part.last:
            return None
        pieces = [*self._pieces, bytes(self._small)]
        self._pieces, self._small, self._size, self._next_index = [], bytearray(), 0, 0
        return pieces

    def join(self, part: Part) -> bytes | None:
        """The same, joined at once."""
        pieces = self.add(part)
        return None if pieces is None else b"".join(pieces)
