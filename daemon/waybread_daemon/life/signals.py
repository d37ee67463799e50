"""SIGTERM, SIGINT and SIGHUP, from the first moment to the last.

The handlers are Python's own and not the event loop's: they work before there is a loop, while the store is opened, and
while the loop hangs. They only take a note. Whoever waits for it is told in the loop.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import signal
from types import FrameType, TracebackType
from typing import Any, Self

_STOP = (signal.SIGTERM, signal.SIGINT)
_ALL = (*_STOP, signal.SIGHUP)


class Signals:
    """What the process was told to do. To be made and installed in the main thread.

    `stop` is set by the first SIGTERM or SIGINT, `hurry` by the second, `reload` by SIGHUP; whoever acts on `reload`
    clears it. They belong to the loop that `attach` was called in.
    """

    def __init__(self) -> None:
        self.stop = asyncio.Event()
        self.hurry = asyncio.Event()
        self.reload = asyncio.Event()
        self.stops: queue.SimpleQueue[None] = queue.SimpleQueue()
        """One item for each SIGTERM and SIGINT, for a thread that waits for them. This queue may be filled in a handler."""
        self._stops = 0
        self._reload = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._before: dict[signal.Signals, Any] = {}

    def install(self) -> None:
        """From now on the process neither dies of these signals nor raises for them."""
        if not self._before:
            self._before = {number: signal.signal(number, self._note) for number in _ALL}

    def __enter__(self) -> Self:
        """Installs the handlers, for the length of the block where they are not installed already."""
        self._lent = not self._before
        self.install()
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self._loop = None
        if self._lent:
            for number, handler in self._before.items():
                signal.signal(number, handler)
            self._before = {}

    def attach(self) -> None:
        """Tells the running loop from now on, and what came before at once."""
        self._loop = asyncio.get_running_loop()
        self._tell()

    @staticmethod
    def shut() -> None:
        """The process is about to exit: what is still sent to it must not change its status.

        While Python ends it takes its handlers down, so the signals are held back instead.
        """
        signal.pthread_sigmask(signal.SIG_BLOCK, _ALL)

    def _note(self, number: int, _: FrameType | None) -> None:
        if number in _STOP:
            self._stops += 1
            self.stops.put(None)
        else:
            self._reload = True
        if self._loop is not None:
            # It is closed where the process is about to end anyway.
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._tell)

    def _tell(self) -> None:
        if self._reload:
            self._reload = False
            self.reload.set()
        if self._stops:
            self.stop.set()
        if self._stops > 1:
            self.hurry.set()
