"""What the demo prints: each answer as the model sees it, and what went in against what came out."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

from waybread_daemon.cli.screen import Screen
from waybread_protocol.loop import CONTEXT

LINES_SHOWN = 12
FIRST_LINES = 7
LAST_LINES = 3
LINE_CHARS = 140
HEAD_CHARS = 400
"""A bracket and its sentence are shown whole."""
PARAGRAPH_CHARS = 116
_ELIDED = CONTEXT.texts.elided.partition("{lines}")[2].partition("{result}")[0]
_BOLD, _FAINT, _PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[0m"


@dataclass
class Sum:
    """Characters that tools sent, and those that went to the model."""

    sent: int = 0
    given: int = 0


class Show:
    """Prints the story and keeps the sums, one a group of tools. Colours on a terminal only."""

    def __init__(self, screen: Screen, *, colors: bool) -> None:
        self._screen = screen
        self._colors = colors and screen.is_terminal
        self._sums: dict[str, Sum] = {}
        self._after_answer = False

    def chapter(self, title: str) -> None:
        """A heading."""
        self._screen.line()
        self._styled(_BOLD, f"== {title} ==")
        self._after_answer = False

    def say(self, text: str) -> None:
        """A paragraph."""
        if self._after_answer:
            self._screen.line()
        self._screen.line(textwrap.fill(text, PARAGRAPH_CHARS, break_long_words=False, break_on_hyphens=False))

    def answer(self, group: str, asked: str, sent_chars: int, text: str) -> None:
        """What a tool was asked, what the model gets for it, and the characters of both."""
        tally = self._sums.setdefault(group, Sum())
        tally.sent += sent_chars
        tally.given += len(text)
        self._screen.line()
        self._styled(_BOLD, f"> {asked}")
        self.quote(text)
        self._styled(_FAINT, f"  tool: {sent_chars:,} characters -> model: {len(text):,}")
        self._screen.flush()
        self._after_answer = True

    def quote(self, text: str) -> None:
        """A text for the model. A long one is shortened, on this screen only."""
        lines = text.split("\n")
        shown = list(range(len(lines)))
        if len(lines) > LINES_SHOWN:
            middle = [at for at, line in enumerate(lines) if _ELIDED in line and line.startswith("[")]
            shown = sorted({*range(FIRST_LINES), *middle, *range(len(lines) - LAST_LINES, len(lines))})
        before = -1
        for at in shown:
            if at > before + 1:
                self._styled(_FAINT, f"  : ({at - before - 1} lines are left out on this screen only)")
            self._screen.line(f"  | {_narrow(lines[at], LINE_CHARS if at else HEAD_CHARS)}".rstrip())
            before = at

    def sums(self) -> None:
        """The table of what went in and what came out."""
        rows = [(group, one.sent, one.given) for group, one in self._sums.items()]
        rows.append(("in all", sum(row[1] for row in rows), sum(row[2] for row in rows)))
        self._screen.line(f"{'characters':40}{'from tools':>14}{'to the model':>14}{'saved':>14}")
        for group, sent, given in rows:
            self._screen.line(f"{group:40}{sent:>14,}{given:>14,}{sent - given:>14,}")

    def _styled(self, style: str, text: str) -> None:
        if self._colors:
            # The screen makes control characters harmless, ours too: so the style goes around it.
            self._screen.raw(style)
        self._screen.text(text)
        if self._colors:
            self._screen.raw(_PLAIN)
        self._screen.line()


def _narrow(line: str, limit_chars: int) -> str:
    return line if len(line) <= limit_chars else f"{line[:limit_chars]}… (+{len(line) - limit_chars})"
