"""The program as a person starts it: real processes, with a data folder of the test's own and no settings but the test's."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

PROGRAM = [sys.executable, "-m", "waybread_daemon"]
TIMEOUT_S = 60


class Ran(NamedTuple):
    """How a command ended, and what it said."""

    status: int
    out: str
    err: str

    def objects(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]


def environment(**more: str) -> dict[str, str]:
    """No settings but the test's; the machine's own disk may be as full as it likes."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith("WAYBREAD_")}
    return kept | {"WAYBREAD_FREE_FLOOR_BYTES": "0"} | more


def waybread(*words: str | Path, **settings: str) -> Ran:
    """Runs a command to its end. `settings` are variables of the environment."""
    ended = subprocess.run(
        [*PROGRAM, *map(str, words)],
        check=False,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        env=environment(**settings),
        timeout=TIMEOUT_S,
    )
    return Ran(ended.returncode, ended.stdout.decode(), ended.stderr.decode())


class Daemon:
    """A running `waybread serve`."""

    def __init__(self, data: Path, *flags: str) -> None:
        self.data = data
        self.log_file = data.with_name(f"{data.name}.log")
        with self.log_file.open("ab") as log:
            self.process = subprocess.Popen(
                [*PROGRAM, "serve", "--data", str(data), "--port", "0", *flags],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                env=environment(),
            )
        assert self.process.stdout is not None
        self.first_line = self.process.stdout.readline().decode()
        self.url = self.first_line.removeprefix("waybread listening on ").strip()

    def device(self, name: str = "phone", role: str = "device") -> dict[str, str]:
        """A new device, made by the command while the daemon runs."""
        made: dict[str, str] = waybread("device", "add", name, "--role", role, "--data", self.data, "--json").objects()[
            0
        ]
        return made

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(TIMEOUT_S)

    def log(self) -> str:
        return self.log_file.read_text("utf-8")


@contextmanager
def serving(data: Path, *flags: str) -> Generator[Daemon]:
    daemon = Daemon(data, *flags)
    try:
        yield daemon
    finally:
        if daemon.process.poll() is None:
            daemon.stop()
        assert daemon.process.stdout is not None
        daemon.process.stdout.close()
