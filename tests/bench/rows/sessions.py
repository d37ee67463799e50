"""Sessions that have grown long: inserts, and the first request after a restart."""

from __future__ import annotations

from pathlib import Path

from tests.bench.figures import Figure, Rounds, median
from tests.bench.filling import FilledSession, Filler, Work, fill
from tests.bench.messages import Messages, alone, hello
from tests.bench.room import Room
from tests.bench.texts import ToolResult, log_text
from tests.running import Daemon

LONG = 100_000
_SHORT = 100
_SERIAL = 300
_PIPELINED = 4_000
_WINDOW = 256
_SIZE_BYTES = 1024
_TEXTS = [log_text(700, seed) for seed in range(97)]
_FILES = 40


async def grow(session: FilledSession, count: int) -> None:
    """Results as an agent makes them: of ten two are reads, one is a search, the others are commands."""
    for number in range(count):
        text = _TEXTS[number % len(_TEXTS)]
        match number % 10:
            case 3 | 7:
                await session.read(f"src/{number % _FILES}.py", f"{number}\n{text}")
            case 5:
                await session.text(ToolResult("grep", {"pattern": f"value {number}"}, text))
            case _:
                await session.text(ToolResult("bash", {"command": f"make {number}"}, text))


def insert_long(room: Room) -> list[Figure]:
    """Inserts into a session of 100,000 results against one of 100, each in a store of its own."""
    room.say(f"filling a session of {LONG:,} results")
    tokens = {"long": fill(room.folder / "long", _long), "short": fill(room.folder / "short", _short(room.rounds))}
    load = room.load()
    serial, piped = Rounds(), Rounds()
    daemons = {name: room.daemon(name) for name in tokens}
    long_messages = Messages("long", prefix="g")
    for number in range(room.rounds):
        turns = {"long": long_messages, "short": Messages(f"short {number}", prefix="g")}
        for name, messages in turns.items():
            links = f"{name} {number}"
            # What a session costs when it is first touched is another row.
            load.open(links, daemons[name].url, [hello(tokens[name]), messages.opening(), messages.text("first")])
            serial.add(name, median(load.latencies_s(links, alone(messages.many(_SERIAL, _SIZE_BYTES)))))
        for name, messages in turns.items():
            texts = messages.many(_PIPELINED, _SIZE_BYTES)
            piped.add(name, 1 / load.rate(f"{name} {number}", [texts], _WINDOW))
    what = "insert into a session of 100,000 results against one of 100"
    return [
        Figure("insert_long_p50", f"{what}: p50", 1.1, serial.ratio("long", "short"), raw=serial.raw("ms", 1e3)),
        Figure(
            "insert_long_pipelined",
            f"{what}: pipelined mean",
            1.3,
            piped.ratio("long", "short"),
            raw=piped.raw("µs", 1e6),
        ),
    ]


async def _long(filler: Filler) -> None:
    await grow(await filler.session("long"), LONG)


def _short(rounds: int) -> Work:
    async def work(filler: Filler) -> None:
        for number in range(rounds):
            await grow(await filler.session(f"short {number}"), _SHORT)

    return work


_RESTARTS = {
    "100,000 results, 1,000 since the compaction": (LONG, 1_000),
    "10,000 results, 1,000 since the compaction": (10_000, 1_000),
    "10,000 results, never compacted": (10_000, 0),
}


def restart(room: Room) -> list[Figure]:
    """The first request to a long session after a restart against one insert."""
    room.say("filling three sessions")
    figures: list[Figure] = []
    for what, (results, since) in _RESTARTS.items():
        data = room.folder / f"{results}-{since}"
        token = fill(data, _compacted(results, since))
        rounds = Rounds()
        for number in range(room.rounds):
            _first_request(room, data, token, number, rounds)
        figures.append(
            Figure(
                f"restart_{results}_{since}",
                f"first request after a restart against an insert: {what}",
                20,
                rounds.ratio("first", "insert"),
                raw=rounds.raw("ms", 1e3),
            )
        )
    return figures


def _compacted(results: int, since: int) -> Work:
    async def work(filler: Filler) -> None:
        session = await filler.session("long")
        await grow(session, results - since)
        if since:
            await session.compact()
            await grow(session, since)

    return work


def _first_request(room: Room, data: Path, token: str, number: int, rounds: Rounds) -> None:
    daemon: Daemon = room.daemon(data.name)
    load = room.load()
    session, other = Messages("long", prefix=f"g{number:03}"), Messages(f"other {number}")
    load.open("link", daemon.url, [hello(token)])
    (first,) = load.latencies_s("link", alone([session.text("first")]))
    load.latencies_s("link", alone([other.opening()]))
    rounds.add("first", first)
    rounds.add("insert", median(load.latencies_s("link", alone(other.many(_SERIAL, _SIZE_BYTES)))))
    load.close()
    daemon.stop()
