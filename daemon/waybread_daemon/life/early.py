"""Signals before the daemon has handlers of its own: nothing is under way yet, so the process may end on the spot.

Nothing here needs more than `os` and `signal`, so that it stands before anything else is imported.
"""

from __future__ import annotations

import os
import signal
from types import FrameType


def end_at_once() -> None:
    """From now on SIGTERM and SIGINT end the process with status 0, whatever it waits for, and SIGHUP does nothing.

    For the time until `Signals` takes over. (Without a handler a process that is the first of its container would hear
    none of them.) A file system that hangs in the kernel keeps the process all the same: then only SIGKILL ends it.
    """
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _end)


def _end(_: int, __: FrameType | None) -> None:
    # No exception: where one is swallowed the process would go on.
    os._exit(0)
