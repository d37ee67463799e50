"""Whether a text is a right diff of two contents. Of several right diffs any will do, so cases apply it.

A hunk is read by the numbers of its header. What it says is then held against both contents: a context line has to be
the same line in both, ending included; a removed or an added line has to show the line that stands there; lines that
no hunk covers have to be equal.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

CONTEXT_LINES = 3
NO_NEWLINE = "\\ No newline at end of file"
_HEADER = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


class DiffError(Exception):
    """The text is no right diff of the two contents: `what` says where it goes wrong."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what

    def __str__(self) -> str:
        return self.what


@dataclass
class _Side:
    """One content by its lines, endings included, and the first line that no hunk has reached yet."""

    lines: list[bytes]
    at: int = 0

    def take(self, printed: str, what: str) -> bytes:
        """The next line, which has to be shown as `printed`."""
        if self.at >= len(self.lines):
            raise DiffError(f"{what} line {printed!r:.80} stands after the end of the content")
        line = self.lines[self.at]
        shown = _shown(line, first=self.at == 0)
        if shown != printed:
            raise DiffError(f"{what} line {self.at + 1} is {shown!r:.80}, the diff says {printed!r:.80}")
        self.at += 1
        return line

    def ends_open(self) -> bool:
        """Whether the line just taken has no line end."""
        return not self.lines[self.at - 1].endswith(b"\n")


def split_lines(content: bytes) -> list[bytes]:
    """The lines of a content, endings included. A line ends at LF and at nothing else."""
    pieces = content.split(b"\n")
    lines = [piece + b"\n" for piece in pieces[:-1]]
    return [*lines, pieces[-1]] if pieces[-1] else lines


def check_diff(text: str, before: bytes, after: bytes) -> str:
    """Read the hunks at the start of `text`; what follows them is returned.

    Raises:
        DiffError: there is no hunk, or they do not lead from `before` to `after` by the rules for diffs.

    """
    old, new = _Side(split_lines(before)), _Side(split_lines(after))
    lines = text.split("\n")
    at = 0
    while at < len(lines) and lines[at].startswith("@@ "):
        at = _hunk(lines, at, old, new)
    if at == 0:
        raise DiffError(f"a hunk is wanted, got {text!r:.80}")
    if old.lines[old.at :] != new.lines[new.at :]:
        raise DiffError(f"the lines after the last hunk differ (from line {old.at + 1} of the content before)")
    return "\n".join(["", *lines[at:]]) if at < len(lines) else ""


def _hunk(lines: Sequence[str], at: int, old: _Side, new: _Side) -> int:
    """Check the hunk whose header is line `at`; the answer is the line after it."""
    header = _HEADER.fullmatch(lines[at])
    if header is None or "1" in (header[2], header[4]):
        raise DiffError(f"no right hunk header: {lines[at]!r:.80}")
    old_count, new_count = (int(count) if count is not None else 1 for count in (header[2], header[4]))
    # A side without lines is numbered by the line before it.
    old_start = int(header[1]) - (1 if old_count else 0)
    new_start = int(header[3]) - (1 if new_count else 0)
    if old_start < old.at or old_start > len(old.lines) or old_start - old.at != new_start - new.at:
        raise DiffError(f"the header {lines[at]} does not fit to line {old.at + 1} before, {new.at + 1} after")
    if old.lines[old.at : old_start] != new.lines[new.at : new_start]:
        raise DiffError(f"lines before the hunk {lines[at]} differ, and no hunk shows them")
    old.at, new.at = old_start, new_start

    signs = ""
    at += 1
    while old.at < old_start + old_count or new.at < new_start + new_count:
        if at >= len(lines) or not lines[at]:
            raise DiffError(f"the hunk {header[0]} ends before its lines are complete")
        sign, printed = lines[at][0], lines[at][1:]
        open_ended = _line(sign, printed, old, new)
        signs += sign
        at += 1
        marked = at < len(lines) and lines[at] == NO_NEWLINE
        if marked != open_ended:
            raise DiffError(f"{NO_NEWLINE!r} is {'there' if marked else 'missing'} after {sign}{printed!r:.80}")
        at += marked
    if old.at != old_start + old_count or new.at != new_start + new_count:
        raise DiffError(f"the hunk {header[0]} has other numbers of lines than its header says")
    _check_context(header[0], signs, old_start, len(old.lines) - old.at)
    return at


def _line(sign: str, printed: str, old: _Side, new: _Side) -> bool:
    """Check one line of a hunk; the answer is whether it has no line end."""
    match sign:
        case " ":
            if old.take(printed, "context, before:") != new.take(printed, "context, after:"):
                raise DiffError(f"the context line {printed!r:.80} is not the same before and after")
            return old.ends_open()
        case "-":
            old.take(printed, "removed:")
            return old.ends_open()
        case "+":
            new.take(printed, "added:")
            return new.ends_open()
        case _:
            raise DiffError(f"no line of a hunk: {sign + printed!r:.80}")


def _check_context(header: str, signs: str, lines_ahead: int, lines_left: int) -> None:
    """Three lines of context: fewer only at the file's ends; more only between two changes, and then at most six."""
    changes = signs.strip(" ")
    ahead = len(signs) - len(signs.lstrip(" "))
    behind = len(signs) - len(signs.rstrip(" "))
    if not changes:
        raise DiffError(f"the hunk {header} changes nothing")
    if ahead > CONTEXT_LINES or (ahead < CONTEXT_LINES and lines_ahead > 0):
        raise DiffError(f"the hunk {header} has {ahead} lines of context ahead of its change, not {CONTEXT_LINES}")
    if behind > CONTEXT_LINES or (behind < CONTEXT_LINES and lines_left > 0):
        raise DiffError(f"the hunk {header} has {behind} lines of context behind its change, not {CONTEXT_LINES}")
    if " " * (2 * CONTEXT_LINES + 1) in changes:
        raise DiffError(f"the hunk {header} has more than {2 * CONTEXT_LINES} lines of context between two changes")


def _shown(line: bytes, *, first: bool) -> str:
    """A line as a diff prints it: without its ending and a BOM of the file, bad bytes as U+FFFD."""
    if line.endswith(b"\n"):
        line = line[:-1].removesuffix(b"\r")
    text = line.decode("utf-8", "replace")
    return text.removeprefix("\ufeff") if first else text
