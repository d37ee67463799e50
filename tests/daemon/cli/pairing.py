"""`waybread pair` while it waits, and a client that says its code."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from tests.daemon.cli.support import PROGRAM, TIMEOUT_S, Daemon, Ran, environment
from tests.daemon.wire import Map, linked


class Command:
    """A `waybread pair` that waits."""

    def __init__(self, data: Path, *words: str) -> None:
        self.process = subprocess.Popen(
            [*PROGRAM, "pair", *words, "--data", str(data)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(),
            text=True,
        )
        self.said = ""

    def line(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        self.said += line
        return line

    def until(self, beginning: str) -> str:
        """The rest of the line that begins so."""
        while not (line := self.line()).startswith(beginning):
            assert line, self.said
        return line.removeprefix(beginning).strip()

    def ended(self) -> Ran:
        """How it ended, and what it said that was not read before."""
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        # `communicate` would pass over what stands in the buffer of `readline`.
        out, err = self.process.stdout.read(), self.process.stderr.read()
        return Ran(self.process.wait(TIMEOUT_S), out, err)


@contextmanager
def pairing(data: Path, *words: str) -> Generator[Command]:
    command = Command(data, *words)
    try:
        yield command
    finally:
        command.process.kill()
        command.process.communicate()


def say(daemon: Daemon, code: str, name: str = "") -> Map:
    """What a client is told that says a code."""

    async def hello() -> Map:
        async with linked(daemon.url) as wire:
            return await wire.ask("hello", code=code, name=name, client="test 1")

    return asyncio.run(hello())
