import re

import pytest
import segno

from waybread_daemon.cli.qr import QUIET_MODULES, qr_lines

LINE = re.compile(r"\x1b\[38;5;16;48;5;231m([ ▀▄█]+)\x1b\[0m")
MODULES = {" ": (0, 0), "▀": (1, 0), "▄": (0, 1), "█": (1, 1)}
TEXTS = ["http://192.168.1.5:8787/#pair=0123456789ABCDEFGHJKMNPQRS", "https://waybread.example.org/#pair=" + "7" * 90]


def modules(lines: list[str]) -> list[list[int]]:
    """What stands on the screen, dark modules as 1."""
    rows: list[list[int]] = []
    for line in lines:
        match = LINE.fullmatch(line)
        assert match is not None, line
        pairs = [MODULES[block] for block in match[1]]
        rows += [[above for above, _ in pairs], [below for _, below in pairs]]
    return rows


@pytest.mark.parametrize("text", TEXTS)
def test_the_lines_are_the_code_in_black_on_white_whatever_the_terminals_colours(text: str) -> None:
    lines, columns = qr_lines(text)
    shown = modules(lines)
    code = segno.make_qr(text, error="l").matrix
    size = len(code)
    inner = [row[QUIET_MODULES : QUIET_MODULES + size] for row in shown[QUIET_MODULES : QUIET_MODULES + size]]
    assert inner == [list(row) for row in code]
    assert columns == size + 2 * QUIET_MODULES == len(shown[0])


@pytest.mark.parametrize("text", TEXTS)
def test_the_margin_is_light_on_all_sides(text: str) -> None:
    lines, columns = qr_lines(text)
    shown = modules(lines)
    dark = [(y, x) for y, row in enumerate(shown) for x, module in enumerate(row) if module]
    assert min(y for y, _ in dark) == min(x for _, x in dark) == QUIET_MODULES
    assert len(shown) - 1 - max(y for y, _ in dark) >= QUIET_MODULES
    assert columns - 1 - max(x for _, x in dark) == QUIET_MODULES


def test_the_address_of_a_home_server_fits_a_terminal_of_80_columns() -> None:
    fingerprint = "ab" * 32
    _, columns = qr_lines(f"https://waybread.example.org:8787/#pair={'Z' * 26}&fp={fingerprint}")
    assert columns <= 60
