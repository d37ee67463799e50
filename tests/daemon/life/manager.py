"""A service manager: the socket of `sd_notify` as systemd holds it, and what came in on it."""

from __future__ import annotations

import socket
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

Told = dict[str, str]


class Manager:
    """Hears datagrams. `address` is what `NOTIFY_SOCKET` says."""

    def __init__(self, address: str, heard: socket.socket) -> None:
        self.address = address
        self._socket = heard

    def hear(self, within_s: float = 10) -> Told:
        """The next thing told. Raises `TimeoutError`."""
        self._socket.settimeout(within_s)
        lines = self._socket.recv(4096).decode().split("\n")
        return dict(line.split("=", 1) for line in lines)

    def hear_until(self, name: str, within_s: float = 20) -> list[Told]:
        """All that is told up to the first that has `name`, that one too."""
        until = time.monotonic() + within_s
        told = [self.hear(within_s)]
        while name not in told[-1]:
            told.append(self.hear(max(until - time.monotonic(), 0.001)))
        return told

    def drain(self) -> list[Told]:
        """What was told and not yet heard."""
        told: list[Told] = []
        while True:
            try:
                told.append(self.hear(0.001))
            except TimeoutError:
                return told

    def fed_within(self, seconds: float) -> int:
        """How often the watchdog is fed in the time to come."""
        until, fed = time.monotonic() + seconds, 0
        while (left := until - time.monotonic()) > 0:
            try:
                fed += "WATCHDOG" in self.hear(left)
            except TimeoutError:
                break
        return fed


@contextmanager
def managing(folder: Path, *, abstract: bool = False) -> Generator[Manager]:
    # The path of a socket has some hundred bytes at most: a test's folder may be deeper.
    name = f"@waybread-test-{folder.name}-{time.monotonic_ns()}" if abstract else str(folder / "n")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        heard.bind(f"\0{name[1:]}" if abstract else name)
        yield Manager(name, heard)
