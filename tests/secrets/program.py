"""`waybread serve` in which there are faults to be had: a program of its own.

While the file `fail-disk` is in the data folder no sync succeeds. The request `reads` of the session `fault` meets a fault
whose text holds all that the client sent. At SIGUSR1 a thread ends by such an exception; while the file `crash` is there,
the whole daemon does when it is told to stop. What the client sent is what stands in the file `sent`.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any
from unittest import mock

import apsw

from tests.own_disk import DiskFile, disk_of
from waybread_daemon.cli import serve as command
from waybread_daemon.link.server import Server
from waybread_daemon.sessions import desk, looks
from waybread_daemon.sessions.job import Job
from waybread_protocol.messages import Reads

ROOT = Path(__file__).resolve().parents[2]
DISK = "fail-disk"
SENT = "sent"
CRASH = "crash"


class FailingFile(DiskFile):
    def xSync(self, flags: int) -> None:  # noqa: N802  # SQLite's own name
        if (self.data / DISK).exists():
            # Without the exact code SQLite takes a sync that failed for one that was never asked for.
            error: Any = apsw.IOError("broken")
            error.extendedresult = apsw.SQLITE_IOERR_FSYNC
            raise error
        super().xSync(flags)


def main() -> int:
    data = Path(sys.argv[2])
    reads, drain = looks.reads, Server.drain

    async def faulty(job: Job) -> None:
        if job.session.name == "fault":
            raise RuntimeError((data / SENT).read_text("utf-8"))
        await reads(job)

    async def drained(server: Server, hurry: asyncio.Event | None = None) -> None:
        await drain(server, hurry)
        if (data / CRASH).exists():
            fail()

    def fail() -> None:
        raise RuntimeError((data / SENT).read_text("utf-8"))

    desk.HANDLERS[Reads] = faulty
    signal.signal(signal.SIGUSR1, lambda _, __: threading.Thread(target=fail).start())
    with disk_of(FailingFile, data), mock.patch.object(Server, "drain", drained):
        return command.main(sys.argv[1:], os.environ)


if __name__ == "__main__":
    sys.exit(main())
