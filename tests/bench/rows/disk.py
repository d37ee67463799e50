"""What recorded results take on the disk."""

from __future__ import annotations

import statistics

from tests.bench.figures import Figure, Raw
from tests.bench.messages import Messages, hello
from tests.bench.programs.orders import Windowed
from tests.bench.room import Room
from tests.bench.texts import has_recordings, recorded_results
from waybread_protocol.canonical import canonical_args

_WHAT = "file on disk for the transcripts' bodies and args, after a checkpoint, against raw"


def disk(room: Room) -> list[Figure]:
    """All recorded results go through a daemon; its file is looked at when it has stopped."""
    if not has_recordings():
        return [Figure("disk", _WHAT, 0.6, None, skipped="no recorded transcripts lie beside the checkout")]
    results = recorded_results()
    daemon, load = room.daemon(), room.load()
    messages = Messages("transcripts")
    load.open("link", daemon.url, [hello(daemon.token()), messages.opening()])
    load.ask(Windowed("link", [[messages.real(result) for result in results]], 64))
    load.close()
    daemon.stop()
    stored = sum(path.stat().st_size for path in daemon.data.glob("*.sqlite*"))
    bodies = [len(result.text.encode()) for result in results]
    args = sum(len(canonical_args(result.args)) for result in results)
    raw: Raw = {
        "results": len(results),
        "stored bytes": stored,
        "bodies bytes": sum(bodies),
        "args bytes": args,
        "median body bytes": statistics.median(bodies),
        "mean body bytes": round(statistics.mean(bodies)),
    }
    return [Figure("disk", _WHAT, 0.6, stored / (sum(bodies) + args), raw=raw)]
