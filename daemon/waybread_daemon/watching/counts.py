"""The numbers themselves. Who does a thing adds to them; nobody reads them but whoever asks for metrics.

A request costs some additions of ints and nothing else, whether or not anyone watches. No number is kept for a device, a
session, a tool or an address: what a client sends never becomes a label, and labels are few and known beforehand.

Each object is written by one thread and may be read in any: a reader sees each number as it was a moment ago.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Literal

from waybread_protocol.errors import ErrorCode
from waybread_protocol.messages import REQUESTS

UNKNOWN = "unknown"
"""Stands for every message that is no request: an unknown type, or one that cannot be read."""

Measure = Literal["full", "stub", "capped", "diff", "recall"]
MEASURES: tuple[Measure, ...] = ("full", "stub", "capped", "diff", "recall")
"""What was done to a result, one of them each: a capped diff is `capped`."""
SHORTENING: tuple[Measure, ...] = ("stub", "capped", "diff")

Refusal = Literal[
    "connections", "device_connections", "failed_hellos", "host", "origin", "stopping", "subprotocol", "waiting_hellos"
]
REFUSALS: tuple[Refusal, ...] = (
    "connections",
    "device_connections",
    "failed_hellos",
    "host",
    "origin",
    "stopping",
    "subprotocol",
    "waiting_hellos",
)
"""Why a connection did not become a link: a limit, by its name, or what is wrong with the handshake."""

_CONTENTS_MOST = 4096


class Histogram:
    """How many values lie at or below each of some bounds. `counts` has one more place than `bounds`, for the rest."""

    __slots__ = ("bounds", "counts", "sum")

    def __init__(self, *bounds: float) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.sum = 0.0

    def observe(self, value: float) -> None:
        """Adds a value."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.sum += value


class ContentSizes:
    """Bytes and lines of files' contents that came by lately, by their hash.

    A stub may answer a read of which nothing but the hash came along; this is how its size is known all the same. Of a
    content that no request since the start brought or showed, nothing is known.
    """

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[bytes, tuple[int, int]] = {}

    def note(self, sha256: bytes, size_bytes: int, lines: int) -> None:
        """Notes the size of a content, or of some lines of it."""
        if sha256 not in self._known and len(self._known) >= _CONTENTS_MOST:
            del self._known[next(iter(self._known))]
        self._known[sha256] = (size_bytes, lines)

    def share_bytes(self, sha256: bytes, lines: int) -> int:
        """The bytes of so many lines of a content, all lines taken for equally long; 0 where its size is not known."""
        size_bytes, of_lines = self._known.get(sha256, (0, 0))
        return size_bytes * lines // of_lines if of_lines else 0


class Counts:
    """What links and sessions do. Written in the event loop."""

    __slots__ = (
        "contents",
        "errors",
        "failed_hellos",
        "loop_lag",
        "received_bytes",
        "refusals",
        "requests",
        "results",
        "saved_bytes",
        "sent_bytes",
    )

    def __init__(self) -> None:
        self.requests: dict[str, int] = dict.fromkeys((*REQUESTS, UNKNOWN), 0)
        """By type, `hello` among them; sent, whatever became of them."""
        self.errors: dict[str, int] = dict.fromkeys(ErrorCode, 0)
        """Answers `error`, by code."""
        self.results: dict[str, int] = dict.fromkeys(MEASURES, 0)
        """Insertions that are durable, each once however often it was sent."""
        self.saved_bytes: dict[str, int] = dict.fromkeys(SHORTENING, 0)
        """What the tools' answers had and the texts for the model have not."""
        self.received_bytes = 0
        self.sent_bytes = 0
        self.failed_hellos = 0
        self.refusals: dict[str, int] = dict.fromkeys(REFUSALS, 0)
        self.loop_lag = Histogram(0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5)
        """Seconds by which a wake-up came late."""
        self.contents = ContentSizes()

    def inserted(self, measure: Measure, saved_bytes: int) -> None:
        """An insertion is durable."""
        self.results[measure] += 1
        if saved_bytes:
            self.saved_bytes[measure] += saved_bytes


class StoreCounts:
    """What the store writes. Written by its writing thread; a number that a batch adds to is whole after it."""

    __slots__ = ("batch_records", "commit_s", "failed_commits", "raw_bytes", "stored_bytes")

    def __init__(self) -> None:
        self.commit_s = Histogram(0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
        """Seconds from the beginning of a batch of records to its end on the disk."""
        self.batch_records = Histogram(1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
        self.failed_commits = 0
        self.raw_bytes = 0
        """Arguments, bodies and contents of files as they came, those that were there already not counted again."""
        self.stored_bytes = 0
        """The same as it went into the database, compressed."""


def shortened_bytes(given_bytes: int, text: str) -> int:
    """What a text for the model has less than the tool's answer. A text of ASCII, the most of them, tells its size at once."""
    return max(given_bytes - (len(text) if text.isascii() else len(text.encode())), 0)
