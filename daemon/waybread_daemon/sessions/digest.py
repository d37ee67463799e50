"""What makes two requests the same, so that a key can be sent again (link: `key`)."""

from __future__ import annotations

import hashlib

import msgspec

_HELD_BYTES = 2047
"""Up to so many bytes at a time `hashlib` keeps the interpreter: giving it up for 4 KB costs more than their hash."""
_PIECES_MOST_BYTES = 64 * 1024
DIGEST_BYTES = 16
_ENCODE = msgspec.msgpack.Encoder().encode


def request_digest(*fields: object) -> bytes:
    """A hash over a request's type and every known field but `id`, defaults filled in.

    Contents go in as their SHA-256, however they were sent, and `args` in canonical form.
    """
    return hashlib.blake2b(_ENCODE(fields), digest_size=DIGEST_BYTES).digest()


def sha256_of(data: bytes) -> bytes:
    """The SHA-256 of small or large data, as quickly as this thread gets it."""
    if len(data) > _PIECES_MOST_BYTES:
        return hashlib.sha256(data).digest()
    made = hashlib.sha256(data[:_HELD_BYTES])
    for at in range(_HELD_BYTES, len(data), _HELD_BYTES):
        made.update(data[at : at + _HELD_BYTES])
    return made.digest()
