"""The events of a session: what its state is folded from. They are stored and never change their meaning.

An event holds what later answers depend on and nothing else: no text, no body, no time. Every event that has a `number`
is an insertion and takes the next number of the session.
"""

from __future__ import annotations

import msgspec


class _Event(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Common form. Tags are short because every stored result carries one."""


class Opened(_Event, frozen=True, tag=1):
    """A session begins; `kind` is `agent`, `chat` or `opaque`."""

    kind: str


class TurnBegan(_Event, frozen=True, tag=2):
    """A turn begins."""

    turn: str


class Read(_Event, frozen=True, tag=3):
    """A full read: `first` and `last` are 0 for an empty file, `lines` is the file's length."""

    number: int
    path: str
    absolute: str
    sha256: bytes
    first: int
    last: int
    lines: int


class Searched(_Event, frozen=True, tag=4):
    """A full answer of a tool in `dedupe.by_result`; `same` is the hash of its call and its body."""

    number: int
    same: bytes


class Answered(_Event, frozen=True, tag=5):
    """Any other insertion: a stub, an error, a recall, what another tool answered."""

    number: int


class Changed(_Event, frozen=True, tag=6):
    """A change to files, by their absolute paths."""

    number: int
    absolutes: tuple[str, ...]


class TakenBack(_Event, frozen=True, tag=7):
    """Turns are no longer in the history. All of them were begun and still in it."""

    turns: tuple[str, ...]


class Carried(_Event, frozen=True, tag=8):
    """What the request being built carries: the numbers given, or every full answer since the compaction (`None`)."""

    numbers: tuple[int, ...] | None


class Compacted(_Event, frozen=True, tag=9):
    """The history is replaced by a summary. State can be folded from here on: it knows where it stands."""

    kind: str
    results: int
    turn: str


Event = Opened | TurnBegan | Read | Searched | Answered | Changed | TakenBack | Carried | Compacted

_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(Event)
encode_event = _ENCODER.encode


def decode_event(data: bytes) -> Event:
    """An event as it was stored."""
    return _DECODER.decode(data)
