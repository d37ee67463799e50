"""A QR code for a terminal: two rows of modules in a line of text."""

from __future__ import annotations

import segno

QUIET_MODULES = 4
"""The margin that readers need, on each side."""
_BLACK_ON_WHITE = "\x1b[38;5;16;48;5;231m"
"""Said outright, and by numbers that no theme changes: a terminal may be dark or light, and many readers take no negative."""
_PLAIN = "\x1b[0m"
_BLOCKS = {(0, 0): " ", (1, 0): "▀", (0, 1): "▄", (1, 1): "█"}


def qr_lines(text: str) -> tuple[list[str], int]:
    """The lines of a QR code that holds `text`, and how many columns they take."""
    code = segno.make_qr(text, error="l", boost_error=True)
    rows = [list(row) for row in code.matrix_iter(border=QUIET_MODULES)]
    columns = len(rows[0])
    if len(rows) % 2:
        rows.append([0] * columns)
    lines = [
        f"{_BLACK_ON_WHITE}{''.join(_BLOCKS[bool(above), bool(below)] for above, below in zip(*pair, strict=True))}{_PLAIN}"
        for pair in zip(rows[::2], rows[1::2], strict=True)
    ]
    return lines, columns
