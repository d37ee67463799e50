"""A real daemon process on a real socket and a real store, for tests from outside."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

ANNOUNCED = "waybread listening on "
ROOMY = {
    "WAYBREAD_FREE_FLOOR_BYTES": "0",
    "WAYBREAD_MAX_CONNECTIONS": "10000",
    "WAYBREAD_MAX_DEVICE_CONNECTIONS": "10000",
    "WAYBREAD_MAX_WAITING_HELLOS": "10000",
    "WAYBREAD_MAX_FAILED_HELLOS": "1000000",
}
"""For a test that has many clients on one machine, or of one device, or that say wrong things: none of them is a flood. And
the machine's disk may be as full as it likes."""
_EXIT_TIMEOUT_S = 40


def waybread(*words: str, data: Path) -> subprocess.CompletedProcess[str]:
    """Runs a command of the program to its end."""
    return subprocess.run(
        [sys.executable, "-m", "waybread_daemon", *words],
        env=environment(data),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )


def environment(data: Path) -> dict[str, str]:
    """The surroundings of a child: its own data folder, no settings of the caller's, and room where its own say nothing."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("WAYBREAD_")}
    file = data / "waybread.toml"
    said = file.read_text("utf-8") if file.is_file() else ""
    roomy = {name: value for name, value in ROOMY.items() if name.removeprefix("WAYBREAD_").lower() not in said}
    return {**kept, **roomy, "WAYBREAD_DATA": str(data)}


class Daemon:
    """A `waybread serve` of its own. `url` is where it listens."""

    def __init__(self, data: Path, port: int = 0, *flags: str) -> None:
        self.data = data
        self.log = data.parent / f"{data.name}.log"
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "waybread_daemon", "serve", "--port", str(port), *flags],
                env=environment(data),
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line.startswith(ANNOUNCED), (line, self.log.read_text())
        self.url = line.removeprefix(ANNOUNCED).strip()

    @property
    def port(self) -> int:
        """The port that it listens on, so that another one can take its place."""
        return int(self.url.rpartition(":")[2].partition("/")[0])

    def token(self, name: str = "test", role: str = "device", device: str = "") -> str:
        """A fresh token, made while the daemon runs."""
        words = ["device", "add", name, "--role", role, "--json"]
        if device:
            words += ["--device", device]
        return str(json.loads(waybread(*words, data=self.data).stdout)["token"])

    def stop(self) -> int:
        """SIGTERM, and the exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self._ended()

    def kill(self) -> None:
        """SIGKILL."""
        self.process.kill()
        self._ended()

    def _ended(self) -> int:
        status = self.process.wait(_EXIT_TIMEOUT_S)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return status


@contextmanager
def running(data: Path, port: int = 0, *flags: str) -> Generator[Daemon]:
    """A daemon that is stopped at the end, where the test has not done so."""
    daemon = Daemon(data, port, *flags)
    try:
        yield daemon
    finally:
        if daemon.process.poll() is None:
            daemon.kill()
