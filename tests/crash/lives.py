"""Daemons that a test kills: the test's side of `launcher`."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from tests.crash.launcher import Order

ROOT = Path(__file__).parents[2]
PATIENCE_S = 30


class Life:
    """One daemon from its start to its end. `url` is empty where it died before it listened."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.url = ""
        self.pid = 0
        self.died_at = ""
        """The point at which it died, empty where a test killed it."""
        self.status = 0
        self.ended = asyncio.Event()
        self._listening = asyncio.Event()
        self._hearing = asyncio.create_task(self._hear())

    async def begun(self) -> str:
        """Waits until it listens or is dead, and gives its address."""
        async with asyncio.timeout(PATIENCE_S):
            await self._listening.wait()
        return self.url

    def kill_now(self) -> None:
        """SIGKILL, where it is not dead yet. The launcher has not waited for it before it says so: the PID is its own."""
        if not self.ended.is_set():
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    async def kill(self) -> None:
        """The same, and waits for its end."""
        self.kill_now()
        await self.over()

    async def stop(self) -> None:
        """SIGTERM, and a clean end."""
        os.kill(self.pid, signal.SIGTERM)
        await self.over()
        assert self.status == 0, self.status

    async def over(self) -> None:
        """Waits for its end."""
        async with asyncio.timeout(PATIENCE_S):
            await self.ended.wait()
        await self._hearing

    async def _hear(self) -> None:
        assert self._process.stdout is not None
        while not self.ended.is_set():
            word, _, rest = (await self._process.stdout.readline()).decode().strip().partition(" ")
            match word:
                case "started":
                    self.pid = int(rest)
                case "listening":
                    self.url = rest
                    self._listening.set()
                case "died":
                    self.died_at = rest
                case "ended":
                    self.status = int(rest)
                    self._listening.set()
                    self.ended.set()
                case _:
                    raise AssertionError(f"the launcher said {word!r} {rest!r}")


class Launcher:
    """A process that starts one daemon after another."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def start(self, order: Order) -> Life:
        """A daemon. The one before must be dead."""
        assert self._process.stdin is not None
        self._process.stdin.write(msgspec.json.encode(order) + b"\n")
        await self._process.stdin.drain()
        life = Life(self._process)
        await life.begun()
        return life


@asynccontextmanager
async def launching() -> AsyncGenerator[Launcher, None]:
    """A launcher for the length of the block. What it started last may still live: the block's user kills it."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.crash.launcher",
        cwd=ROOT,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdin is not None
    try:
        yield Launcher(process)
    finally:
        process.stdin.close()
        await process.wait()
