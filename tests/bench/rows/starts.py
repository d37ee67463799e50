"""How soon the program is there: with a full store, after a kill, and for its help."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from websockets.sync.client import connect
from websockets.typing import Subprotocol

from tests.bench.figures import Figure, Rounds, median
from tests.bench.filling import Filler, fill
from tests.bench.messages import Messages, hello
from tests.bench.programs.orders import Windowed
from tests.bench.room import Room
from tests.bench.texts import ToolResult, log_text
from tests.running import Daemon
from waybread_protocol.limits import SUBPROTOCOL_MSGPACK

_RESULTS = 1_000_000
_SESSIONS = 100
_UNDER_WAY = 6_000
_STARTS = 4
_HELPS = 15
_TEXTS = [log_text(160, seed) for seed in range(61)]


def start(room: Room) -> list[Figure]:
    """From the command to the first answered request, with 1,000,000 results in the store and with none."""
    room.say(f"filling a store of {_RESULTS:,} results")
    tokens = {"full": fill(room.folder / "full", _million), "empty": fill(room.folder / "empty", _nothing)}
    rounds = Rounds()
    for number in range(room.rounds):
        taken: dict[str, list[float]] = {"empty": [], "after SIGTERM": [], "after SIGKILL": []}
        for _ in range(_STARTS):
            _started(room, "empty", tokens, taken["empty"]).stop()
            _started(room, "full", tokens, taken["after SIGTERM"]).stop()
        _kill_under_load(room, tokens["full"], number)
        _started(room, "full", tokens, taken["after SIGKILL"]).stop()
        for side, seconds in taken.items():
            rounds.add(side, median(seconds))
    raw = rounds.raw("ms", 1e3)
    what = "start with a store of 1,000,000 results, against an empty one"
    return [
        Figure("start_sigterm", f"{what}: after SIGTERM", 1.1, rounds.ratio("after SIGTERM", "empty"), raw=raw),
        Figure("start_sigkill", f"{what}: after SIGKILL", 1.5, rounds.ratio("after SIGKILL", "empty")),
    ]


async def _million(filler: Filler) -> None:
    for number in range(_SESSIONS):
        session = await filler.session(f"session {number}")
        for result in range(_RESULTS // _SESSIONS):
            await session.text(ToolResult("bash", {"command": "make check"}, _TEXTS[result % len(_TEXTS)]))


async def _nothing(_: Filler) -> None:
    pass


def _started(room: Room, name: str, tokens: dict[str, str], taken: list[float]) -> Daemon:
    begin = time.monotonic()
    daemon = room.daemon(name)
    protocol = Subprotocol(SUBPROTOCOL_MSGPACK)
    with connect(daemon.url, subprotocols=[protocol], compression=None, proxy=None) as link:
        for message in (hello(tokens[name]), Messages("session 0").opening()):
            link.send(message)
            link.recv()
        taken.append(time.monotonic() - begin)
    return daemon


def _kill_under_load(room: Room, token: str, number: int) -> None:
    """The write-ahead log has to be as it is in the middle of work."""
    daemon, load = room.daemon("full"), room.load()
    messages = Messages(f"killed {number}")
    load.open("link", daemon.url, [hello(token), messages.opening()])
    load.ask(Windowed("link", [messages.many(_UNDER_WAY)], 256))
    daemon.kill()
    load.close()


def help_text(room: Room) -> list[Figure]:
    """`waybread --help` against a Python that does nothing. The script is the installer's work: some import `re` in it."""
    script = Path(sys.executable).with_name("waybread")
    module = [sys.executable, "-m", "waybread_daemon"]
    commands = {
        "help": [*([str(script)] if script.exists() else module), "--help"],
        "python -m": [*module, "--help"],
        "pass": [sys.executable, "-c", "pass"],
    }
    rounds = Rounds()
    for _ in range(room.rounds):
        taken: dict[str, list[float]] = {side: [] for side in commands}
        for _ in range(_HELPS):
            for side, command in commands.items():
                taken[side].append(_seconds(command))
        for side, seconds in taken.items():
            rounds.add(side, median(seconds))
    return [
        Figure(
            "help",
            "waybread --help, against python -c pass",
            1.5,
            rounds.ratio("help", "pass"),
            raw=rounds.raw("ms", 1e3, digits=1),
        )
    ]


def _seconds(command: list[str]) -> float:
    begin = time.monotonic()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.monotonic() - begin
