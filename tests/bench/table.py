"""The rows, and the table that they make."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from tests.bench.figures import Figure
from tests.bench.room import Room
from tests.bench.rows import diffs, disk, echo, idle, large, page, rates, rules, sessions, starts, syncing

ROWS: dict[str, Callable[[Room], list[Figure]]] = {
    "one_at_a_time": rates.one_at_a_time,
    "pipelined": rates.pipelined,
    "connections": rates.connections,
    "read_by_hash": rates.read_by_hash,
    "read_rules": rules.read_rules,
    "cap_rules": rules.cap_rules,
    "insert_long": sessions.insert_long,
    "restart": sessions.restart,
    "recall_large": large.recall_large,
    "neighbours": large.neighbours,
    "diffs": diffs.diffs,
    "idle_memory": idle.idle_memory,
    "disk": disk.disk,
    "sync": syncing.sync,
    "start": starts.start,
    "help": starts.help_text,
    "echo": echo.echo,
    "page": page.page,
}
"""Every row by its name, in the order of the table."""

_HEAD = ("figure", "measured", "target", "")


def table(figures: list[Figure]) -> str:
    """The figures as text, the numbers behind each under it."""
    cells = [(figure.what, figure.result, figure.bound, figure.verdict) for figure in figures]
    widths = [max(len(row[column]) for row in (_HEAD, *cells)) for column in range(4)]
    lines = [_line(_HEAD, widths), "  ".join("-" * width for width in widths)]
    for figure, row in zip(figures, cells, strict=True):
        lines.append(_line(row, widths))
        lines += [f"    {words}" for words in _details(figure)]
    return "\n".join(lines)


def _line(row: tuple[str, str, str, str], widths: list[int]) -> str:
    what, measured, target, verdict = row
    return f"{what:{widths[0]}}  {measured:>{widths[1]}}  {target:>{widths[2]}}  {verdict}".rstrip()


def _details(figure: Figure) -> list[str]:
    if figure.skipped:
        return [figure.skipped]
    return [f"{name}: {_words(value)}" for name, value in figure.raw.items()]


def _words(value: object) -> str:
    if isinstance(value, dict):
        plain: dict[str, object] = msgspec.convert(value, dict[str, object])
        return f"{plain['median']}  {plain['rounds']}" if "median" in plain else str(plain)
    return str(value)
