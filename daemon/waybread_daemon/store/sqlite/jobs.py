"""Work for the writing thread besides records, and the way its outcome comes back to the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Generic, TypeVar

import apsw

from waybread_daemon.store.contract import StoreFault
from waybread_daemon.store.sqlite.statements import run

T = TypeVar("T")


class Job(Generic[T]):
    """A transaction of its own. `work` runs in the writing thread; `future` belongs to the event loop."""

    def __init__(self, work: Callable[[apsw.Cursor], T], future: asyncio.Future[T]) -> None:
        self._work = work
        self.future = future

    def run(self, connection: apsw.Connection) -> Callable[[], None]:
        """Carries it out and commits. Gives what is to be called in the loop then. Raises what SQLite raises."""
        cursor = connection.cursor()
        run(cursor, "BEGIN IMMEDIATE")
        result = self._work(cursor)
        run(cursor, "COMMIT")

        def succeed() -> None:
            if not self.future.done():
                self.future.set_result(result)

        return succeed

    def fail(self, fault: StoreFault) -> None:
        """Tells whoever waits, if anyone still does. In the loop."""
        if not self.future.done():
            self.future.set_exception(fault)
