r"""Standard output: exact bytes where it is a pipe or a file, harmless text where it is a terminal.

Stored text is what tools printed: escape sequences in it could recolour a terminal, move its cursor, or worse. On a
terminal every control character but newline and tab therefore stands as an escape (`\x1b`), and so do the characters
that break a line or turn its direction unseen (`\u202e`).

A title, a name or an id that stands in a line of our own is no such text: nothing in it may hide, wherever it is printed.
"""

from __future__ import annotations

import json
import os
import re
import sys
import unicodedata
from collections.abc import Generator
from contextlib import contextmanager
from datetime import datetime
from typing import Any, TextIO

import msgspec

from waybread_daemon.cli.faults import CommandFault
from waybread_daemon.hygiene.bracket import one_line

_CONTROLS = [*range(0x20), *range(0x7F, 0xA0)]
_LINE_BREAKS = [0x2028, 0x2029]
_DIRECTIONS = [0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
"""All that has Unicode's property Bidi_Control: text could be shown in another order than it has."""
_UNSEEN = {code: f"\\u{code:04x}" for code in _LINE_BREAKS + _DIRECTIONS}
_IN_TEXT = {code: f"\\x{code:02x}" for code in _CONTROLS if chr(code) not in "\n\t"} | {0x0D: "\\r"} | _UNSEEN
# JSON escapes the others by itself, and knows this form of escape only.
_IN_JSON = {code: f"\\u{code:04x}" for code in range(0x7F, 0xA0)} | _UNSEEN

_HIDDEN = re.compile(
    "[\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff"
    "\uffa0\ufff9-\ufffb\U000e0000-\U000e03ff]"
)
"""What is not seen: as the page marks it, but for control characters and breaks of a line."""
_JOINED = re.compile(
    "(?:ARABIC|SYRIAC|MANDAIC|NKO|MONGOLIAN|DEVANAGARI|BENGALI|GURMUKHI|GUJARATI|ORIYA|TAMIL|TELUGU|KANNADA|MALAYALAM"
    "|SINHALA|KHMER|MYANMAR|JAVANESE) "
)
"""The scripts that need joiners, as the names of their letters begin."""


def harmless(text: str) -> str:
    """`text` with escapes for control characters (not newline and tab), and for unseen breaks and turns of a line."""
    return text if text.isprintable() else text.translate(_IN_TEXT)


def legible(text: str) -> str:
    r"""Outside text that is to stand in a line of our own, on a terminal or not: one line, and nothing in it hides.

    Control characters are escapes, as in brackets, and so is what is invisible or turns the order (`\u202e`). Joiners in
    emoji and between letters of scripts that need them stay, as do variation selectors of emoji.
    """
    return text if text.isprintable() and text.isascii() else _HIDDEN.sub(_seen, one_line(text))


def _seen(match: re.Match[str]) -> str:
    char, text, at = match.group(), match.string, match.start()
    before, after = text[max(at - 1, 0) : at], text[at + 1 : at + 2]
    match char:
        case "\u200c" | "\u200d" if _script(before) == _script(after) != "":
            return char
        case "\u200d" if (_is_sign(before) or before == "\ufe0f") and _is_sign(after):
            return char
        case "\ufe0e" | "\ufe0f" if _is_sign(before) or after == "\u20e3":
            return char
        case _:
            return char.encode("ascii", "backslashreplace").decode()


def _script(letter: str) -> str:
    """The script of a letter, or of a mark on one, that needs joiners; empty where it needs none."""
    is_letter = letter != "" and unicodedata.category(letter)[0] in "LM"
    script = _JOINED.match(unicodedata.name(letter, "")) if is_letter else None
    return "" if script is None else script.group()


def _is_sign(char: str) -> bool:
    """Whether it can be an emoji or a part of one."""
    # Emoji that are newer than this Python have no category of their own yet.
    if "\U0001f000" <= char <= "\U0001faff":
        return True
    return char > "\x7f" and unicodedata.category(char)[0] in "SP"


def clock(at_ms: int) -> str:
    """A time as this machine's clock shows it; `never` for 0."""
    return datetime.fromtimestamp(at_ms / 1000).astimezone().strftime("%Y-%m-%d %H:%M:%S") if at_ms else "never"


def size(size_bytes: int) -> str:
    """A size as a person reads it: `0 B`, `1.5 KiB`, `12 MiB`."""
    value, unit = float(size_bytes), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if value < 1024:
            break
        value, unit = value / 1024, larger
    return f"{value:.0f} {unit}" if unit == "B" or value >= 9.95 else f"{value:.1f} {unit}"


@contextmanager
def reporting(done: str) -> Generator[None]:
    """For the report of what is done. Where standard output takes none of it, the fault says that it is done all the same."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        # What is still buffered would complain again when the process exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise CommandFault(f"{done}; standard output took no report of it ({error.strerror})") from error


class Screen:
    """Where a command prints."""

    def __init__(self, out: TextIO) -> None:
        self.is_terminal = out.isatty()
        self._out = out

    def text(self, text: str) -> None:
        """Prints a text as it is, without a line end of our own."""
        if self.is_terminal:
            self._put(harmless(text).encode(self._out.encoding, "backslashreplace"))
        else:
            # Stored text is UTF-8. A file's name need not be.
            self._put(text.encode("utf-8", "backslashreplace"))

    def line(self, text: str = "") -> None:
        """Prints a text and ends the line."""
        self.text(f"{text}\n")

    def sentence(self, text: str) -> None:
        """Prints a text of our own that may name files or what is stored, so that it stays one line."""
        self.line(legible(text))

    def json(self, value: Any) -> None:
        """Prints an object as one line of JSON."""
        try:
            line = msgspec.json.encode(value).decode()
        except UnicodeEncodeError:
            # A file's name that is not UTF-8: JSON has an escape for what it is in Python.
            line = json.dumps(value, separators=(",", ":"))
        self.line(line.translate(_IN_JSON) if self.is_terminal else line)

    def table(self, rows: list[list[str]]) -> None:
        """Prints rows of cells, the columns one under the other; the last column is as wide as it likes."""
        # Escapes first: they are wider than what they stand for.
        shown = [[harmless(cell) for cell in row] for row in rows] if self.is_terminal else rows
        widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
        for row in shown:
            self.line("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())

    def raw(self, sequence: str) -> None:
        """Prints a control sequence of our own."""
        self._put(sequence.encode())

    def flush(self) -> None:
        """Lets the reader have what was printed."""
        self._out.flush()

    def _put(self, data: bytes) -> None:
        self._out.flush()
        self._out.buffer.write(data)
