"""A device that has been away takes the whole log, page after page."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import apsw
import zstandard

from tests.bench.figures import Figure, Rounds
from tests.bench.filling import Filler, fill
from tests.bench.messages import hello
from tests.bench.programs.orders import Pages
from tests.bench.room import Room
from tests.bench.rows.sessions import grow
from waybread_daemon.config import STORE_NAME

_ENTRIES = 100_000


def sync(room: Room) -> list[Figure]:
    """`sync` of 100,000 entries against reading and decompressing the same rows and nothing else."""
    room.say(f"filling a log of {_ENTRIES:,} entries")
    token = fill(room.folder / "data", _log)
    daemon, load = room.daemon(), room.load()
    load.open("link", daemon.url, [hello(token)])
    rounds = Rounds()
    for _ in range(room.rounds):
        told = load.ask(Pages("link"))
        if told.entries != _ENTRIES:
            raise RuntimeError(f"sync gave {told.entries} entries of {_ENTRIES}")
        rounds.add("sync", _ENTRIES / told.seconds)
        rounds.add("bare", _ENTRIES / _bare_seconds(room.folder / "data" / STORE_NAME))
    return [
        Figure(
            "sync",
            "sync of 100,000 entries in pages, against reading the rows bare: rate",
            0.5,
            rounds.ratio("sync", "bare"),
            at_least=True,
            raw=rounds.raw("per s", digits=0),
        )
    ]


async def _log(filler: Filler) -> None:
    await grow(await filler.session("log"), _ENTRIES - 1)


def _bare_seconds(path: Path) -> float:
    connection = apsw.Connection(str(path), apsw.SQLITE_OPEN_READONLY)
    cursor: Any = connection.cursor()
    decompress = zstandard.ZstdDecompressor().decompress
    begin = time.monotonic()
    for encoding, _, payload in cursor.execute("SELECT encoding, facts, payload FROM entry ORDER BY id"):
        if encoding:
            decompress(payload)
    taken = time.monotonic() - begin
    connection.close()
    return taken
