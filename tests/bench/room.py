"""What a row works with: a folder of its own, children that end with it, and the number of rounds."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.bench.children import Bare, Load
from tests.running import Daemon


class Room:
    """Made for one row by `room`; everything that it hands out is closed at the row's end."""

    def __init__(self, rounds: int, folder: Path, stack: ExitStack) -> None:
        self.rounds = rounds
        self.folder = folder
        self._stack = stack

    def daemon(self, name: str = "data", *flags: str) -> Daemon:
        """A real daemon whose data folder has that name. Starting one again on the same folder is a restart."""
        daemon = Daemon(self.folder / name, 0, *flags)
        self._stack.callback(_end, daemon)
        return daemon

    def bare(self) -> Bare:
        """The bare limit's server, on the same disk."""
        bare = Bare(self.folder / "bare.sqlite")
        self._stack.callback(bare.close)
        return bare

    def load(self) -> Load:
        """A load of its own process."""
        load = Load()
        self._stack.callback(load.close)
        return load

    def say(self, sentence: str) -> None:
        """What is going on, for who waits."""
        sys.stderr.write(f"    {sentence}\n")
        sys.stderr.flush()


def _end(daemon: Daemon) -> None:
    if daemon.process.poll() is None:
        daemon.kill()


@contextmanager
def room(rounds: int) -> Generator[Room]:
    """A room for one row."""
    with tempfile.TemporaryDirectory(prefix="waybread-bench-") as folder, ExitStack() as stack:
        yield Room(rounds, Path(folder), stack)
