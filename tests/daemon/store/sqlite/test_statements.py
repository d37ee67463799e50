"""One statement for many rows."""

import apsw
import pytest

from waybread_daemon.store.sqlite.statements import ForRows, run, value

INSERT = ForRows("INSERT INTO t (a, b) VALUES {rows}", 2)
FIND = ForRows("SELECT b FROM t WHERE a IN (VALUES {rows})", 1)


@pytest.fixture
def cursor() -> apsw.Cursor:
    cursor = apsw.Connection(":memory:").cursor()
    run(cursor, "CREATE TABLE t (a, b)")
    return cursor


@pytest.mark.parametrize("rows", [0, 1, 2, 3, 255, 256, 257, 511, 1000])
def test_every_row_is_written_once_and_in_order(cursor: apsw.Cursor, rows: int) -> None:
    INSERT.run(cursor, [part for n in range(rows) for part in (n, f"b{n}")])
    assert run(cursor, "SELECT a, b FROM t ORDER BY rowid") == [(n, f"b{n}") for n in range(rows)]


@pytest.mark.parametrize("rows", [1, 3, 256, 600])
def test_what_it_returns_is_joined(cursor: apsw.Cursor, rows: int) -> None:
    INSERT.run(cursor, [part for n in range(1000) for part in (n, -n)])
    found = FIND.run(cursor, list(range(rows)))
    assert sorted(found) == sorted((-n,) for n in range(rows))


def test_a_value_is_the_only_one(cursor: apsw.Cursor) -> None:
    assert value(cursor, "SELECT ? + 1", 41) == 42
    with pytest.raises(ValueError, match="not enough values to unpack"):
        value(cursor, "SELECT a FROM t")
