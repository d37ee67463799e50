"""`waybread demo`: sets the stage, has the story told, and says how to look at what is left."""

from __future__ import annotations

import asyncio
import shlex
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from waybread_daemon.cli.demo.child import Daemon
from waybread_daemon.cli.demo.files import Files
from waybread_daemon.cli.demo.show import Show
from waybread_daemon.cli.demo.story import SESSION, tell
from waybread_daemon.cli.device import add_device
from waybread_daemon.cli.faults import CommandFault
from waybread_daemon.cli.options import filled, parser_for, path_of
from waybread_daemon.cli.screen import Screen
from waybread_daemon.config import STORE_NAME

TIMEOUT_S = 120


def main(words: list[str], environment: Mapping[str, str]) -> int:
    """Runs the demo. Whatever is not as promised ends it with a sentence and status 1."""
    parser = parser_for(
        "demo",
        "Starts a daemon on a free port with a store of its own, links a device, and runs the main job on real files:\n"
        "a copy of this package's sources. Each answer is shown as the model would see it, with what it saved.",
        "waybread demo",
        "waybread demo --data ./demo-store",
    )
    parser.add_argument(
        "--data", metavar="DIR", type=filled, help="keep the store here (else in a folder for temporary files)"
    )
    options = parser.parse_args(words)
    place = Path(tempfile.mkdtemp(prefix="waybread-demo-")).resolve()
    data = place / "data" if options.data is None else path_of(options.data)
    show = Show(screen := Screen(sys.stdout), colors="NO_COLOR" not in environment)
    try:
        device = asyncio.run(_run(place, data, show, environment))
    except TimeoutError as fault:
        raise CommandFault(f"the demo took more than {TIMEOUT_S} s; the daemon's log is in {place}") from fault
    show.chapter("What it saved")
    show.sums()
    screen.line()
    if options.data is None:
        screen.line(f"The store is in {data}, the edited files are beside it. Take all of it away with: rm -r {place}")
    else:
        screen.line(f"The store in {data} is kept. Take the edited files and the log away with: rm -r {place}")
    screen.line("Look at the session as the model saw it with:")
    screen.line(f"{_program()} transcript {SESSION} --data {shlex.quote(str(data))} --device {device}")
    return 0


async def _run(place: Path, data: Path, show: Show, environment: Mapping[str, str]) -> str:
    """Answers the id of the device that the story made."""
    daemon = Daemon(data, place / "daemon.log", environment)
    try:
        async with asyncio.timeout(TIMEOUT_S):
            await daemon.start()
            show.say(f"A daemon is listening on {daemon.url}.")
            device, token = add_device(data / STORE_NAME, "demo", "device")
            await tell(daemon, token, Files(place / "files"), show)
    finally:
        await daemon.stop()
    return device.device


def _program() -> str:
    """How this program is called again: by its name where the shell finds it, else by its place."""
    started = Path(sys.argv[0])
    if started.name == "waybread" and started.exists():
        found = shutil.which("waybread")
        return "waybread" if found and started.samefile(found) else shlex.quote(str(started.absolute()))
    return f"{shlex.quote(sys.executable)} -m waybread_daemon"
