"""Order within a session: requests are carried out one after another, and most of them without a task of their own."""

from __future__ import annotations

import asyncio
import types
from collections import deque
from collections.abc import Callable, Coroutine, Generator
from typing import Any

Work = Callable[[], Coroutine[Any, Any, None]]


class Lane:
    """Runs work in the order in which it was submitted. Work handles its own errors: what it raises is a fault here."""

    def __init__(self) -> None:
        self._waiting: deque[Work] = deque()
        self._task: asyncio.Task[None] | None = None

    @property
    def idle(self) -> bool:
        """Whether nothing is under way or waiting."""
        return self._task is None and not self._waiting

    def submit(self, work: Work) -> None:
        """Runs `work` now where the lane is idle, as far as it goes without waiting; else in its turn."""
        if self.idle:
            self._run(work)
        else:
            self._waiting.append(work)

    def _run(self, work: Work) -> None:
        self._task = start(work())
        if self._task is not None:
            self._task.add_done_callback(self._go_on)

    def _go_on(self, task: asyncio.Task[None]) -> None:
        self._task = None
        while self._waiting and self._task is None:
            self._run(self._waiting.popleft())
        if not task.cancelled() and (fault := task.exception()) is not None:
            raise fault


def start(coroutine: Coroutine[Any, Any, None]) -> asyncio.Task[None] | None:
    """Runs a coroutine until it first waits. None where it is done by then, else a task that goes on with it.

    Making a task for each request would take a third of the rate at which small results come in. (From Python 3.12 on an
    eager task does the same.)
    """
    try:
        waiting_for = coroutine.send(None)
    except StopIteration:
        return None
    return asyncio.get_running_loop().create_task(_go_on_with(coroutine, waiting_for))


async def _go_on_with(coroutine: Coroutine[Any, Any, None], waiting_for: object) -> None:
    await _resumed(coroutine, waiting_for)


@types.coroutine
def _resumed(coroutine: Coroutine[Any, Any, None], waiting_for: object) -> Generator[Any, Any, None]:
    while True:
        fault: BaseException | None = None
        try:
            sent = yield waiting_for
        except BaseException as thrown:  # noqa: BLE001  # a cancellation and all others belong to the coroutine
            fault, sent = thrown, None
        try:
            waiting_for = coroutine.send(sent) if fault is None else coroutine.throw(fault)
        except StopIteration:
            return
