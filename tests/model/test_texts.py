from __future__ import annotations

import pytest

from tests.model.texts import (
    canonical,
    capped,
    escape,
    file_lines,
    id_of,
    is_over,
    number_of,
    split_lines,
    split_pieces,
)


@pytest.mark.parametrize(
    "text, lines",
    [
        ("", []),
        ("a\nb", ["a", "b"]),
        ("a\nb\n", ["a", "b"]),
        ("\n", [""]),
        ("a\n\n", ["a", ""]),
        ("a\rb\vc\fd\u0085e\u2028f\u2029g", ["a\rb\vc\fd\u0085e\u2028f\u2029g"]),
    ],
)
def test_a_line_ends_at_a_newline_and_at_nothing_else(text: str, lines: list[str]) -> None:
    assert split_lines(text) == lines


def test_pieces_join_to_the_text() -> None:
    assert split_pieces("a\r\n\nb") == ["a\r\n", "\n", "b"]


@pytest.mark.parametrize(
    "content, lines",
    [
        (b"\xef\xbb\xbf", []),
        (b"\xef\xbb\xbf\n", [""]),
        (b"\xef\xbb\xbf\xef\xbb\xbfa", ["\ufeffa"]),
        (b"a\n\xef\xbb\xbfb", ["a", "\ufeffb"]),
        (b"a\r\nb\r\n", ["a", "b"]),
        (b"a\r\r\nb\r", ["a\r", "b\r"]),
        (b"a\rb\n", ["a\rb"]),
    ],
)
def test_a_file_shows_no_leading_bom_and_no_carriage_return_of_a_line_ending(content: bytes, lines: list[str]) -> None:
    assert file_lines(content) == lines


@pytest.mark.parametrize(
    "content, line",
    [
        (b"\xff", "\ufffd"),
        (b"\xc3", "\ufffd"),
        (b"\xe2\x82", "\ufffd"),
        (b"\xe2\x82A", "\ufffdA"),
        (b"\xf0\x9f\x98", "\ufffd"),
        (b"\xc0\xaf", "\ufffd\ufffd"),
        (b"\xed\xa0\x80", "\ufffd\ufffd\ufffd"),
        (b"\xf4\x90\x80\x80", "\ufffd\ufffd\ufffd\ufffd"),
        (b"a\xf1\x80\x80\xe1\x80\xc2b\x80c", "a\ufffd\ufffd\ufffdb\ufffdc"),
    ],
)
def test_each_maximal_subpart_of_bad_utf8_is_one_replacement_character(content: bytes, line: str) -> None:
    assert file_lines(content) == [line]


@pytest.mark.parametrize(
    "text, escaped",
    [
        ("a\nb\rc\td", r"a\nb\rc\td"),
        ("\0\x1b\x1f\x7f", r"\x00\x1b\x1f\x7f"),
        ("\x80\x85\x9f\xa0", "\\x80\\x85\\x9f\xa0"),
        ("\u2028\u2029\u202a", "\\u2028\\u2029\u202a"),
        ("back\\slash | 😀", "back\\slash | 😀"),
    ],
)
def test_control_characters_are_escaped_and_nothing_else(text: str, escaped: str) -> None:
    assert escape(text) == escaped


@pytest.mark.parametrize(
    "number, result", [(1, "#0001"), (10, "#000a"), (65535, "#ffff"), (65536, "#10000"), (0xABCDEF, "#abcdef")]
)
def test_an_id_is_lower_case_hex_of_at_least_four_digits(number: int, result: str) -> None:
    assert id_of(number) == result


@pytest.mark.parametrize("argument", ["#0020", "0020", "20", "#20", " #20\t", "\v\f20\r\n", "#00000000000000020"])
def test_every_spelling_of_an_id_is_the_same_number(argument: str) -> None:
    assert number_of(argument) == 32


def test_upper_and_lower_case_digits_are_the_same_number() -> None:
    assert number_of("#AbC") == number_of("0aBc") == 0xABC


@pytest.mark.parametrize("argument", ["", "#", "##20", "# 20", "0x20", "-1", "2_0", "g1", "２", "\u00a020"])
def test_what_is_no_id_has_no_number(argument: str) -> None:
    assert number_of(argument) is None


