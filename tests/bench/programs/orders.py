"""What the load is told to do, and what it tells: MessagePack behind a length of four bytes, both ways."""

from __future__ import annotations

import msgspec

LENGTH_BYTES = 4


class Order(msgspec.Struct, tag_field="do", frozen=True):
    """Common form."""


class Open(Order, tag="open", frozen=True):
    """Opens one link for each of `preludes`, whose messages it sends one at a time. `links` is the name for all of them."""

    links: str
    url: str
    preludes: list[list[bytes]]


class Serial(Order, tag="serial", frozen=True):
    """Sends messages on the first of `links`, one at a time; each is a list of frames. Ends early at `Stop`."""

    links: str
    messages: list[list[bytes]]
    keeps_answers: bool = False


class Windowed(Order, tag="windowed", frozen=True):
    """Sends each link its messages, as many at once as `window` says."""

    links: str
    messages: list[list[bytes]]
    window: int


class Pages(Order, tag="pages", frozen=True):
    """Syncs from the log's beginning to its end, page after page."""

    links: str


class Close(Order, tag="close", frozen=True):
    """Closes links."""

    links: str


class Stop(Order, tag="stop", frozen=True):
    """Ends a `Serial` that is under way after its next answer. Has no answer of its own."""


class Told(msgspec.Struct, frozen=True):
    """The answer to an order. `samples`: when each message was sent (monotonic clock) and how long its answer took, in
    seconds. `seconds`: how long all took. `entries`: how many came.
    """

    samples: list[tuple[float, float]] = []
    answers: list[bytes] = []
    seconds: float = 0.0
    entries: int = 0


AnyOrder = Open | Serial | Windowed | Pages | Close | Stop
