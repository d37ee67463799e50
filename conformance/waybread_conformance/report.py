"""What the runner prints: each case that differs, expected and got side by side, and the counts at the end."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import TextIO

from waybread_conformance.context_runner import Outcome
from waybread_conformance.expect import Difference

COLUMN_CHARS = 64
LINES_AHEAD = 2
LINES_SHOWN = 8


@dataclass
class Counts:
    """How many cases (each in each form) passed, failed, or were passed over wholly or in part."""

    passed: int = 0
    failed: int = 0
    passed_over: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.passed + other.passed, self.failed + other.failed, self.passed_over + other.passed_over)

    def __str__(self) -> str:
        over = f" ({self.passed_over} passed over in whole or in part)" if self.passed_over else ""
        return f"{self.passed} passed, {self.failed} failed{over}"


def report(outcomes: Iterable[Outcome], out: TextIO) -> Counts:
    """Print every failure as it comes; the counts are for the caller to print at the end."""
    counts = Counts()
    for outcome in outcomes:
        if not outcome.passed:
            counts.failed += 1
            _print_failure(outcome, out)
            continue
        counts.passed_over += bool(outcome.passed_over)
        # An outcome without a form was passed over before its first step: it shows nothing.
        counts.passed += bool(outcome.form)
    return counts


def _print_failure(outcome: Outcome, out: TextIO) -> None:
    form = f" ({outcome.form})" if outcome.form else ""
    print(f"FAILED {outcome.case}{form}", file=out)
    if outcome.at:
        step = {name: value for name, value in outcome.step.items() if name != "expect"}
        text = _visible(json.dumps(step, ensure_ascii=False, default=repr))
        print(f"  step {outcome.at}: {_short(text, 160)}", file=out)
    for difference in outcome.differences:
        print(f"  {difference.field}: {_visible(difference.why or 'differs')}", file=out)
        for line in side_by_side(difference):
            print(f"    {line}", file=out)


def side_by_side(difference: Difference) -> list[str]:
    """Two columns, expected left and got right: the lines around the first one that differs."""
    expected, got = _lines(difference.expected), _lines(difference.got)
    pairs = list(zip_longest(expected, got))
    first = next((at for at, (left, right) in enumerate(pairs) if left != right), len(pairs))
    start = max(0, first - LINES_AHEAD)
    rows = [f"  {'expected':{COLUMN_CHARS}} | got"]
    for at, (left, right) in enumerate(pairs[start : start + LINES_SHOWN], start=start + 1):
        shown_left, shown_right = _around(left, right)
        mark = " " if left == right else ">"
        rows.append(f"{mark} {shown_left:{COLUMN_CHARS}} | {shown_right}".rstrip())
        if at == start + LINES_SHOWN and at < len(pairs):
            rows.append(f"  … {len(pairs) - at} more lines")
    if start:
        rows.insert(1, f"  … {start} equal lines")
    return rows


def _around(left: str | None, right: str | None) -> tuple[str, str]:
    """Both lines, cut to the column around the first character that differs."""
    if left is None or right is None:
        return _cell(left, 0), _cell(right, 0)
    differs = next((at for at, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), 0)
    start = max(0, differs - COLUMN_CHARS // 2) if max(len(left), len(right)) > COLUMN_CHARS else 0
    return _cell(left, start), _cell(right, start)


def _cell(line: str | None, start: int) -> str:
    if line is None:
        return "(no line)"
    text = ("…" if start else "") + line[start:]
    return _short(text, COLUMN_CHARS)


def _short(text: str, chars: int) -> str:
    return text if len(text) <= chars else text[: chars - 1] + "…"


def _lines(value: object) -> list[str]:
    """A value as lines that a terminal shows: what cannot be seen is escaped."""
    if isinstance(value, str):
        return [_visible(line) for line in value.split("\n")]
    if isinstance(value, Mapping | list):
        # JSON by itself escapes the first 32 characters only.
        text = json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True, default=repr)
        return [_visible(line) for line in text.split("\n")]
    return [json.dumps(value, default=repr)]


def _visible(line: str) -> str:
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode() for character in line
    )
