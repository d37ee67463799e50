"""Results of 60 MB: what a recall out of one costs, and what others notice while they come in."""

from __future__ import annotations

from pathlib import Path

from tests.bench.children import Load, forget_peak, memory_bytes, peak_bytes
from tests.bench.figures import Figure, Rounds, median, percentile
from tests.bench.messages import Messages, alone, hello, in_parts
from tests.bench.programs.orders import Serial
from tests.bench.room import Room
from tests.bench.texts import log_text

_LARGE_BYTES = 60_000_000
_SMALL_BYTES = 200_000
_RECALLS = 30
_WINDOW_LINES = 2000
_MIB = 1024 * 1024
_AT_ONCE = 3
_SERIAL = 1500
_ENOUGH = 200_000
_SIZE_BYTES = 200


def recall_large(room: Room) -> list[Figure]:
    """2,000 lines out of a result of 60 MB against 2,000 out of one of 200 KB."""
    data, token = _store(room)
    daemon, load = room.daemon(data.name), room.load()
    messages = Messages("large", prefix="g")
    load.open("link", daemon.url, [hello(token), messages.opening()])
    lines = {"60 MB": _LARGE_BYTES // 64, "200 KB": _SMALL_BYTES // 64}
    ids = {"60 MB": "#0002", "200 KB": "#0001"}

    def recalls(name: str) -> list[float]:
        room_lines = lines[name] - _WINDOW_LINES
        offsets = [1 + room_lines * number // _RECALLS for number in range(_RECALLS)]
        return load.latencies_s("link", alone([messages.recall(ids[name], offset) for offset in offsets]))

    # What any recall takes the first time is not the large one's.
    recalls("200 KB")
    recalls("200 KB")
    process = daemon.process.pid
    before = memory_bytes(process)
    forget_peak(process)
    rounds = Rounds()
    for _ in range(room.rounds):
        rounds.add("60 MB", median(recalls("60 MB")))
        rounds.add("200 KB", median(recalls("200 KB")))
    growth = (peak_bytes(process) - before) / _MIB
    ratio = rounds.ratio("60 MB", "200 KB")
    what = "recall of 2,000 lines from 60 MB"
    return [
        Figure("recall_large", f"{what}, against 200 KB", 2.5, ratio, raw=rounds.raw("ms", 1e3)),
        Figure("recall_large_memory", f"{what}: memory growth", 16, growth, "MiB", raw={"before MiB": before // _MIB}),
    ]


def _store(room: Room) -> tuple[Path, str]:
    """A store with both results, whose daemon is gone: it would hold memory of having taken them."""
    daemon, load = room.daemon(), room.load()
    token = daemon.token()
    messages = Messages("large")
    load.open("link", daemon.url, [hello(token), messages.opening()])
    texts = [log_text(_SMALL_BYTES), log_text(_LARGE_BYTES)]
    load.ask(Serial("link", [in_parts(messages.text(text)) for text in texts]))
    load.close()
    daemon.stop()
    return daemon.data, token


def neighbours(room: Room) -> list[Figure]:
    """Another link's small inserts while results of 60 MB come in, of ASCII and with a character that makes it wide."""
    figures: list[Figure] = []
    for kind, text in (("ascii", log_text(_LARGE_BYTES)), ("emoji", log_text(_LARGE_BYTES - 4) + "🌿")):
        figures += _neighbours(room, kind, text)
    return figures


def _neighbours(room: Room, kind: str, text: str) -> list[Figure]:
    daemon, large, small = room.daemon(kind), room.load(), room.load()
    token = daemon.token()
    large_messages, small_messages = Messages("large"), Messages("small")
    large.open("link", daemon.url, [hello(token), large_messages.opening()])
    small.open("link", daemon.url, [hello(token), small_messages.opening()])
    rounds = Rounds()
    for _ in range(room.rounds):
        alone_s = small.latencies_s("link", alone(small_messages.many(_SERIAL, _SIZE_BYTES)))
        messages = [in_parts(large_messages.text(text)) for _ in range(_AT_ONCE)]
        beside_s = meanwhile(small, alone(small_messages.many(_ENOUGH // 10, _SIZE_BYTES)), large, messages)
        rounds.add("alone p99", percentile(alone_s, 0.99))
        rounds.add("beside p99", percentile(beside_s, 0.99))
        rounds.add("beside max", max(beside_s))
    daemon.stop()
    what = f"small inserts while 60 MB results come in, {kind}"
    p99_ms = max(5 * rounds.median("alone p99") * 1e3, 10)
    raw = rounds.raw("ms", 1e3)
    return [
        Figure(f"neighbours_{kind}_p99", f"{what}: p99", p99_ms, rounds.median("beside p99") * 1e3, "ms", raw=raw),
        Figure(f"neighbours_{kind}_max", f"{what}: maximum", 100, rounds.median("beside max") * 1e3, "ms"),
    ]


def meanwhile(small: Load, small_messages: list[list[bytes]], large: Load, messages: list[list[bytes]]) -> list[float]:
    """How long one load's messages take, one at a time, while the other load's are under way (both on `link`)."""
    small.begin(Serial("link", small_messages))
    told = large.ask(Serial("link", messages))
    begin, (last, taken) = told.samples[0][0], told.samples[-1]
    end = last + taken
    return [taken for at, taken in small.stop().samples if at + taken > begin and at < end]
