"""What the writing thread does when nothing waits, in its order; and who is told."""

from __future__ import annotations

import time

import pytest

from tests.daemon.store.opened import Opened, opened, opening, result
from waybread_daemon.store.contract import Facts, Record, StoreFault
from waybread_daemon.store.sqlite.checkpoints import LogKeeper
from waybread_daemon.store.sqlite.connection import connect_writer
from waybread_daemon.store.sqlite.purge import Purge
from waybread_daemon.store.sqlite.shrink import Shrink
from waybread_daemon.store.sqlite.sizes import Usage
from waybread_daemon.store.sqlite.statements import run
from waybread_daemon.store.sqlite.tidying import Tidying
from waybread_protocol.errors import ErrorCode

__all__ = ["opened"]


class Tidied:
    """All of it, around one store; the log is never really cut."""

    def __init__(self, opened: Opened) -> None:
        self.opened = opened
        self.log = LogKeeper(lambda: connect_writer(opened.path, None))
        self.shrink = Shrink()
        self.now_ms = 1000
        self.tidying = Tidying(Purge(lambda: self.now_ms, Usage(), 60_000), self.shrink, self.log)
        self.told: list[StoreFault | None] = []

    def wait(self, *, skip_grace: bool = False) -> None:
        self.tidying.tell_when_tidy(self.told.append, skip_grace=skip_grace)

    def steps(self) -> int:
        taken = 0
        while self.tidying.wait_ms() == 0:
            self.tidying.step(self.opened.connection)
            taken += 1
        return taken

    def delete_a_session(self, results: int = 300) -> None:
        write = self.opened.batch.write
        write(self.opened.cursor, [opening(1, 1), *[result(n + 1, 1, n, bytes(50)) for n in range(1, results + 1)]])
        write(self.opened.cursor, [Record(1, results + 2, 1, "deleted", Facts(1), results, "")])
        self.tidying.session_deleted(1)


@pytest.fixture
def tidied(opened: Opened) -> Tidied:
    return Tidied(opened)


def test_where_nothing_is_to_be_done_there_is_nothing_to_wait_for_and_whoever_asks_is_told(tidied: Tidied) -> None:
    assert tidied.tidying.wait_ms() is None
    tidied.wait()
    assert tidied.tidying.wait_ms() == 0
    assert tidied.steps() == 1
    assert tidied.told == [None]


def test_purging_comes_before_shrinking_and_cutting_the_log_comes_last(tidied: Tidied) -> None:
    tidied.delete_a_session()
    tidied.wait()
    tidied.steps()
    assert not tidied.shrink.due()
    # The file became shorter, so the log is to be cut; that is another thread's work first.
    assert tidied.log.cutting
    assert tidied.told == []
    assert tidied.tidying.wait_ms() == 50
    tidied.log.cutting = False
    tidied.steps()
    assert tidied.told == [None]
    assert tidied.tidying.wait_ms() is None


def test_content_in_its_grace_keeps_whoever_waits_waiting_unless_it_is_skipped(tidied: Tidied) -> None:
    tidied.delete_a_session()
    cursor = tidied.opened.cursor
    run(cursor, "INSERT INTO content VALUES (9, 1, x'09', 1, 1, 1, 1, x'', x'00', 0, 0)")
    run(cursor, "INSERT INTO holding VALUES (9, 1)")
    tidied.wait()
    tidied.steps()
    tidied.log.cutting = False
    assert tidied.tidying.wait_ms() == 60_000
    assert tidied.told == []
    tidied.wait(skip_grace=True)
    tidied.steps()
    tidied.log.cutting = False
    tidied.steps()
    assert tidied.told == [None, None]


def test_after_a_step_that_failed_whoever_waits_is_told_and_the_next_comes_later(tidied: Tidied) -> None:
    tidied.delete_a_session()
    tidied.wait()
    fault = StoreFault(ErrorCode.STORAGE_FULL, "full")
    tidied.tidying.failed(fault)
    assert tidied.told == [fault]
    assert 9_000 < (tidied.tidying.wait_ms() or 0) <= 10_000
    assert not tidied.tidying.overdue()
    tidied.wait()
    assert tidied.tidying.wait_ms() == 0


def test_who_still_waits_at_the_end_is_told_that_it_is_not_done(tidied: Tidied) -> None:
    tidied.delete_a_session()
    tidied.wait()
    tidied.tidying.end()
    (fault,) = tidied.told
    assert fault is not None
    assert fault.sentence == "The store was closed meanwhile; the rest is done at the next start."


def test_a_busy_writer_takes_a_step_every_quarter_of_a_second(tidied: Tidied, monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = [100.0]
    assert not tidied.tidying.overdue()
    tidied.delete_a_session()
    monkeypatch.setattr(time, "monotonic", lambda: now_s[0])
    assert tidied.tidying.overdue()
    tidied.tidying.step(tidied.opened.connection)
    assert not tidied.tidying.overdue()
    now_s[0] += 0.25
    assert tidied.tidying.overdue()
