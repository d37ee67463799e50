"""Ids: numbers in hex, and what names one."""

import pytest

from waybread_daemon.hygiene.ids import bare_argument, result_id, result_number


@pytest.mark.parametrize(
    "number, text",
    [(1, "#0001"), (10, "#000a"), (18, "#0012"), (65535, "#ffff"), (65536, "#10000"), (2**40, "#10000000000")],
)
def test_an_id_is_a_number_sign_and_at_least_four_lower_case_hex_digits(number: int, text: str) -> None:
    assert result_id(number) == text
    assert result_number(text) == number


@pytest.mark.parametrize(
    "argument", ["#0020", "0020", "20", "#20", " #20 ", "\t\n\v\f\r20\r", "#0000000000000000000020"]
)
def test_the_number_decides_however_it_is_written(argument: str) -> None:
    assert result_number(argument) == 32


@pytest.mark.parametrize("argument", ["#ABCD", "#abcd", "AbCd"])
def test_upper_and_lower_case_are_the_same(argument: str) -> None:
    assert result_number(argument) == 0xABCD


@pytest.mark.parametrize(
    "argument",
    [
        "",
        "#",
        "##1",
        "# 1",
        "1 2",
        "0x1",
        "-1",
        "+1",
        "1.",
        "g",
        "1_0",
        "١",
        "１",
        "\u00a01",
        "\x001",
        "1\u2028",
        "f" * 14,
    ],
)
def test_what_is_no_id_names_nothing(argument: str) -> None:
    assert result_number(argument) == 0


@pytest.mark.parametrize("argument", ["0", "#0000", "000000000000000000000000"])
def test_zero_is_never_given(argument: str) -> None:
    assert result_number(argument) == 0


def test_a_bare_argument_has_lost_its_spaces_and_one_number_sign() -> None:
    assert bare_argument(" \t##12 ") == "#12"
    assert bare_argument("# 12") == " 12"
    assert bare_argument("\u00a0x\u2003") == "\u00a0x\u2003"
