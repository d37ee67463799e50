"""What a command that may take minutes says meanwhile: one line on standard error that is written over, on a terminal only."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import NoReturn

_EVERY_S = 0.1
_CLEAR = "\r\x1b[K"


class Shown:
    """A `Progress` of the store's: what is being done, and how much of it is done in a hundred."""

    def __init__(self) -> None:
        self._on = sys.stderr.isatty()
        self._what = ""
        self._next_s = 0.0

    def __call__(self, what: str, done: int, all_: int) -> None:
        """Shows it, at most some times a second."""
        now_s = time.monotonic()
        if not self._on or (what == self._what and now_s < self._next_s):
            return
        self._what, self._next_s = what, now_s + _EVERY_S
        share = f" {100 * done // all_} %" if all_ else " ..."
        sys.stderr.write(f"{_CLEAR}{what}{share}")
        sys.stderr.flush()

    def clear(self) -> None:
        """Takes the line away, so that another can be printed."""
        if self._on and self._what:
            self._what = ""
            sys.stderr.write(_CLEAR)
            sys.stderr.flush()


@contextmanager
def showing() -> Generator[Shown]:
    """Shows progress within the block. SIGTERM and SIGHUP end the block as Ctrl-C does: it takes away what it had begun."""
    before = {number: signal.signal(number, _interrupt) for number in (signal.SIGTERM, signal.SIGHUP)}
    shown = Shown()
    try:
        yield shown
    finally:
        shown.clear()
        for number, handler in before.items():
            signal.signal(number, handler)


def _interrupt(*_: object) -> NoReturn:
    raise KeyboardInterrupt
