"""The one thread that writes.

Records wait in a queue; whatever waits goes into one transaction, up to a bound, without waiting for more. Other work
(pieces of large content, accounts, purging) takes its turn between the batches, each in a transaction of its own.

**Generations.** When a commit fails, records behind it in the queue were made in the belief that it would succeed. So
each record carries the generation in which it was appended; a failed commit ends the writer's generation, and what is
still of the old one fails, too. The loop side takes over the new generation when it hears of the failure.
"""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import apsw

from waybread_daemon.store.contract import Done, Record, Staged, StoreFault
from waybread_daemon.store.sqlite.batch import BatchWriter
from waybread_daemon.store.sqlite.checkpoints import LogKeeper, start_over
from waybread_daemon.store.sqlite.connection import BUSY_TIMEOUT_MS, close
from waybread_daemon.store.sqlite.faults import fault_of
from waybread_daemon.store.sqlite.jobs import Job
from waybread_daemon.store.sqlite.tidying import Tidying
from waybread_daemon.watching.counts import StoreCounts

BATCH_RECORDS = 1000
BATCH_BYTES = 2 * 1024 * 1024
_LONGEST_WAIT_S = 1.0
"""A purge that is due later is looked for this often: the clock that it goes by may be set."""

Waiting = tuple[int, Record, Done]
"""A record in the queue, with its generation."""


class Loop(Protocol):
    """What the writer needs of an event loop."""

    def call_soon_threadsafe(self, callback: Callable[..., object], *args: Any) -> object:
        """Calls it in the loop."""
        ...

    def is_closed(self) -> bool:
        """Whether it is at its end."""
        ...


class Listener(Protocol):
    """Hears in the event loop what became of records."""

    def records_settled(self, waiting: list[Waiting], fault: StoreFault | None) -> None:
        """These are durable, or have failed."""
        ...

    def generation_ended(self, generation: int) -> None:
        """A commit failed: `records_settled` follows for it, and for all that is still of an earlier generation."""
        ...


