"""The rules alone, in this process: what hygiene costs beside hashing and decoding the same bytes."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable

from tests.bench.figures import Figure, Raw, Rounds, median
from tests.bench.room import Room
from tests.bench.texts import log_text
from waybread_daemon.hygiene.answer import text_of
from waybread_daemon.hygiene.lines import count_file_lines, cut_lines, numbered
from waybread_daemon.hygiene.read import Asked, read_answer
from waybread_daemon.hygiene.repeat import result_answer
from waybread_daemon.hygiene.session import State

_TIMES = 15
_OUTPUT_BYTES = 10_000_000
_READ_BYTES = 1_000_000


def read_rules(room: Room) -> list[Figure]:
    """A read of a file of 1 MB: with 2,000 lines all of it is shown, with more a window of it."""
    contents = {
        "2,000 lines, all shown": log_text(_READ_BYTES, line_chars=500).encode(),
        "the same, not ASCII": _widened(log_text(_READ_BYTES, line_chars=500))[:_READ_BYTES].encode(),
        "16,000 lines, 2,000 shown": log_text(_READ_BYTES).encode(),
    }
    return [_against_hash(room, "read_rules", "whole-file read of 1 MB: rules alone", 3.0, contents, _read)]


def cap_rules(room: Room) -> list[Figure]:
    """An output of 10 MB keeps its head and its tail."""
    contents = {
        "lines of 64": log_text(_OUTPUT_BYTES).encode(),
        "the same, not ASCII": _widened(log_text(_OUTPUT_BYTES)).encode(),
        "one line": log_text(_OUTPUT_BYTES).replace("\n", " ").encode(),
        "empty lines": b"\n" * _OUTPUT_BYTES,
    }
    return [_against_hash(room, "cap_rules", "capping a 10 MB output: rules alone", 1.0, contents, _cap)]


def _against_hash(
    room: Room, name: str, what: str, target: float, contents: dict[str, bytes], rules: Callable[[bytes], object]
) -> Figure:
    """The worst of several contents counts: a rule must not be slow for the text that happens to come."""
    ratios: dict[str, float] = {}
    raw: Raw = {}
    for kind, data in contents.items():
        rounds = Rounds()
        for _ in range(room.rounds):
            rounds.add("rules", _seconds(rules, data))
            rounds.add("hash", _seconds(_hash, data))
        ratios[kind] = rounds.ratio("rules", "hash")
        raw |= {f"{kind}: {side}": value for side, value in rounds.raw("ms", 1e3).items()}
    return Figure(name, what, target, max(ratios.values()), raw=raw)


def _seconds(work: Callable[[bytes], object], data: bytes) -> float:
    taken: list[float] = []
    for _ in range(_TIMES):
        begin = time.perf_counter()
        work(data)
        taken.append(time.perf_counter() - begin)
    return median(taken)


def _hash(data: bytes) -> object:
    return hashlib.sha256(data).digest(), data.decode()


def _read(data: bytes) -> object:
    """As a request with a file's content is worked on, but for its hash."""
    answer = read_answer(State(), Asked("a.py", "/a.py", bytes(32), 1, 2000), count_file_lines(data))
    assert answer.lines is not None
    first, last = answer.lines
    return text_of(answer, numbered(cut_lines(data, first, last), first).encode())


def _cap(data: bytes) -> object:
    answer = result_answer(State(), "bash", b"{}", data, bytes(32), error=False)
    return text_of(answer, answer.body)


def _widened(text: str) -> str:
    """Every fourth space is a dash of three bytes."""
    words = text.split(" ")
    return "".join(word + ("–" if number % 4 == 0 else " ") for number, word in enumerate(words))
