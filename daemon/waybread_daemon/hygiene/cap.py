"""Large output keeps its head and its tail (section 3)."""

from __future__ import annotations

import bisect
import itertools
from typing import NamedTuple

from waybread_daemon.hygiene.ids import result_id
from waybread_daemon.hygiene.lines import count_chars, count_lines
from waybread_protocol.loop import CONTEXT

_UTF8_MOST_BYTES = 4
_SLACK_BYTES = 8
"""More than a character cut in two at the border of a region, so that a region always holds a character too many."""


class Capped(NamedTuple):
    """Where a body is cut, in bytes: `body[:head_end]`, the elided line, `body[tail_start:]`.

    `tail_start` is the line end before the tail's first line. `first_cut`: the head is the beginning of a first line
    that is too long. `elided`: the whole lines of which nothing is shown.
    """

    head_end: int
    first_cut: bool
    elided: int
    tail_start: int

    def middle(self, number: int) -> str:
        """What stands between head and tail of result `number`."""
        texts = CONTEXT.texts
        line = texts.elided.format(lines=self.elided, result=result_id(number))
        return f"{texts.cut if self.first_cut else ''}\n{line}"


def cap(body: bytes) -> Capped | None:
    """Where to cut `body` (valid UTF-8), None where it is small enough to be shown whole."""
    numbers = CONTEXT.cap
    lines = count_lines(body)
    if lines <= numbers.max_lines and (len(body) <= numbers.max_chars or count_chars(body) <= numbers.max_chars):
        return None
    end = len(body) - body.endswith(b"\n")
    head_lines, head_end = _head(body, end)
    shown = max(head_lines, 1)
    tail_lines, tail_start = _tail(body, end, lines - shown)
    return Capped(head_end, head_lines == 0, lines - shown - tail_lines, tail_start)


def _head(body: bytes, end: int) -> tuple[int, int]:
    """Whole lines of the head and where it ends; 0 lines where the first one is too long and is cut."""
    numbers = CONTEXT.cap
    region = body[: min(end, numbers.head_chars * _UTF8_MOST_BYTES + _SLACK_BYTES)]
    text = region.decode("utf-8", "ignore")
    kept = _fitting(text.split("\n", numbers.head_lines), numbers.head_lines, numbers.head_chars)
    shown = "\n".join(kept) if kept else text[: numbers.head_chars]
    return len(kept), len(shown.encode())


def _tail(body: bytes, end: int, most_lines: int) -> tuple[int, int]:
    """Whole lines of the tail, `most_lines` at most, and where the line end before them is."""
    numbers = CONTEXT.cap
    region = body[max(0, end - numbers.tail_chars * _UTF8_MOST_BYTES - _SLACK_BYTES) : end]
    text = region.decode("utf-8", "ignore")
    most_lines = min(numbers.tail_lines, most_lines)
    kept = _fitting(text.rsplit("\n", most_lines)[::-1], most_lines, numbers.tail_chars) if most_lines else []
    if not kept:
        return 0, len(body)
    return len(kept), end - len("\n".join(kept).encode()) - 1


def _fitting(lines: list[str], most_lines: int, most_chars: int) -> list[str]:
    """The first of `lines` whose text joined fits. A line cut by its region's border never fits: see `_SLACK_BYTES`."""
    ends = list(itertools.accumulate(map(len, lines[:most_lines])))
    # Joined, the first n lines have n - 1 line ends between them.
    return lines[: bisect.bisect_right(range(len(ends)), most_chars, key=lambda index: ends[index] + index)]
