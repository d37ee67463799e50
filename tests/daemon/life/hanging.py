"""`waybread serve` in which things hang: a program of its own, started by `hanging_daemon`.

The disk hangs while the file `hang-disk` is in the data folder, a heavy thread while `hang-heavy` is there. The request
`reads` of the session `stuck` never ends. At SIGUSR1 the event loop hangs for good.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Any
from unittest import mock

from tests.own_disk import DiskFile, disk_of
from waybread_daemon.cli import serve as command
from waybread_daemon.link import intake
from waybread_daemon.sessions import desk, looks
from waybread_daemon.sessions.job import Job
from waybread_protocol.lifting import lift
from waybread_protocol.messages import Reads

ROOT = Path(__file__).resolve().parents[3]
DISK = "hang-disk"
HEAVY = "hang-heavy"


def command_line(data: Path, *flags: str) -> Sequence[str]:
    """How it is started, in the folder `ROOT`."""
    return [sys.executable, "-m", "tests.daemon.life.hanging", "--data", str(data), "--port", "0", *flags]


def wait_while(there: Path) -> None:
    while there.exists():
        time.sleep(0.01)


class HangingFile(DiskFile):
    def xWrite(self, data: Any, offset: int) -> None:  # noqa: N802  # SQLite's own names
        wait_while(self.data / DISK)
        # The types that come with apsw name one that Python 3.11 has not.
        file: Any = super()
        file.xWrite(data, offset)

    def xSync(self, flags: int) -> None:  # noqa: N802
        wait_while(self.data / DISK)
        super().xSync(flags)


def main() -> int:
    data = Path(sys.argv[2])
    reads = looks.reads

    def lifted(*words: Any, **names: Any) -> Any:
        wait_while(data / HEAVY)
        return lift(*words, **names)

    async def stuck(job: Job) -> None:
        if job.session.name == "stuck":
            await asyncio.Event().wait()
        await reads(job)

    def hang(_: int, __: FrameType | None) -> None:
        while True:
            time.sleep(1)

    desk.HANDLERS[Reads] = stuck
    signal.signal(signal.SIGUSR1, hang)
    with disk_of(HangingFile, data), mock.patch.object(intake, "lift", lifted):
        return command.main(sys.argv[1:], os.environ)


if __name__ == "__main__":
    sys.exit(main())
