"""A daemon whose long waits are short, so that a test can see what happens after them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from tests.running import ANNOUNCED, Daemon, environment

_PROGRAM = """
import sys
from waybread_daemon.link import server
for word in sys.argv[1:]:
    name, _, value = word.partition("=")
    assert hasattr(server, name), name
    setattr(server, name, float(value))
from waybread_daemon.__main__ import main
sys.argv[1:] = ["serve", "--port", "0"]
sys.exit(main())
"""


class HastyDaemon(Daemon):
    """`waybread serve` with other numbers in `link.server`."""

    def __init__(self, data: Path, numbers: dict[str, float]) -> None:
        self.data = data
        self.log = data.parent / f"{data.name}.log"
        words = [f"{name}={value}" for name, value in numbers.items()]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-c", _PROGRAM, *words],
                env=environment(data),
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line.startswith(ANNOUNCED), (line, self.log.read_text())
        self.url = line.removeprefix(ANNOUNCED).strip()


@contextmanager
def running_hastily(data: Path, **numbers: float) -> Generator[Daemon]:
    """Such a daemon, killed at the end where the test has not stopped it."""
    daemon = HastyDaemon(data, numbers)
    try:
        yield daemon
    finally:
        if daemon.process.poll() is None:
            daemon.kill()
