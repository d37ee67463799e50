"""Every error code and close code of the link, once each, with the sentence that says when it is sent."""

from __future__ import annotations

import enum


class ErrorCode(enum.StrEnum):
    """What went wrong with a request. A client takes a code that it does not know for `internal`."""

    UNAUTHENTICATED = "unauthenticated"
    FORBIDDEN = "forbidden"
    BAD_MESSAGE = "bad_message"
    UNKNOWN_TYPE = "unknown_type"
    UNKNOWN_SESSION = "unknown_session"
    GONE = "gone"
    READ_ONLY = "read_only"
    UNKNOWN_RESULT = "unknown_result"
    KEY_CONFLICT = "key_conflict"
    CONTENT_NEEDED = "content_needed"
    HASH_MISMATCH = "hash_mismatch"
    TOO_LARGE = "too_large"
    RESET = "reset"
    STORAGE_FULL = "storage_full"
    BUSY = "busy"
    INTERNAL = "internal"


RETRY = frozenset({ErrorCode.STORAGE_FULL, ErrorCode.BUSY, ErrorCode.INTERNAL})
"""The codes after which the very same request can succeed later."""


class CloseCode(enum.IntEnum):
    """Why the daemon closes a link."""

    GOING_AWAY = 1001
    UNDECODABLE = 1007
    TOO_LARGE = 1009
    RESTARTING = 1012
    TRY_LATER = 1013
    UNAUTHENTICATED = 4401
    REVOKED = 4403
    TOO_SLOW = 4408


class RequestError(Exception):
    """A request that is answered by `error`: whose fault it is stands in the code, what to do in the sentence.

    `re` is the request's id, 0 where it cannot be read. `needed` are the hashes of `content_needed`.
    """

    def __init__(self, code: ErrorCode, sentence: str, *, re: int = 0, needed: tuple[str, ...] = ()) -> None:
        super().__init__(code, sentence)
        self.code = code
        self.sentence = sentence
        self.re = re
        self.needed = needed

    def __str__(self) -> str:
        return f"{self.code}: {self.sentence}"

    @property
    def retry(self) -> bool:
        """Whether the same request can succeed later."""
        return self.code in RETRY


class FrameError(Exception):
    """A frame after which the link cannot go on: it is closed with `code`, and `sentence` as the reason."""

    def __init__(self, code: CloseCode, sentence: str) -> None:
        super().__init__(code, sentence)
        self.code = code
        self.sentence = sentence

    def __str__(self) -> str:
        return f"{self.code.value}: {self.sentence}"
