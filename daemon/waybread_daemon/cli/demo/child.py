"""A daemon in a process of its own, as a person starts it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path

from waybread_daemon.cli.faults import CommandFault
from waybread_daemon.config import PREFIX

ANNOUNCEMENT = "waybread listening on "
START_TIMEOUT_S = 20
STOP_TIMEOUT_S = 30


class Daemon:
    """`waybread serve` on a free port, with the store in `data` and its log in the file `log`.

    Settings of the caller's environment do not reach it. Stop it before you let go of it.
    """

    def __init__(self, data: Path, log: Path, environment: Mapping[str, str]) -> None:
        self.url = ""
        self._data = data
        self._log = log
        self._environment = {name: value for name, value in environment.items() if not name.startswith(PREFIX)}
        # It stores some kilobytes for a minute: a disk that is nearly full is no reason to show nothing.
        self._environment[f"{PREFIX}FREE_FLOOR_BYTES"] = "0"
        self._port = 0
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Starts it and waits until it takes connections; started again, it takes the same port.

        Raises `CommandFault` with the daemon's own sentence.
        """
        with self._log.open("ab") as log:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "waybread_daemon", "serve"),
                *("--data", str(self._data), "--port", str(self._port)),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                env=self._environment,
            )
        self._process = process
        if process.stdout is None:
            raise RuntimeError("the process was started with a pipe")
        try:
            async with asyncio.timeout(START_TIMEOUT_S):
                line = (await process.stdout.readline()).decode().strip()
        except TimeoutError:
            line = ""
        if not line.startswith(ANNOUNCEMENT):
            await self.stop()
            raise CommandFault(f"the daemon did not start: {self._last_words()}")
        self.url = line.removeprefix(ANNOUNCEMENT)
        self._port = int(self.url.rpartition(":")[2].partition("/")[0])

    async def stop(self) -> int:
        """Sends SIGTERM, waits for the end, and answers the exit status; one that does not end is killed."""
        process, self._process = self._process, None
        if process is None:
            return 0
        _signal(process, signal.SIGTERM)
        try:
            async with asyncio.timeout(STOP_TIMEOUT_S):
                return await process.wait()
        except TimeoutError:
            _signal(process, signal.SIGKILL)
            return await process.wait()

    def _last_words(self) -> str:
        lines = self._log.read_text("utf-8", "replace").splitlines()
        said = lines[-1].removeprefix("waybread: ") if lines else "it said nothing"
        return f"{said} (its log is {self._log})"


def _signal(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    """`send_signal` would look whether the process has ended, and take its status from the loop that waits for it."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, number)
