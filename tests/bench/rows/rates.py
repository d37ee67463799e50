"""Small results against the bare limit: one at a time, pipelined, over many links; and a read that needs no content."""

from __future__ import annotations

import itertools

from tests.bench.children import Load, cpu_seconds
from tests.bench.figures import Figure, Rounds, median
from tests.bench.messages import Messages, alone, by_hash, hello
from tests.bench.room import Room
from tests.bench.texts import log_text, real_results

_SERIAL = 500
_PIPELINED = 10_000
_WINDOW = 256
_LINKS = 64
_LINK_WINDOW = 8
_LINK_RESULTS = 250
_LOOKS = 300


def one_at_a_time(room: Room) -> list[Figure]:
    """One connection, one request at a time, 4 KB results."""
    daemon, bare, load = room.daemon(), room.bare(), room.load()
    messages = Messages("serial")
    load.open("ours", daemon.url, [hello(daemon.token()), messages.opening()])
    load.open("bare", bare.url, [])
    rounds = Rounds()
    for _ in range(room.rounds):
        texts = alone(messages.many(_SERIAL))
        rounds.add("ours", median(load.latencies_s("ours", texts)))
        rounds.add("bare", median(load.latencies_s("bare", texts)))
    return [
        Figure(
            "one_at_a_time",
            "one connection, one request at a time, 4 KB: p50",
            1.25,
            rounds.ratio("ours", "bare"),
            raw=rounds.raw("ms", 1e3),
        )
    ]


def pipelined(room: Room) -> list[Figure]:
    """One connection, 256 requests on their way, 4 KB results."""
    daemon, bare, load = room.daemon(), room.bare(), room.load()
    messages = Messages("pipelined")
    load.open("ours", daemon.url, [hello(daemon.token()), messages.opening()])
    load.open("bare", bare.url, [])
    sides = {"ours": daemon.process.pid, "bare": bare.pid}
    rounds, cpu = Rounds(), Rounds()
    for _ in range(room.rounds):
        _drive(load, sides, [messages.many(_PIPELINED)], _WINDOW, rounds, cpu)
    return [
        Figure(
            "pipelined",
            "one connection, pipelined, 4 KB: rate",
            0.45,
            rounds.ratio("ours", "bare"),
            at_least=True,
            raw=rounds.raw("per s", digits=0) | cpu.raw("CPU µs each", 1e6, digits=0),
        )
    ]


def connections(room: Room) -> list[Figure]:
    """64 connections, results of real sizes, each link in a session of its own."""
    daemon, bare, load = room.daemon(), room.bare(), room.load()
    token = daemon.token()
    load.open("ours", daemon.url, *([hello(token)] for _ in range(_LINKS)))
    nothing: list[bytes] = []
    load.open("bare", bare.url, *[nothing] * _LINKS)
    results = real_results()
    sides = {"ours": daemon.process.pid, "bare": bare.pid}
    rounds, cpu = Rounds(), Rounds()
    for number in range(room.rounds):
        texts = [_real_messages(f"{number}-{link}", link * len(results) // _LINKS) for link in range(_LINKS)]
        _drive(load, sides, texts, _LINK_WINDOW, rounds, cpu)
    return [
        Figure(
            "connections",
            "64 connections, real results: rate",
            0.55,
            rounds.ratio("ours", "bare"),
            at_least=True,
            raw=rounds.raw("per s", digits=0) | cpu.raw("CPU µs each", 1e6, digits=0),
        )
    ]


def _drive(
    load: Load, sides: dict[str, int], messages: list[list[bytes]], window: int, rounds: Rounds, cpu: Rounds
) -> None:
    """One round: each side's rate, and the processor time that its process took for a message."""
    for side, process in sides.items():
        before = cpu_seconds(process)
        rounds.add(side, load.rate(side, messages, window))
        cpu.add(side, (cpu_seconds(process) - before) / sum(map(len, messages)))


def _real_messages(session: str, start: int) -> list[bytes]:
    messages = Messages(session)
    results = itertools.islice(itertools.cycle(real_results()), start, start + _LINK_RESULTS)
    return [messages.opening(), *map(messages.real, results)]


def read_by_hash(room: Room) -> list[Figure]:
    """A read of an unchanged 200 KB file against a result of 100 bytes."""
    daemon, load = room.daemon(), room.load()
    messages = Messages("reads")
    content = log_text(200_000)
    first = messages.read("src/main.py", {"text": content})
    load.open("ours", daemon.url, [hello(daemon.token()), messages.opening(), first])
    rounds = Rounds()
    for _ in range(room.rounds):
        reads = [messages.read("src/main.py", by_hash(content.encode())) for _ in range(_LOOKS)]
        rounds.add("read", median(load.latencies_s("ours", alone(reads))))
        rounds.add("result", median(load.latencies_s("ours", alone(messages.many(_LOOKS, 100)))))
    return [
        Figure(
            "read_by_hash",
            "an unchanged 200 KB file read by its hash, against a 100-byte result",
            1.2,
            rounds.ratio("read", "result"),
            raw=rounds.raw("ms", 1e3),
        )
    ]
