"""One-time codes: how they are made, shown, read back and compared."""

from __future__ import annotations

import hashlib
import hmac
import secrets

from waybread_protocol.limits import PAIRING_CODE_BITS

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Crockford's base32: no letter looks like a digit."""
_BITS = 5
_GROUPS = (4, 4, 5, 4, 4, 5)
CODE_CHARS = -(-PAIRING_CODE_BITS // _BITS)
_INPUT_CHARS_MOST = 128
"""Of what is read back: more than a code has with any space between its characters."""
_ALIKE = str.maketrans({"O": "0", "I": "1", "L": "1"})


def make_code() -> str:
    """A code as it is shown: 26 characters in groups."""
    bits = secrets.randbits(PAIRING_CODE_BITS)
    characters = "".join(
        _ALPHABET[bits >> shift & (1 << _BITS) - 1] for shift in range((CODE_CHARS - 1) * _BITS, -1, -_BITS)
    )
    groups: list[str] = []
    for size in _GROUPS:
        groups.append(characters[:size])
        characters = characters[size:]
    return "-".join(groups)


def hash_of(code: str) -> bytes:
    """What is kept of a code, whichever way a person typed it: case, look-alikes, and all but letters and digits do not matter.

    A code that was copied from elsewhere may have another dash than `-`, or something unseen, between its groups.
    """
    plain = "".join(filter(str.isalnum, code[:_INPUT_CHARS_MOST])).upper().translate(_ALIKE)
    # A code of 128 random bits needs no slow hash: there is nothing to guess.
    return hashlib.sha256(plain.encode("utf-8", "surrogatepass")).digest()


def same(one: bytes, other: bytes) -> bool:
    """Whether two hashes are equal, in a time that tells nothing."""
    return hmac.compare_digest(one, other)
