"""What a client was answered: the promise that a crash must not break."""

from __future__ import annotations

import msgspec

from waybread_protocol.messages import (
    Answer,
    Carry,
    Compact,
    Compacted,
    Delete,
    Done,
    Error,
    Inserted,
    Message,
    Open,
    Opened,
    Recall,
    Result,
    TakeBack,
    Turn,
)

Change = Open | Turn | Carry | Result | Recall | TakeBack | Compact | Message | Delete
"""A request that changes a session."""
Promise = Done | Inserted | Opened | Compacted
"""An answer that says: this is durable."""


class Answered(msgspec.Struct, frozen=True):
    """A request, and the answer that acknowledged it."""

    request: Change
    answer: Promise


class Journal:
    """A client's requests in the order in which it made them: those that wait, those answered, those refused."""

    def __init__(self) -> None:
        self.waiting: dict[int, Change] = {}
        self.answered: list[Answered] = []
        self.refused: list[tuple[Change, Error]] = []
        self.keys: set[tuple[str, str]] = set()
        """Every key that was ever sent, with its session."""

    def send(self, request: Change) -> None:
        """Notes a request before it goes out."""
        self.waiting[request.id] = request
        if key := key_of(request):
            self.keys.add((request.session, key))

    def hear(self, answer: Answer) -> Change:
        """Notes an answer and gives its request."""
        request = self.waiting.pop(answer.re)
        if isinstance(answer, Error):
            self.refused.append((request, answer))
        else:
            assert isinstance(answer, Promise), answer
            self.answered.append(Answered(request, answer))
        return request


def key_of(request: Change) -> str:
    """A request's key, empty for those that have none."""
    return "" if isinstance(request, Open | Turn | Delete) else request.key


def as_first(answer: Promise) -> Promise:
    """An answer without what a repeat says differently: `re`, `repeated`, `created` and the session's later state."""
    if isinstance(answer, Opened):
        return msgspec.structs.replace(answer, re=0, created=False, results=0, turn="")
    return msgspec.structs.replace(answer, re=0, repeated=False)


def is_repeat(answer: Promise) -> bool:
    """Whether it says that the request was carried out before."""
    return not answer.created if isinstance(answer, Opened) else answer.repeated
