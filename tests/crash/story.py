"""A store's lives, one after another: each begins with a look at what the last one left, and ends with a kill."""

from __future__ import annotations

import asyncio
import random
from collections import Counter

from tests.crash.client import Client, lost
from tests.crash.launcher import Order
from tests.crash.ledger import Ledger
from tests.crash.lives import Launcher, Life
from tests.crash.points import ANY, NEVER, Point

AT_RANDOM = "at a random moment"
LONGEST_S = 0.1
"""How long a life under load may take before it is killed."""


class Story:
    """One store through many lives. `kills` counts how they ended."""

    def __init__(self, ledger: Ledger, launcher: Launcher, seed: int) -> None:
        self.ledger = ledger
        self.kills: Counter[str] = Counter()
        self._launcher = launcher
        self._chance = random.Random(seed)

    async def live(self, lives: int, kinds: list[str]) -> None:
        """That many lives, ended at points of these kinds in turn; `NEVER` stands for a random moment."""
        for number in range(lives):
            await self.live_once(self._point(kinds[number % len(kinds)]))

    async def live_once(self, point: Point, *, hasty: bool = False) -> None:
        """One life: the file is looked through, a daemon starts, what it serves is looked at, what was not answered is
        sent again, and under more load it dies.
        """
        await asyncio.to_thread(self.ledger.look_through)
        # Short logs, so that the life of some hundred requests has several checkpoints.
        order = Order(str(self.ledger.data), point=point, pages_between=80, log_limit_bytes=200_000, hasty=hasty)
        life = await self._launcher.start(order)
        try:
            if life.url:
                await self._serve_until_dead(life)
            await life.over()
        finally:
            await life.kill()
        assert life.status == 9, life.status
        self.kills[life.died_at or AT_RANDOM] += 1

    async def end(self) -> None:
        """A last life without a kill: all is there, from its first entry on, and the file is whole."""
        await asyncio.to_thread(self.ledger.look_through, afresh=True)
        life = await self._launcher.start(Order(str(self.ledger.data)))
        try:
            await self.ledger.look_from_outside(life.url)
            async with asyncio.TaskGroup() as tasks:
                for client in self.ledger.clients:
                    client.resent = []
                    tasks.create_task(_send_again(client, life.url))
            self.ledger.check_resent()
            await self.ledger.look_from_outside(life.url)
            await life.stop()
        finally:
            await life.kill()
        await asyncio.to_thread(self.ledger.look_through, afresh=True)

    async def _serve_until_dead(self, life: Life) -> None:
        for client in self.ledger.clients:
            client.resent = []
        working = asyncio.create_task(self._work(life))
        ended = asyncio.create_task(life.ended.wait())
        try:
            await asyncio.wait({working, ended}, return_when=asyncio.FIRST_COMPLETED)
            # A link that was lost says that the daemon is dead, or dying.
            if not working.done() or _is_lost(working):
                await life.over()
        finally:
            for task in (working, ended):
                task.cancel()
            await asyncio.wait({working, ended})
        if not working.cancelled() and not _is_lost(working):
            await working
        self.ledger.check_resent()

    async def _work(self, life: Life) -> None:
        await self.ledger.look_from_outside(life.url)
        all_sent = asyncio.Barrier(len(self.ledger.clients))
        async with asyncio.TaskGroup() as tasks:
            for client in self.ledger.clients:
                tasks.create_task(self._put_under_load(client, life, all_sent))

    async def _put_under_load(self, client: Client, life: Life, all_sent: asyncio.Barrier) -> None:
        async with client.linked(life.url) as wire:
            await client.send_again(wire)
            if await all_sent.wait() == 0:
                self.ledger.check_resent()
                asyncio.get_running_loop().call_later(self._chance.uniform(0.005, LONGEST_S), life.kill_now)
            await client.work(wire)

    def _point(self, kind: str) -> Point:
        """Some calls come up hundreds of times in a life, others a few times."""
        if kind == NEVER:
            return Point()
        often = {ANY: 150, "write log": 150, "write database": 40, "sync log": 30}.get(
            kind.partition(" ")[2] or kind, 3
        )
        return Point(
            kind,
            self._chance.randint(1, often),
            self._chance.choice(["nothing", "all", "some"]),
            self._chance.randrange(2**32),
        )


async def _send_again(client: Client, url: str) -> None:
    async with client.linked(url) as wire:
        await client.send_again(wire)


def _is_lost(task: asyncio.Task[None]) -> bool:
    """Whether a task ended because its link was lost."""
    fault = None if task.cancelled() else task.exception()
    return fault is not None and lost(fault)
