"""Looks use the indexes: none reads more as the store grows."""

import random
from collections.abc import Callable
from typing import Any

import apsw
import pytest

from tests.daemon.store.opened import Opened, opened, opening, result
from waybread_daemon.store.contract import Reader, Record
from waybread_daemon.store.sqlite.statements import run, value

__all__ = ["opened"]

LOOKS: dict[str, Callable[[Reader], object]] = {
    "head": lambda reader: reader.head(1),
    "session": lambda reader: reader.session(1, "a"),
    "events": lambda reader: reader.events(1),
    "turn": lambda reader: reader.turn(1, "turn"),
    "keyed": lambda reader: reader.keyed(1, "key-000000001"),
    "result": lambda reader: reader.result(1, 1),
    "entry": lambda reader: reader.entry(1, 1),
    "rows": lambda reader: reader.rows(1, 0, None, 9),
    "rows of a session": lambda reader: reader.rows(1, 0, 1, 9),
    "rows before": lambda reader: reader.rows_before(1, 0, 9),
    "content": lambda reader: reader.content(1, b"x"),
    "token": lambda reader: reader.token("x"),
}


@pytest.mark.parametrize("name", LOOKS)
def test_a_look_searches_and_neither_scans_nor_sorts(opened: Opened, name: str) -> None:
    opened.batch.write(opened.cursor, [opening(1, 1), result(2, 1, 1)])
    statements: list[str] = []
    looking: Any = opened.looking

    def note(event: dict[str, str]) -> None:
        statements.append(event["sql"])

    looking.trace_v2(apsw.SQLITE_TRACE_STMT, note)
    LOOKS[name](opened.reader)
    looking.trace_v2(0, None)
    assert statements
    for sql in statements:
        values = [0] * sql.count("?")
        plan = [row[3] for row in run(opened.cursor, "EXPLAIN QUERY PLAN " + sql, *values)]
        assert [step for step in plan if step.startswith("SCAN") and not step.endswith("session_to_purge")] == []
        assert [step for step in plan if "B-TREE" in step or "AUTOMATIC" in step] == []


def test_a_snapshot_ends_where_the_look_raises(opened: Opened) -> None:
    def fail() -> None:
        with opened.reader.snapshot():
            opened.reader.head(1)
            raise KeyError

    for _ in range(2):
        with pytest.raises(KeyError):
            fail()
    opened.batch.write(opened.cursor, [opening(1, 1)])
    assert opened.reader.head(1) == 1


def test_a_snapshot_stays_as_it_was_at_its_first_look(opened: Opened) -> None:
    with opened.reader.snapshot():
        assert opened.reader.head(1) == 0
        opened.batch.write(opened.cursor, [opening(1, 1)])
        assert opened.reader.head(1) == 0
    assert opened.reader.head(1) == 1


def pages_read(connection: apsw.Connection) -> int:
    return connection.status(apsw.SQLITE_DBSTATUS_CACHE_MISS, True)[0]


def test_loading_a_session_reads_few_pages_however_large_its_results_are(opened: Opened) -> None:
    noise = random.Random(1)
    opened.batch.write(opened.cursor, [opening(1, 1)])
    for start in range(1, 1001, 50):
        batch: list[Record] = [result(n + 1, 1, n, noise.randbytes(8000)) for n in range(start, start + 50)]
        opened.batch.write(opened.cursor, batch)
    pages_read(opened.looking)
    assert len(opened.reader.events(1)) == 1000
    assert pages_read(opened.looking) < 40
    assert value(opened.cursor, "PRAGMA page_count") > 2000


def test_numbers_that_are_none_find_nothing(opened: Opened) -> None:
    opened.batch.write(opened.cursor, [opening(1, 1), result(2, 1, 1)])
    assert opened.reader.session(2, "a") is None
    assert opened.reader.sessions(1, 1, 9) == []
    assert opened.reader.rows(1, 2, None, 9) == []
    assert opened.reader.rows(1, 0, 9, 9) == []
    assert opened.reader.rows(1, 0, None, 0) == []
    assert opened.reader.rows_before(9, 0, 9) == []
    assert opened.reader.events(9) == []
