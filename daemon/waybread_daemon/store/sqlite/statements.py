"""Statements over many rows: a batch goes to SQLite in a few calls, because each call hands the interpreter's lock over.

The number of rows of a call is a power of two: so few different statements come up that all of them stay prepared.
Preparing one for the exact number of rows of each batch took longer than the rows themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import apsw

_MOST_ROWS = 256

Values = list[Any]
"""The columns of all rows, one behind the other."""

Rows = list[tuple[Any, ...]]


def run(cursor: apsw.Cursor, sql: str, *values: float | str | bytes | None) -> Rows:
    """Carries a statement out to its end and gives the rows that it returns."""
    return _execute(cursor, sql, values)


def value(cursor: apsw.Cursor, sql: str, *values: float | str | bytes | None) -> Any:
    """The only column of the only row."""
    ((only,),) = _execute(cursor, sql, values)
    return only


def _execute(cursor: apsw.Cursor, sql: str, values: Sequence[Any]) -> Rows:
    # The types that come with apsw name one that Python 3.11 has not, so a checker knows none of them.
    untyped: Any = cursor
    rows: Rows = untyped.execute(sql, values).fetchall()
    return rows


class ForRows:
    """A statement in which `{rows}` stands for rows of `columns` values each."""

    def __init__(self, sql: str, columns: int) -> None:
        self._columns = columns
        row = f"({', '.join('?' * columns)})"
        self._sql: dict[int, str] = {}
        rows = _MOST_ROWS
        while rows:
            self._sql[rows] = sql.replace("{rows}", ", ".join([row] * rows))
            rows //= 2

    def run(self, cursor: apsw.Cursor, values: Values) -> Rows:
        """Carries it out for all rows; gives what it returns, where it returns rows."""
        at, left = 0, len(values) // self._columns
        if left in self._sql:
            return _execute(cursor, self._sql[left], values)
        returned: Rows = []
        for rows, sql in self._sql.items():
            while left >= rows:
                end = at + rows * self._columns
                returned += _execute(cursor, sql, values[at:end])
                at, left = end, left - rows
        return returned
