"""Compression. A compressor serves one thread, so each thread that packs or unpacks has its own."""

from __future__ import annotations

import enum
from typing import Any

import apsw
import zstandard

_WORTH_BYTES = 64
"""Shorter payloads gain nothing: a frame's head alone takes a dozen bytes."""
_ENTRY_LEVEL = 3
"""Level 3 takes a sixth longer for a hundredth less: the writer's time is every request's time."""
_CONTENT_LEVEL = 3


class Encoding(enum.IntEnum):
    """How an entry's payload is stored."""

    RAW = 0
    ZSTD = 1


Packed = tuple[int, bytes]


def raw_size(payload: bytes) -> int:
    """The size that a compressed payload had before; its own where the frame's head is damaged and does not tell."""
    try:
        size_bytes = zstandard.frame_content_size(payload)
    except zstandard.ZstdError:
        return len(payload)
    return size_bytes if size_bytes >= 0 else len(payload)


def teach_raw_size(connection: apsw.Connection) -> None:
    """Makes `raw_size` known to a connection, as a function of SQL."""
    # The types that come with apsw name one that Python 3.11 has not.
    untyped: Any = connection
    untyped.create_scalar_function("raw_size", raw_size, 1, deterministic=True)


class Packer:
    """Compresses, for one thread."""

    def __init__(self) -> None:
        # No checksum: each row has one, of its compressed form and of all else in it.
        self._entries = zstandard.ZstdCompressor(level=_ENTRY_LEVEL, write_checksum=False)
        self._contents = zstandard.ZstdCompressor(level=_CONTENT_LEVEL, write_checksum=False)

    def pack_all(self, payloads: list[bytes]) -> list[Packed]:
        """Encoding and stored form of each payload: raw where compression saves nothing.

        One call compresses them all, because each call hands the interpreter's lock to and fro.
        """
        worth = [payload for payload in payloads if len(payload) >= _WORTH_BYTES]
        if not worth:
            return [(Encoding.RAW, payload) for payload in payloads]
        if len(payloads) == 1:
            # Half the time of a call for many.
            single = self._entries.compress(worth[0])
            return [(Encoding.ZSTD, single) if len(single) < len(worth[0]) else (Encoding.RAW, worth[0])]
        frames = self._entries.multi_compress_to_buffer(worth)  # type: ignore[arg-type] # a list of what may be bytes
        packed: list[Packed] = []
        at = 0
        for payload in payloads:
            if len(payload) >= _WORTH_BYTES:
                frame = frames[at]
                at += 1
                if len(frame) < len(payload):
                    packed.append((Encoding.ZSTD, frame.tobytes()))
                    continue
            packed.append((Encoding.RAW, payload))
        return packed

    def pack(self, data: bytes) -> bytes:
        """Content or a chunk of it, compressed."""
        return self._contents.compress(data)


class Unpacker:
    """Decompresses, for one thread."""

    def __init__(self) -> None:
        self._decompress = zstandard.ZstdDecompressor().decompress

    def unpack(self, data: bytes) -> bytes:
        """What `Packer.pack` was given."""
        return self._decompress(data)

    def unpack_entry(self, encoding: int, payload: bytes) -> bytes:
        """A payload that `Packer.pack_all` was given."""
        return self._decompress(payload) if encoding == Encoding.ZSTD else payload
