"""Large entries of a log, one after another."""

from __future__ import annotations

import hashlib

from tests.daemon.wire import Wire

PIECE_CHARS = 250_000
"""Less than a page, so that each is shown and pushed whole."""


def piece(number: int) -> str:
    """A text of its own for each, that shrinks little when it is compressed."""
    block = "".join(hashlib.sha256(f"{number} {n}".encode()).hexdigest() for n in range(40))
    return (f"{number} {block}" * 100)[:PIECE_CHARS]


async def produce(wire: Wire, first: int, count: int) -> None:
    """So many messages of the transcript, some at a time."""
    for begin in range(first, first + count, 10):
        numbers = range(begin, min(begin + 10, first + count))
        sent = [await wire.send("message", session="s", key=f"{n:05}", role="user", text=piece(n)) for n in numbers]
        answers = await wire.answers_to(sent)
        assert {answer["type"] for answer in answers.values()} == {"done"}
