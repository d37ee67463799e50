"""What stands in a text: lines, escapes, ids, windows, the cap and the compaction table.

Part of the plain model. Every number and every text is written out here on purpose and nothing of the product is
imported, so that a mistake there cannot repeat itself here. Clear before fast.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import cast

from tests.model.answers import ReadRow

BOM_BYTES = b"\xef\xbb\xbf"
SPACES = "\t\n\v\f\r "
HEX_DIGITS = "0123456789abcdefABCDEF"
TABLE_HEAD: tuple[str, ...] = (
    "## Files read before this summary",
    "",
    "Read a file again for its content; recall shows a result by its id.",
    "",
    "| Path | Lines | sha | Result |",
    "|---|---|---|---|",
)


@dataclass(frozen=True)
class Window:
    """The lines asked for, from `first` to `last`, counted from 1; `last` may lie before `first` past the end."""

    first: int
    last: int


def split_lines(text: str) -> list[str]:
    r"""The lines of a text without their `\n`; nothing else ends a line, and a final `\n` starts no other."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines


def split_pieces(text: str) -> list[str]:
    r"""The lines of a text with their `\n`, so that joined they are the text again."""
    lines = split_lines(text)
    pieces = [line + "\n" for line in lines]
    if pieces and not text.endswith("\n"):
        pieces[-1] = lines[-1]
    return pieces


def file_lines(content: bytes) -> list[str]:
    r"""The lines of a file as a read shows them: no leading U+FEFF, no `\r` right before a `\n`."""
    text = content.removeprefix(BOM_BYTES)
    shown: list[str] = []
    for piece in split_pieces(text.decode("utf-8", errors="replace")):
        if piece.endswith("\r\n"):
            shown.append(piece[:-2])
        elif piece.endswith("\n"):
            shown.append(piece[:-1])
        else:
            shown.append(piece)
    return shown


def numbered(lines: list[str], window: Window) -> str:
    """The lines of the window as a read shows them."""
    return "\n".join(f"{number}: {lines[number - 1]}" for number in range(window.first, window.last + 1))


def window_of(offset: int, limit: int, lines: int) -> Window:
    """What an offset and a limit come to in a text of so many lines."""
    offset = max(offset, 1)
    if limit < 1 or limit > 2000:
        limit = 2000
    return Window(offset, min(offset + limit - 1, lines))


def escape(text: str) -> str:
    """Text from outside, fit to stand in one line."""
    out = ""
    for character in text:
        code = ord(character)
        if character == "\n":
            out += "\\n"
        elif character == "\r":
            out += "\\r"
        elif character == "\t":
            out += "\\t"
        elif code <= 0x1F or 0x7F <= code <= 0x9F:
            out += f"\\x{code:02x}"
        elif code in (0x2028, 0x2029):
            out += f"\\u{code:04x}"
        else:
            out += character
    return out


def id_of(number: int) -> str:
    return f"#{number:04x}"


def bare_id(argument: str) -> str:
    """An id as a caller wrote it, without the spaces around and without one `#`."""
    return argument.strip(SPACES).removeprefix("#")


def number_of(argument: str) -> int | None:
    """The number that an id stands for, however it is spelled; None if it is no id."""
    digits = bare_id(argument)
    if digits == "" or any(digit not in HEX_DIGITS for digit in digits):
        return None
    return int(digits, 16)


def sha256_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def canonical(args: dict[str, object]) -> str:
    """The one spelling in which two calls' arguments are compared."""
    return json.dumps(_whole_numbers(args), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _whole_numbers(value: object) -> object:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: _whole_numbers(item) for key, item in cast("dict[str, object]", value).items()}
    if isinstance(value, list):
        return [_whole_numbers(item) for item in cast("list[object]", value)]
    return value


def is_over(body: str) -> bool:
    return len(split_lines(body)) > 400 or len(body) > 40_000


def whole_lines(lines: list[str], most_lines: int, most_chars: int) -> list[str]:
    """The most lines from the start that stay within both limits when they are joined."""
    taken: list[str] = []
    for line in lines:
        if len(taken) == most_lines or len("\n".join([*taken, line])) > most_chars:
            break
        taken.append(line)
    return taken


def capped(body: str, result: str) -> str:
    """The head, the elided line and the tail of a body that is over the cap."""
    lines = split_lines(body)
    head = [lines[0][:20_000] + "[…cut]"] if len(lines[0]) > 20_000 else whole_lines(lines, 200, 20_000)
    rest = lines[len(head) :]
    tail = whole_lines(rest[::-1], 100, 10_000)[::-1]
    elided = len(rest) - len(tail)
    text = "\n".join([*head, f"[{elided} lines elided, full output {result}]", *tail])
    if tail and body.endswith("\n"):
        text += "\n"
    return text


def under_bracket(bracket: str, body: str) -> str:
    """A bracket and what follows it; nothing follows where there is nothing to show."""
    return f"{bracket}\n{body}" if body else bracket


def table_of(rows: list[ReadRow]) -> str:
    """The table that a compaction adds after its summary; empty text without rows."""
    if not rows:
        return ""
    out = list(TABLE_HEAD)
    for row in rows:
        path = escape(row.path).replace("|", "\\|")
        extent = f"{row.first}-{row.last} of {row.lines}" if row.lines else "empty"
        out.append(f"| {path} | {extent} | {row.sha256[:8]} | {row.result} |")
    return "\n".join(out)
