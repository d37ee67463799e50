"""What makes two requests the same, so that a key can be sent again (link: `key`)."""

from __future__ import annotations

import hashlib

import msgspec

DIGEST_BYTES = 16
_ENCODE = msgspec.msgpack.Encoder().encode


def request_digest(*fields: object) -> bytes:
    """A hash over a request's type and every known field but `id`, defaults filled in.

    Contents go in as their SHA-256, however they were sent, and `args` in canonical form.
    """
    return hashlib.blake2b(_ENCODE(fields), digest_size=DIGEST_BYTES).digest()
