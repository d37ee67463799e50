"""A figure that costs a look into the store, and is therefore looked up once in a while, however often it is asked for."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError
from typing import Any, Generic, TypeVar

T = TypeVar("T")

KEPT_S = 10.0
PATIENCE_S = 2.0
"""A loop that is held up, or a store that does not answer, must not keep the other figures back."""


class Cache(Generic[T]):
    """What `look` gave lately. `look` runs in `loop`; `get` is for other threads."""

    def __init__(
        self,
        look: Callable[[], Coroutine[Any, Any, T]],
        loop: asyncio.AbstractEventLoop,
        *,
        kept_s: float = KEPT_S,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self._look = look
        self._loop = loop
        self._kept_s = kept_s
        self._patience_s = patience_s
        self._lock = threading.Lock()
        self._value: T | None = None
        self._until_s = 0.0

    def get(self) -> T | None:
        """The figure, no older than `kept_s`; None where it cannot be had just now."""
        with self._lock:
            if time.monotonic() >= self._until_s:
                self._value = self._fresh()
                self._until_s = time.monotonic() + self._kept_s
            return self._value

    def _fresh(self) -> T | None:
        looking = self._look()
        try:
            future = asyncio.run_coroutine_threadsafe(looking, self._loop)
        except RuntimeError:
            # The loop is at its end.
            looking.close()
            return None
        try:
            return future.result(self._patience_s)
        except (Exception, CancelledError):  # noqa: BLE001  # whatever it is: that a figure is missing tells of it
            future.cancel()
            return None
