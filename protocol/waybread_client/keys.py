"""Keys: a fresh random one for each thing that is done, so that it can be sent again without being done twice."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable

_RANDOM_BITS = 80
_MS_BITS = 48


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


class Keys:
    """Makes keys of 32 hex digits: 48 bits of time in milliseconds, then 80 random bits.

    Each is greater than the one before it, also within a millisecond and where the clock goes back, so that a store that
    keeps them in order appends. Threads may share one. `now_ms` and `random_bits` are given by tests.
    """

    def __init__(
        self, now_ms: Callable[[], int] = _now_ms, random_bits: Callable[[int], int] = secrets.randbits
    ) -> None:
        self._now_ms = now_ms
        self._random_bits = random_bits
        self._last = 0
        self._lock = threading.Lock()

    def new(self) -> str:
        """A key that was never given before."""
        with self._lock:
            at_ms = self._now_ms() & ((1 << _MS_BITS) - 1)
            key = at_ms << _RANDOM_BITS | self._random_bits(_RANDOM_BITS)
            if key <= self._last:
                # A random step, so that nobody guesses the next key from this one.
                key = self._last + 1 + self._random_bits(_RANDOM_BITS // 2)
            self._last = key
        return f"{key:032x}"
