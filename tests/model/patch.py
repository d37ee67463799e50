r"""An independent judge of diffs: whether hunks turn one content into another.

Of several right diffs any will do, so a diff is not compared with another but applied. A diff prints lines without a
`\r` right before the `\n`, without a leading U+FEFF and with U+FFFD for bad UTF-8; so the hunks are fitted to the
printed lines, and what they leave alone must be equal to the byte. `plain_diff` is a slow right diff to stand in where
a model needs one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

HEADER = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
NO_NEWLINE = "\\ No newline at end of file"
CONTEXT_LINES = 3


class MisfitError(Exception):
    """The hunks are malformed or do not fit the content."""


@dataclass(frozen=True)
class PrintedLine:
    text: str
    newline: bool


@dataclass(frozen=True)
class _HunkLine:
    mark: str
    line: PrintedLine


@dataclass(frozen=True)
class _Hunk:
    """A hunk; `before` and `after` are the numbers of lines ahead of it on each side."""

    before: int
    after: int
    lines: list[_HunkLine]


def raw_lines(content: bytes) -> list[bytes]:
    """The lines of a content with their endings."""
    pieces = content.split(b"\n")
    lines = [piece + b"\n" for piece in pieces[:-1]]
    return [*lines, pieces[-1]] if pieces[-1] else lines


def printed(content: bytes) -> list[PrintedLine]:
    """The lines of a content as a diff prints them. A content of U+FEFF alone is one empty line."""
    out: list[PrintedLine] = []
    for index, raw in enumerate(raw_lines(content)):
        newline = raw.endswith(b"\n")
        line = raw[:-1].removesuffix(b"\r") if newline else raw
        if index == 0:
            line = line.removeprefix(b"\xef\xbb\xbf")
        out.append(PrintedLine(line.decode("utf-8", errors="replace"), newline))
    return out


def apply(before: bytes, hunks: str) -> list[PrintedLine]:
    """The printed lines after the hunks. Raises `MisfitError` where they do not fit `before`."""
    old = printed(before)
    return [old[line] if isinstance(line, int) else line for line in _applied(old, hunks)]


def check(before: bytes, after: bytes, hunks: str) -> None:
    """Raise `MisfitError` unless the hunks are a right diff of the two contents with three lines of context."""
    outcome = _applied(printed(before), hunks)
    old, new, new_printed = raw_lines(before), raw_lines(after), printed(after)
    if len(outcome) != len(new):
        raise MisfitError(f"the hunks come to {len(outcome)} lines, the new content has {len(new)}")
    for index, line in enumerate(outcome):
        if isinstance(line, int):
            if old[line] != new[index]:
                raise MisfitError(f"new line {index + 1} differs from old line {line + 1}, which the hunks leave alone")
        elif line != new_printed[index]:
            raise MisfitError(f"new line {index + 1} is {new_printed[index]}, the hunks say {line}")


def _applied(old: list[PrintedLine], hunks: str) -> list[int | PrintedLine]:
    """The new lines in order: the index of an old line that stays, or a line that the hunks add."""
    out: list[int | PrintedLine] = []
    done = 0
    for hunk in _parse(hunks):
        if hunk.before < done:
            raise MisfitError(f"a hunk begins at old line {hunk.before + 1}, the one ahead of it ends with {done}")
        out.extend(range(done, hunk.before))
        if hunk.after != len(out):
            raise MisfitError(f"a hunk says it begins at new line {hunk.after + 1}, it is {len(out) + 1}")
        done = hunk.before
        for entry in hunk.lines:
            if entry.mark == "+":
                out.append(entry.line)
                continue
            if done >= len(old):
                raise MisfitError(f"the hunks go past the old content's {len(old)} lines")
            if old[done] != entry.line:
                raise MisfitError(f"old line {done + 1} is {old[done]}, the hunks say {entry.line}")
            if entry.mark == " ":
                out.append(done)
            done += 1
        _check_context(hunk, old_left=len(old) - done)
    out.extend(range(done, len(old)))
    return out


def _check_context(hunk: _Hunk, old_left: int) -> None:
    """Three unchanged lines stand on either side of a change, fewer only at an end of the file."""
    marks = "".join(entry.mark for entry in hunk.lines)
    leading = len(marks) - len(marks.lstrip(" "))
    trailing = len(marks) - len(marks.rstrip(" "))
    if leading == len(marks):
        raise MisfitError("a hunk changes nothing")
    if leading != min(CONTEXT_LINES, hunk.before + leading):
        raise MisfitError(f"{leading} lines of context stand before the change")
    if trailing != min(CONTEXT_LINES, old_left + trailing):
        raise MisfitError(f"{trailing} lines of context stand after the change")
    if " " * (2 * CONTEXT_LINES + 1) in marks:
        raise MisfitError("changes so far apart belong in two hunks")


def _parse(hunks: str) -> list[_Hunk]:
    if not hunks:
        return []
    lines = hunks.split("\n")
    out: list[_Hunk] = []
    while lines:
        header = lines.pop(0)
        match = HEADER.fullmatch(header)
        if match is None or match[2] == "1" or match[4] == "1":
            raise MisfitError(f"no hunk header: {header!r}")
        old_count = 1 if match[2] is None else int(match[2])
        new_count = 1 if match[4] is None else int(match[4])
        body: list[_HunkLine] = []
        while lines and not lines[0].startswith("@@"):
            body.append(_parse_line(lines))
        if sum(entry.mark != "+" for entry in body) != old_count:
            raise MisfitError(f"the old side does not have the lines that {header!r} says")
        if sum(entry.mark != "-" for entry in body) != new_count:
            raise MisfitError(f"the new side does not have the lines that {header!r} says")
        # A side without lines names the line ahead of it, any other its own first line.
        out.append(_Hunk(int(match[1]) - (old_count > 0), int(match[3]) - (new_count > 0), body))
    return out


def _parse_line(lines: list[str]) -> _HunkLine:
    line = lines.pop(0)
    if line[:1] not in ("+", "-", " ") or line == "":
        raise MisfitError(f"no line of a hunk: {line!r}")
    newline = True
    if lines and lines[0] == NO_NEWLINE:
        lines.pop(0)
        newline = False
    return _HunkLine(line[0], PrintedLine(line[1:], newline))


def plain_diff(before: bytes, after: bytes) -> str:
    """The hunks that turn `before` into `after`, by difflib: right, and slow on large contents."""
    old, new = raw_lines(before), raw_lines(after)
    old_printed, new_printed = printed(before), printed(after)
    out: list[str] = []
    for group in SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(CONTEXT_LINES):
        old_side = _side(group[0][1], group[-1][2])
        new_side = _side(group[0][3], group[-1][4])
        out.append(f"@@ -{old_side} +{new_side} @@")
        for tag, old_from, old_to, new_from, new_to in group:
            if tag == "equal":
                out.extend(_hunk_lines(" ", old_printed[old_from:old_to]))
            else:
                out.extend(_hunk_lines("-", old_printed[old_from:old_to]))
                out.extend(_hunk_lines("+", new_printed[new_from:new_to]))
    return "\n".join(out)


def _side(start: int, stop: int) -> str:
    if stop - start == 1:
        return str(start + 1)
    return f"{start + 1 if stop > start else start},{stop - start}"


def _hunk_lines(mark: str, lines: list[PrintedLine]) -> list[str]:
    out: list[str] = []
    for line in lines:
        out.append(mark + line.text)
        if not line.newline:
            out.append(NO_NEWLINE)
    return out
