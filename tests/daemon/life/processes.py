"""Daemons of which everything hangs that can, and a service manager that is told of it."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from tests.daemon.cli.support import environment, waybread
from tests.daemon.life import hanging
from tests.daemon.life.manager import Manager

EXIT_S = 40


class Process:
    """`hanging` as a process, which need not have come as far as to listen."""

    def __init__(self, data: Path, manager: Manager | None, watchdog_s: float, flags: tuple[str, ...]) -> None:
        self.data = data
        self.log_file = data.with_name(f"{data.name}.log")
        surroundings = {} if manager is None else {"NOTIFY_SOCKET": manager.address}
        if watchdog_s:
            surroundings["WATCHDOG_USEC"] = str(int(watchdog_s * 1_000_000))
        data.mkdir(mode=0o700, exist_ok=True)
        with self.log_file.open("ab") as log:
            self.process = subprocess.Popen(
                hanging.command_line(data, *flags),
                cwd=hanging.ROOT,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                env=environment(**surroundings),
            )

    def listening(self) -> str:
        """Waits for the first line, and gives the link's address."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().decode().removeprefix("waybread listening on ").strip()

    def device(self) -> str:
        """A token of a new device."""
        made = waybread("device", "add", "phone", "--data", self.data, "--json").objects()
        return str(made[0]["token"])

    def signal(self, *numbers: signal.Signals) -> None:
        for number in numbers:
            self.process.send_signal(number)
            # Two of the same that are not yet taken are one.
            time.sleep(0.1)

    def ended(self) -> int:
        return self.process.wait(EXIT_S)

    def log(self) -> str:
        return self.log_file.read_text("utf-8")

    def hang(self, what: str) -> None:
        (self.data / what).touch()

    def go_on(self, what: str) -> None:
        (self.data / what).unlink()


@contextmanager
def started(
    data: Path, *flags: str, manager: Manager | None = None, watchdog_s: float = 0, hang: str = ""
) -> Generator[Process]:
    """`hang` is what hangs from the start on."""
    if hang:
        data.mkdir(mode=0o700, exist_ok=True)
        (data / hang).touch()
    process = Process(data, manager, watchdog_s, flags)
    try:
        yield process
    finally:
        if process.process.poll() is None:
            process.process.kill()
            process.process.wait()
        assert process.process.stdout is not None
        process.process.stdout.close()
