"""What looks like a secret is taken out of a text before anyone else sees it.

The daemon itself puts no secret into a log line or an error. But a sentence may name what a client sent, and a client may
send its token where none belongs.
"""

from __future__ import annotations

import re

MARK = "[secret]"
_SURE = re.compile(
    # A token's text, also one that was cut short; its secret half alone, which has 43 characters of base64url; and a
    # pairing code in the groups in which it is shown.
    r"[0-9a-f]{16}\.[A-Za-z0-9_-]{4,}"
    r"|(?<![A-Za-z0-9_-])[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])"
    r"|(?<![0-9A-Za-z])(?:[0-9A-Za-z]{4}-[0-9A-Za-z]{4}-[0-9A-Za-z]{5}-?){2}(?![0-9A-Za-z])"
)
_LIKELY = re.compile(
    # A code of 26 letters and digits in one piece, or in groups. Words have no digits, or small letters.
    r"(?<![0-9A-Za-z])(?:[0-9A-Za-z]{26}"
    r"|(?=[A-Za-z-]{0,40}[0-9]|[A-Z-]{20})(?:[0-9A-Za-z]{4,6}-){3,6}[0-9A-Za-z]{1,6}"
    r"|(?=[A-Z ]{0,40}[0-9])(?:[0-9A-Z]{4,6} ){3,6}[0-9A-Z]{1,6}"
    r")(?![0-9A-Za-z])"
)
_CLIENT = re.compile(
    r"[A-Za-z][A-Za-z-]{0,31}[/ ]v?[0-9]{1,4}(?:\.[0-9]{1,5}){0,3}(?:[-+.]?(?:a|b|rc|alpha|beta|dev|post)\.?[0-9]{0,4})?"
)
_CLIENT_CHARS = 64
OTHER_CLIENT = "(no name/version)"


def without_secrets(text: str) -> str:
    """The text without what has the form of a token or of a pairing code as it is shown.

    For a sentence that goes back to a client. Its own ids may be 26 letters and digits, as a code is without hyphens:
    those stay, or the sentence would not name what it is about.
    """
    return _SURE.sub(MARK, text)


def without_likely_secrets(text: str) -> str:
    """The text without whatever may be a token or a pairing code, in one piece or in groups.

    For a line of the log, in which no id of a client stands, and no text of a client but `client_name`.
    """
    return _LIKELY.sub(MARK, without_secrets(text))


def client_name(client: str) -> str:
    """What a client calls itself, where it has the form of a name and a version, like `my-app/1.2.0`.

    A secret, or a piece of one, can be written in any number of ways: so a log holds no other text of a client.
    """
    fits = len(client) <= _CLIENT_CHARS and _CLIENT.fullmatch(client) is not None
    return client if fits else OTHER_CLIENT