class Writer:
    """See the page. `put` may be called in any thread; `listener` is called in the loop."""

    def __init__(
        self,
        path: Path,
        connect: Callable[[], apsw.Connection],
        batch: BatchWriter,
        tidying: Tidying,
        log: LogKeeper,
        loop: Loop,
        listener: Listener,
        counts: StoreCounts,
    ) -> None:
        self._path = path
        self._connect = connect
        self._batch = batch
        self._tidying = tidying
        self._log = log
        self._loop = loop
        self._listener = listener
        self._counts = counts
        self._queue: queue.SimpleQueue[Waiting | Job[Any] | None] = queue.SimpleQueue()
        self.put = self._queue.put
        self._jobs: deque[Job[Any]] = deque()
        self._generation = 0
        self._fault: StoreFault | None = None
        self._stopping = False
        self._connection: apsw.Connection | None = None
        self._thread = threading.Thread(target=self._run, name="store-writer", daemon=True)

    @property
    def waiting(self) -> int:
        """How much waits: records and other work. To be asked in any thread."""
        return self._queue.qsize() + len(self._jobs)

    def start(self) -> None:
        """Starts the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Lets the thread carry out what waits, and waits for its end. Not in the event loop."""
        self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        try:
            while self._turn():
                pass
        except RuntimeError:
            # The loop was closed without `close`: nobody is left to answer to, and what is committed is committed.
            if not self._loop.is_closed():
                raise
        finally:
            self._let_go()
            with contextlib.suppress(RuntimeError):
                self._tidying.end()

    def _turn(self) -> bool:
        """Whatever waits, or a step of purging; whether there is more to come. Between two turns no record is kept."""
        waiting = self._collect()
        if waiting:
            self._write(waiting)
        if self._jobs:
            self._do(self._jobs.popleft())
        elif not waiting:
            if self._stopping:
                return False
            self._tidy()
        elif self._tidying.overdue():
            self._tidy()
        if self._connection is not None or self._log.cutting:
            self._keep_log_short()
        return True

    def _collect(self) -> list[Waiting]:
        """What waits now, up to a bound. Blocks where nothing waits and there is nothing else to do."""
        waiting: list[Waiting] = []
        size = 0
        try:
            item = self._queue.get(timeout=self._wait_s())
            while True:
                if isinstance(item, tuple):
                    waiting.append(item)
                    size += item[1].raw_bytes
                    if len(waiting) >= BATCH_RECORDS or size >= BATCH_BYTES:
                        break
                elif item is None:
                    self._stopping = True
                else:
                    self._jobs.append(item)
                item = self._queue.get_nowait()
        except queue.Empty:
            pass
        return waiting

    def _wait_s(self) -> float | None:
        if self._jobs or self._stopping:
            return 0
        wait_ms = self._tidying.wait_ms()
        return None if wait_ms is None else min(wait_ms / 1000, _LONGEST_WAIT_S)

    def _write(self, waiting: list[Waiting]) -> None:
        """Records of an ended generation stand before all others: they were appended first."""
        stale = next((at for at, item in enumerate(waiting) if item[0] == self._generation), len(waiting))
        if stale:
            self._give_up(waiting[:stale])
            waiting = waiting[stale:]
        if not waiting:
            return
        begun_s = time.monotonic()
        try:
            cursor = self._open().cursor()
            written = self._batch.write(cursor, [record for _, record, _ in waiting])
        except Exception as error:  # noqa: BLE001 - whatever it was, the caller hears of it and the thread goes on
            self._counts.failed_commits += 1
            self._fault = self._failed(error)
            self._generation += 1
            self._loop.call_soon_threadsafe(self._listener.generation_ended, self._generation)
            self._give_up(waiting)
            return
        self._counts.commit_s.observe(time.monotonic() - begun_s)
        self._counts.batch_records.observe(len(waiting))
        self._counts.raw_bytes += written.raw_bytes
        self._counts.stored_bytes += written.stored_bytes
        self._loop.call_soon_threadsafe(self._listener.records_settled, waiting, None)
        for session in written.sessions:
            self._tidying.session_deleted(session)
        for content in written.contents:
            self._tidying.content_dropped(content)

    def _give_up(self, waiting: list[Waiting]) -> None:
        """These have failed: nobody takes up the contents that were written ahead for them."""
        self._loop.call_soon_threadsafe(self._listener.records_settled, waiting, self._fault)
        for _, record, _ in waiting:
            for data in (record.own, *(content.data for content in record.contents)):
                if isinstance(data, Staged):
                    self._tidying.content_dropped(data.content)

    def _do(self, job: Job[Any]) -> None:
        try:
            succeed = job.run(self._open())
        except Exception as error:  # noqa: BLE001 - the same
            self._loop.call_soon_threadsafe(job.fail, self._failed(error))
        else:
            self._loop.call_soon_threadsafe(succeed)

    def _tidy(self) -> None:
        """A step of tidying. It tries again later where the disk is at fault."""
        try:
            if self._tidying.wait_ms() == 0:
                self._tidying.step(self._open())
        except apsw.Error as error:
            self._tidying.failed(self._failed(error))

    def _keep_log_short(self) -> None:
        try:
            connection = self._open()
            self._log.note(connection)
            if self._log.ready:
                self._log.ready = False
                if start_over(connection, BUSY_TIMEOUT_MS, cut=self._log.cutting):
                    self._log.cutting = False
                else:
                    self._log.check()
        except apsw.Error as error:
            self._failed(error)

    def _open(self) -> apsw.Connection:
        if self._connection is None:
            self._connection = self._connect()
        return self._connection

    def _failed(self, error: Exception) -> StoreFault:
        """The fault to answer with. The next transaction gets a fresh connection: this one's state is unknown."""
        fault = fault_of(error, self._path, self._connection.system_errno if self._connection is not None else 0)
        self._let_go()
        return fault

    def _let_go(self) -> None:
        """Closing rolls back what was not committed."""
        if self._connection is not None:
            close(self._connection)
            self._connection = None
