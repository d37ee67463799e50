"""What a link costs that only waits."""

from __future__ import annotations

import resource
import time

from tests.bench.children import memory_bytes
from tests.bench.figures import Figure, Rounds
from tests.bench.messages import hello
from tests.bench.room import Room
from waybread_daemon.link.server import PING_INTERVAL_S

_LINKS = 2000
_FILES = _LINKS + 200
_KIB = 1024


def idle_memory(room: Room) -> list[Figure]:
    """2,000 links without TLS after a keepalive ping. Memory knows no noise of neighbours: the rounds wait together."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    what = "memory of an idle connection, 2,000 of them, after a keepalive"
    if hard != resource.RLIM_INFINITY and hard < _FILES:
        why = f"a process here may open {hard} files, {_FILES} are needed"
        return [Figure("idle_memory", what, 25, None, "KiB", skipped=why)]
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, _FILES), hard))
    rounds = Rounds()
    opened: list[tuple[int, int]] = []
    for number in range(room.rounds):
        daemon, load = room.daemon(f"data {number}"), room.load()
        token = daemon.token()
        # The first link brings in what all share.
        load.open("first", daemon.url, [hello(token)])
        before = memory_bytes(daemon.process.pid)
        load.open("links", daemon.url, *([hello(token)] for _ in range(_LINKS)))
        opened.append((daemon.process.pid, before))
    room.say(f"waiting {PING_INTERVAL_S + 5} s for a keepalive")
    time.sleep(PING_INTERVAL_S + 5)
    for process, before in opened:
        rounds.add("a link", (memory_bytes(process) - before) / _LINKS / _KIB)
    return [Figure("idle_memory", what, 25, rounds.median("a link"), "KiB", raw=rounds.raw("KiB"))]
