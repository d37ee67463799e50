"""What can go wrong for someone who uses the client, in two families: a request was refused, or the link is over.

A connection that is lost is neither: the link makes a new one by itself.
"""

from __future__ import annotations

from waybread_protocol.errors import CloseCode, ErrorCode


class LinkError(Exception):
    """What all errors of the client have in common. `str()` of each is a sentence for a person."""


class Refused(LinkError):  # noqa: N818  # a word of the contract's own, read at every call
    """The daemon answered a request with `error` (or the client knows beforehand that it would); nothing was changed.

    `code` is one of `waybread_protocol.errors.ErrorCode`, or a newer daemon's that is to be taken for `internal`. `retry`
    says whether the same request can succeed later. `needed` are the hashes that `content_needed` asks for.
    """

    def __init__(self, code: str, message: str, *, retry: bool = False, needed: tuple[str, ...] = ()) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message
        self.retry = retry
        self.needed = needed

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


class AnswerError(LinkError):
    """The daemon answered, but not in a way that the contract knows. Whether the request was carried out is unknown."""


class LinkEnded(LinkError):  # noqa: N818  # not always an error: `close` ends a link, too
    """The link is over and makes no new connection: every waiting and every later request gets this."""


class LinkClosed(LinkEnded):
    """`Link.close` was called."""

    def __str__(self) -> str:
        return "the link was closed: open another one"


class Denied(LinkEnded):
    """The token is not valid, or no longer. Trying again would not help: a person has to give the device a new one."""

    def __init__(self, code: int, sentence: str) -> None:
        super().__init__(code, sentence)
        self.code = code
        self.sentence = sentence

    def __str__(self) -> str:
        return f"{self.sentence} (close code {self.code})"


class Lost(LinkError):  # noqa: N818  # it ends one connection, and the link goes on
    """One connection is lost, or was not made. The link catches this and tries again."""


def closed(code: int | None, reason: str) -> Lost | Denied:
    """What the close of a connection means for the link. `code` is None where it broke without a close."""
    said = f": {reason}" if reason else ""
    if code == CloseCode.UNAUTHENTICATED:
        return Denied(code, f"the daemon does not know this token{said}")
    if code == CloseCode.REVOKED:
        return Denied(code, f"this device's token was revoked{said}")
    if code is None:
        return Lost("the connection broke off")
    return Lost(f"the connection was closed with code {code}{said}")


def too_large(size_bytes: int, limit_bytes: int) -> Refused:
    """A request that the daemon would not take."""
    return Refused(
        ErrorCode.TOO_LARGE,
        f"the request has {size_bytes} bytes and the daemon's limit is {limit_bytes}: send less at once",
    )
