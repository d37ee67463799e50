"""Purging in small steps."""

import hashlib

import apsw
import pytest

from tests.daemon.store.opened import Opened, opened, opening, result
from waybread_daemon.store.contract import Facts, FileContent, Record
from waybread_daemon.store.sqlite.purge import Purge
from waybread_daemon.store.sqlite.sizes import Usage
from waybread_daemon.store.sqlite.statements import run, value

__all__ = ["opened"]


class Clock:
    now_ms = 1000

    def __call__(self) -> int:
        return self.now_ms


def fill(opened: Opened, results: int, body: bytes = b"body") -> None:
    opened.batch.write(opened.cursor, [opening(1, 1)])
    opened.batch.write(opened.cursor, [result(n + 1, 1, n, body) for n in range(1, results + 1)])
    opened.batch.write(opened.cursor, [Record(1, results + 2, 1, "deleted", Facts(1), results, "")])


def count(opened: Opened, table: str) -> int:
    return int(value(opened.cursor, f"SELECT count(*) FROM {table}"))


def steps(purge: Purge, opened: Opened) -> int:
    taken = 0
    while purge.wait_ms() == 0:
        purge.step(opened.connection)
        taken += 1
    return taken


def test_a_step_takes_500_rows_at_most(opened: Opened) -> None:
    fill(opened, 1400)
    purge = Purge(Clock(), Usage())
    purge.session_deleted(1)
    left: list[int] = []
    while purge.wait_ms() == 0:
        purge.step(opened.connection)
        left.append(count(opened, "entry"))
    # 1401 entries beside the `deleted` one, then 1400 keys; the last step finds nothing more.
    assert left == [902, 402, 1, 1, 1, 1, 1]
    assert (count(opened, "event"), count(opened, "entry_key")) == (1, 0)
    assert value(opened.cursor, "SELECT state FROM session") == 2
    assert opened.reader.head(1) == 1402


def test_a_step_takes_about_two_mib_of_payloads_at_most(opened: Opened) -> None:
    import random

    noise = random.Random(1)
    opened.batch.write(opened.cursor, [opening(1, 1)])
    for n in range(1, 31):
        opened.batch.write(opened.cursor, [result(n + 1, 1, n, noise.randbytes(200_000))])
    opened.batch.write(opened.cursor, [Record(1, 32, 1, "deleted", Facts(1), 30, "")])
    purge = Purge(Clock(), Usage())
    purge.session_deleted(1)
    purge.step(opened.connection)
    assert count(opened, "entry") == 32 - 12


def test_it_goes_on_after_a_restart_where_it_was(opened: Opened) -> None:
    fill(opened, 1400)
    first = Purge(Clock(), Usage())
    first.session_deleted(1)
    first.step(opened.connection)
    second = Purge(Clock(), Usage())
    assert second.wait_ms() is None
    second.load(opened.connection)
    assert second.wait_ms() == 0
    assert steps(second, opened) == 6
    assert count(opened, "entry") == 1
    third = Purge(Clock(), Usage())
    third.load(opened.connection)
    assert third.wait_ms() is None


def read(seq: int, session: int, number: int, data: bytes) -> Record:
    record = result(seq, session, number, b"")
    sha256 = hashlib.sha256(data).digest()
    record.source, record.contents = sha256, (FileContent(sha256, data),)
    return record


def test_content_stays_for_the_grace_and_goes_at_once_after_a_restart(opened: Opened) -> None:
    opened.batch.write(opened.cursor, [opening(1, 1), opening(2, 2, "b"), read(3, 1, 1, b"x"), read(4, 2, 1, b"y")])
    opened.batch.write(opened.cursor, [Record(1, 5, 1, "deleted", Facts(1), 1, "")])
    clock = Clock()
    purge = Purge(clock, Usage(), grace_ms=60_000)
    purge.session_deleted(1)
    steps(purge, opened)
    assert purge.wait_ms() == 60_000
    clock.now_ms += 59_999
    assert purge.wait_ms() == 1
    purge.step(opened.connection)
    assert count(opened, "content") == 2
    restarted = Purge(clock, Usage(), grace_ms=60_000)
    restarted.load(opened.connection)
    assert steps(restarted, opened) == 1
    assert count(opened, "content") == 1
    clock.now_ms += 1
    assert steps(purge, opened) == 1
    assert count(opened, "content") == 1


def test_large_content_goes_in_steps_and_half_of_it_is_never_found(opened: Opened) -> None:
    sha256 = bytes(32)
    opened.batch.write(opened.cursor, [opening(1, 1)])
    run(opened.cursor, "INSERT INTO content VALUES (1, 1, ?, 2, 9, 9, 9, x'', NULL, 70, 0)", sha256)
    for place in range(70):
        run(opened.cursor, "INSERT INTO chunk VALUES (?, x'00', 0)", 1 << 20 | place)
    run(opened.cursor, "INSERT INTO chunk VALUES (?, x'00', 0)", 2 << 20)
    purge = Purge(Clock(), Usage())
    purge.load(opened.connection)
    left: list[tuple[int, int]] = []
    while purge.wait_ms() == 0:
        purge.step(opened.connection)
        left.append((count(opened, "chunk"), count(opened, "content WHERE state > 0")))
    assert left == [(39, 0), (7, 0), (1, 0), (1, 0)]
    assert count(opened, "content") == 0


def test_a_step_that_fails_is_done_again(opened: Opened) -> None:
    fill(opened, 10)
    purge = Purge(Clock(), Usage())
    purge.session_deleted(1)
    run(opened.cursor, "CREATE TRIGGER t BEFORE DELETE ON entry BEGIN SELECT raise(ABORT, 'broken'); END")
    with pytest.raises(apsw.ConstraintError, match="broken"):
        purge.step(opened.connection)
    run(opened.cursor, "ROLLBACK; DROP TRIGGER t")
    assert steps(purge, opened) == 3
    assert count(opened, "entry") == 1