@pytest.mark.parametrize(
    "args, text",
    [
        ({}, "{}"),
        ({"b": {"d": 1, "c": [{"y": 2, "x": 1}]}, "a": None}, '{"a":null,"b":{"c":[{"x":1,"y":2}],"d":1}}'),
        ({"n": 1.0, "m": -0.0, "k": 1e3, "h": 0.5}, '{"h":0.5,"k":1000,"m":0,"n":1}'),
        ({"yes": True, "text": "ü"}, '{"text":"ü","yes":true}'),
    ],
)
def test_arguments_are_spelled_with_sorted_keys_no_spaces_and_whole_numbers(args: dict[str, object], text: str) -> None:
    assert canonical(args) == text


def test_400_lines_of_40000_characters_in_all_are_not_over() -> None:
    assert is_over(("x" * 99 + "\n") * 400) is False


def test_401_lines_are_over() -> None:
    assert is_over("\n" * 401) is True


def test_40001_characters_are_over_and_a_final_newline_is_one() -> None:
    assert is_over("x" * 40_000) is False
    assert is_over("x" * 40_000 + "\n") is True


def test_characters_are_code_points() -> None:
    assert is_over("😀" * 40_000) is False


def test_head_is_200_lines_and_tail_100() -> None:
    lines = [str(n) for n in range(1, 402)]
    head, tail = "\n".join(lines[:200]), "\n".join(lines[301:])
    assert capped("\n".join(lines), "#0020") == f"{head}\n[101 lines elided, full output #0020]\n{tail}"


def test_a_final_newline_stays_at_the_end_of_the_tail() -> None:
    text = capped("a\n" * 401, "#0001")
    assert text == "a\n" * 200 + "[101 lines elided, full output #0001]\n" + "a\n" * 100


def test_an_empty_last_line_is_kept_in_the_tail() -> None:
    text = capped("\n" * 401, "#0001")
    assert text == "\n" * 200 + "[101 lines elided, full output #0001]\n" + "\n" * 100


def test_the_head_holds_exactly_20000_characters_joined() -> None:
    lines = ["h" * 10_000, "i" * 9_999, "", "t" * 30_000]
    text = capped("\n".join(lines), "#0001")
    assert text == "h" * 10_000 + "\n" + "i" * 9_999 + "\n[2 lines elided, full output #0001]"


def test_the_tail_holds_exactly_10000_characters_joined_without_the_final_newline() -> None:
    lines = ["h", "m" * 40_000, "t" * 5_000, "u" * 4_999]
    text = capped("\n".join(lines) + "\n", "#0001")
    assert text == "h\n[1 lines elided, full output #0001]\n" + "t" * 5_000 + "\n" + "u" * 4_999 + "\n"


def test_a_tail_line_one_character_too_long_is_left_out() -> None:
    lines = ["h", "m" * 40_000, "t" * 5_000, "u" * 5_000]
    text = capped("\n".join(lines), "#0001")
    assert text == "h\n[2 lines elided, full output #0001]\n" + "u" * 5_000


def test_a_last_line_that_does_not_fit_leaves_the_answer_ending_with_the_elided_line() -> None:
    text = capped("a\nb\n" + "z" * 40_000 + "\n", "#0001")
    assert text == "a\nb\n[1 lines elided, full output #0001]"


def test_a_first_line_of_20000_characters_is_whole() -> None:
    text = capped("f" * 20_000 + "\n" + "z" * 20_000, "#0001")
    assert text == "f" * 20_000 + "\n[1 lines elided, full output #0001]"


def test_a_first_line_too_long_is_cut_and_counts_as_shown() -> None:
    text = capped("f" * 45_000 + "\na\nb\n", "#0001")
    assert text == "f" * 20_000 + "[…cut]\n[0 lines elided, full output #0001]\na\nb\n"


def test_one_giant_line_alone_ends_with_zero_lines_elided() -> None:
    text = capped("f" * 45_000 + "\n", "#0001")
    assert text == "f" * 20_000 + "[…cut]\n[0 lines elided, full output #0001]"


def test_after_a_cut_first_line_the_head_is_over() -> None:
    lines = ["f" * 20_001] + ["x"] * 150
    lines[1] = "y" * 20_000
    text = capped("\n".join(lines), "#0001")
    assert text == "f" * 20_000 + "[…cut]\n[50 lines elided, full output #0001]" + "\nx" * 100
