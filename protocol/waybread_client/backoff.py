"""How long to wait before the next try."""

from __future__ import annotations

import random as chance
from collections.abc import Callable

BASE_S = 0.5
CAP_S = 30.0


class Backoff:
    """Exponential backoff with full jitter: the wait is anything from nothing up to a bound that doubles each time.

    The jitter keeps many clients of one daemon from coming back all at once. `random` gives a number from 0 up to 1.
    """

    def __init__(
        self, base_s: float = BASE_S, cap_s: float = CAP_S, *, random: Callable[[], float] = chance.random
    ) -> None:
        self.base_s = base_s
        self.cap_s = cap_s
        self.random = random
        self._bound_s = base_s

    def next_s(self) -> float:
        """The next wait, in seconds."""
        bound_s = self._bound_s
        self._bound_s = min(self.cap_s, bound_s * 2)
        return min(self.cap_s, bound_s) * self.random()

    def reset(self) -> None:
        """Begins anew: what was tried has held."""
        self._bound_s = self.base_s

    def fresh(self) -> Backoff:
        """Another one with the same bounds, at its beginning."""
        return Backoff(self.base_s, self.cap_s, random=self.random)
