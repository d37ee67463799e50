"""The last resort of a stop: the process ends in time, whatever hangs.

Everything that was acknowledged is on the disk already, because an answer leaves after its commit. So a process that
ends in the middle of something loses what nobody was told, and that is sent again with its key.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable

STOP_TIMEOUT_S = 28.0
"""From the first signal on. Half a minute is promised."""
HURRY_TIMEOUT_S = 5.0
"""From the second signal on."""
_LAST_WORDS_S = 0.5


class Guard:
    """A thread that counts down from the first of `stops` on, and ends the process with status 0.

    `last_words` is called before, in a thread of its own: where nobody reads the log, writing to it hangs, too.
    """

    def __init__(
        self,
        stops: queue.SimpleQueue[None],
        last_words: Callable[[], object],
        *,
        stop_timeout_s: float = STOP_TIMEOUT_S,
        hurry_timeout_s: float = HURRY_TIMEOUT_S,
        end: Callable[[int], object] = os._exit,
    ) -> None:
        self._stops = stops
        self._last_words = last_words
        self._stop_timeout_s = stop_timeout_s
        self._hurry_timeout_s = hurry_timeout_s
        self._end = end

    def start(self) -> None:
        """Starts the thread. It ends with the process."""
        threading.Thread(target=self._run, name="stop-guard", daemon=True).start()

    def _run(self) -> None:
        self._stops.get()
        clock = time.monotonic
        deadline = clock() + self._stop_timeout_s
        while (left := deadline - clock()) > 0:
            try:
                self._stops.get(timeout=left)
            except queue.Empty:
                break
            deadline = min(deadline, clock() + self._hurry_timeout_s)
        words = threading.Thread(target=self._last_words, name="last-words", daemon=True)
        words.start()
        words.join(_LAST_WORDS_S)
        self._end(0)
