r"""Lines end at `\n` and at nothing else; a character is one code point."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from waybread_daemon.hygiene.lines import (
    BOM,
    count_chars,
    count_file_lines,
    count_lines,
    cut_lines,
    numbered,
    shown_range,
    without_last_ending,
)

CONTENTS = st.lists(
    st.sampled_from(
        [b"\n", b"\r", b"\r\n", b"a", "é€😀".encode(), BOM, b"\xff", b"\xe2\x82", "\u2028\x85\x0c".encode()]
    ),
    max_size=30,
).map(b"".join)


@pytest.mark.parametrize(
    "data, lines",
    [
        (b"", 0),
        (b"\n", 1),
        (b"a", 1),
        (b"a\nb", 2),
        (b"a\nb\n", 2),
        (b"\n\n", 2),
        (b"a\rb\x0b\x0c", 1),
        ("a\u0085\u2028\u2029b".encode(), 1),
        (b"a\r\nb", 2),
    ],
)
def test_lines_end_at_a_newline_and_at_nothing_else(data: bytes, lines: int) -> None:
    assert count_lines(data) == lines


@pytest.mark.parametrize(
    "data, lines", [(BOM, 0), (BOM + b"\n", 1), (BOM + BOM, 1), (b"a" + BOM, 1), (BOM + b"a\nb", 2)]
)
def test_one_leading_byte_order_mark_of_a_file_is_no_part_of_a_line(data: bytes, lines: int) -> None:
    assert count_file_lines(data) == lines


@given(st.text())
def test_characters_are_code_points(text: str) -> None:
    assert count_chars(text.encode()) == len(text)


def test_characters_of_a_large_text_are_counted_across_its_pieces() -> None:
    assert count_chars("é€😀x".encode() * 100_000) == 400_000


@pytest.mark.parametrize(
    "offset, limit, lines, shown",
    [
        (1, 2000, 340, (1, 340)),
        (1, 2000, 2000, (1, 2000)),
        (1, 2000, 2001, (1, 2000)),
        (50, 31, 340, (50, 80)),
        (340, 5, 340, (340, 340)),
        (341, 1, 340, None),
        (0, 1, 5, (1, 1)),
        (-7, 2, 5, (1, 2)),
        (2, 0, 5, (2, 5)),
        (2, -1, 5000, (2, 2001)),
        (2, 2001, 5000, (2, 2001)),
        (2**53, 1, 5, None),
    ],
)
def test_the_range_shown(offset: int, limit: int, lines: int, shown: tuple[int, int] | None) -> None:
    assert shown_range(offset, limit, lines, 2000) == shown


@given(CONTENTS, st.lists(st.integers(1, 8), min_size=1, max_size=12))
def test_pieces_of_lines_join_to_the_whole(data: bytes, sizes: list[int]) -> None:
    joined, first = b"", 1
    for size in sizes:
        piece = cut_lines(data, first, first + size - 1)
        assert count_lines(piece) == max(0, min(size, count_lines(data) - first + 1))
        joined, first = joined + piece, first + size
    assert data.startswith(joined)
    assert joined + cut_lines(data, first, count_lines(data)) == data


@given(CONTENTS, st.integers(1, 40))
def test_one_line_is_what_stands_between_two_newlines(data: bytes, number: int) -> None:
    lines = re.findall(rb"[^\n]*\n|[^\n]+", data)
    assert cut_lines(data, number, number) == (lines[number - 1] if number <= len(lines) else b"")


def test_lines_past_the_end_are_not_there() -> None:
    assert cut_lines(b"a\nb", 3, 9) == b""
    assert cut_lines(b"a\nb\n", 2, 9) == b"b\n"
    assert cut_lines(b"", 1, 1) == b""


def test_one_last_ending_is_taken_away_and_no_carriage_return() -> None:
    assert without_last_ending(b"a\n\n") == b"a\n"
    assert without_last_ending(b"a\r\n") == b"a\r"
    assert without_last_ending(b"a") == b"a"


@pytest.mark.parametrize(
    "data, first, shown",
    [
        (b"", 1, ""),
        (b"a\nb\n", 1, "1: a\n2: b"),
        (b"a\nb", 9, "9: a\n10: b"),
        (b"\n", 1, "1: "),
        (b"\n\n", 1, "1: \n2: "),
        (b"a\r\nb\rc\r", 1, "1: a\n2: b\rc\r"),
        (b"a\r\r\n", 1, "1: a\r"),
        (b"\r\n", 5, "5: "),
        (BOM + b"a\n", 1, "1: a"),
        (BOM + BOM + b"a", 1, "1: \ufeffa"),
        (BOM + b"a", 2, "2: \ufeffa"),
        (BOM, 1, ""),
        (b"a\xffb", 1, "1: a\ufffdb"),
        (b"\xe2\x82\nx", 1, "1: \ufffd\n2: x"),
        (b"\xf0\x9f\x98\xf0\x9f\x98\x80", 1, "1: \ufffd\U0001f600"),
        (b"\xed\xa0\x80", 1, "1: \ufffd\ufffd\ufffd"),
        (b"\xc0\xaf\xfe", 1, "1: \ufffd\ufffd\ufffd"),
        ("\x0c\u2028\u0085".encode(), 3, "3: \x0c\u2028\u0085"),
    ],
)
def test_lines_of_a_file_are_shown_behind_their_numbers(data: bytes, first: int, shown: str) -> None:
    assert numbered(data, first) == shown


@given(CONTENTS, st.integers(1, 10_000))
@example(b"a\r\n", 1)
def test_every_line_is_shown_once_behind_its_own_number(data: bytes, first: int) -> None:
    content = data.removeprefix(BOM) if first == 1 else data
    shown = numbered(data, first)
    if not content:
        assert shown == ""
        return
    lines = [line.decode("utf-8", "replace") for line in content.removesuffix(b"\n").split(b"\n")]
    ended = [*[True] * (len(lines) - 1), content.endswith(b"\n")]
    wanted = [line.removesuffix("\r") if end else line for line, end in zip(lines, ended, strict=True)]
    assert shown.split("\n") == [f"{number}: {line}" for number, line in enumerate(wanted, first)]


@given(CONTENTS, st.integers(1, 5), st.integers(0, 5))
def test_the_lines_of_a_window_are_shown_as_those_of_the_whole(data: bytes, first: int, more: int) -> None:
    whole = numbered(data, 1).split("\n") if count_file_lines(data) else []
    window = cut_lines(data, first, first + more)
    if first > len(whole):
        return
    assert numbered(window, first).split("\n") == whole[first - 1 : first + more]
