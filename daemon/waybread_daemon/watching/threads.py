"""A pool of threads that knows how much it has to do."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class CountedThreads(ThreadPoolExecutor):
    """`ThreadPoolExecutor` with `tasks`. For work of some milliseconds: what it adds to each task would show in small ones."""

    def __init__(self, threads: int, name: str) -> None:
        super().__init__(threads, thread_name_prefix=name)
        self._open: set[Future[Any]] = set()

    @property
    def tasks(self) -> int:
        """How many tasks wait or are under way. To be asked in any thread."""
        return len(self._open)

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """As in `ThreadPoolExecutor`."""
        future: Future[T] = super().submit(fn, *args, **kwargs)
        self._open.add(future)
        # Adding to a set and taking from it are whole steps: threads need no lock for them, as they would for a number.
        future.add_done_callback(self._open.discard)
        return future
