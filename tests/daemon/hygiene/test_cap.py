"""The cap: head, elided line, tail."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from waybread_daemon.hygiene.cap import Capped, cap

LINE = "x" * 99


def capped_text(body: str, number: int = 32) -> str | None:
    """What is shown of a body, None where it is shown whole."""
    data = body.encode()
    found = cap(data)
    if found is None:
        return None
    return data[: found.head_end].decode() + found.middle(number) + data[found.tail_start :].decode()


@pytest.mark.parametrize(
    "body",
    [
        "",
        "\n",
        "a\n" * 400,
        "a\n" * 399 + "a",
        "x" * 40_000,
        "x" * 39_999 + "\n",
        "é" * 40_000,
        "😀" * 39_999 + "\n",
        ("x" * 99 + "\n") * 400,
    ],
)
def test_400_lines_of_40000_characters_in_all_are_left_alone(body: str) -> None:
    assert cap(body.encode()) is None


def test_one_line_more_keeps_200_lines_and_100() -> None:
    lines = [f"{number}" for number in range(1, 402)]
    wanted = "\n".join([*lines[:200], "[101 lines elided, full output #0020]", *lines[301:]])
    assert capped_text("\n".join(lines)) == wanted
    assert capped_text("\n".join(lines) + "\n") == wanted + "\n"


def test_one_character_more_keeps_what_fits_of_20000_and_10000() -> None:
    body = (LINE + "\n") * 400 + "x"
    # 200 lines of 99 and 199 ends are 19,999 characters; the tail holds its last line and 99 before it.
    wanted = "\n".join([LINE] * 200 + ["[101 lines elided, full output #0020]"] + [LINE] * 99 + ["x"])
    assert capped_text(body) == wanted


@pytest.mark.parametrize(
    "length, head_lines, tail_lines",
    [(199, 100, 50), (200, 99, 49), (9_999, 2, 1), (10_000, 1, 1), (10_001, 1, 0), (19_999, 1, 0), (20_000, 1, 0)],
)
def test_as_many_whole_lines_as_fit_are_shown(length: int, head_lines: int, tail_lines: int) -> None:
    line = "é" * length
    count = 600 if length < 1000 else 9
    elided = count - head_lines - tail_lines
    wanted = [line] * head_lines + [f"[{elided} lines elided, full output #0020]"] + [line] * tail_lines
    ending = "\n" if tail_lines else ""
    assert capped_text("\n".join([line] * count) + "\n") == "\n".join(wanted) + ending


@pytest.mark.parametrize("letter", ["x", "é", "€", "😀"])
@pytest.mark.parametrize("ending", ["", "\n"])
def test_one_line_too_long_is_cut_and_the_elided_line_counts_nothing(letter: str, ending: str) -> None:
    shown = capped_text(letter * 40_001 + ending)
    assert shown == letter * 20_000 + "[…cut]\n[0 lines elided, full output #0020]"


def test_a_first_line_too_long_counts_as_shown_and_the_tail_follows() -> None:
    body = "y" * 50_000 + "\na\nb\n"
    assert capped_text(body) == "y" * 20_000 + "[…cut]\n[0 lines elided, full output #0020]\na\nb\n"


def test_a_first_line_of_20001_is_cut_and_one_of_20000_is_not() -> None:
    rest = "\n" + "z" * 30_000
    assert capped_text("y" * 20_001 + rest) == "y" * 20_000 + "[…cut]\n[1 lines elided, full output #0020]"
    assert capped_text("y" * 20_000 + rest) == "y" * 20_000 + "\n[1 lines elided, full output #0020]"


def test_a_last_line_that_does_not_fit_leaves_the_tail_empty_with_its_final_newline_too() -> None:
    head = "\n".join(["a"] * 200)
    for ending in ("", "\n"):
        body = "a\n" * 450 + "z" * 10_001 + ending
        assert capped_text(body) == head + "\n[251 lines elided, full output #0020]"
    fits = "a\n" * 300 + "a\n" * 150 + "z" * 10_000
    assert capped_text(fits) == head + "\n[250 lines elided, full output #0020]\n" + "z" * 10_000


def test_empty_lines_are_lines() -> None:
    assert capped_text("\n" * 401) == "\n" * 199 + "\n[101 lines elided, full output #0020]\n" + "\n" * 100


def test_a_line_of_nothing_at_the_end_is_the_tails() -> None:
    body = "y" * 50_000 + "\n\n"
    assert capped_text(body) == "y" * 20_000 + "[…cut]\n[0 lines elided, full output #0020]\n\n"


def test_head_and_tail_never_share_a_line() -> None:
    body = "\n".join(["w" * 19_000, "v" * 9_000, "u" * 19_000])
    assert capped_text(body) == "w" * 19_000 + "\n[2 lines elided, full output #0020]"
    body = "\n".join(["w" * 39_000, "v" * 900, "u" * 200])
    assert capped_text(body) == (
        "w" * 20_000 + "[…cut]\n[0 lines elided, full output #0020]\n" + "v" * 900 + "\n" + "u" * 200
    )


def test_the_id_is_the_results_own() -> None:
    found = cap(b"a\n" * 500)
    assert found is not None
    assert found.middle(0x1234) == "\n[200 lines elided, full output #1234]"
    assert Capped(1, first_cut=True, elided=0, tail_start=9).middle(1) == "[…cut]\n[0 lines elided, full output #0001]"


@st.composite
def large_bodies(draw: st.DrawFn) -> str:
    """Bodies around the limits, whose lines are runs of one letter."""
    runs = draw(
        st.lists(
            st.tuples(
                st.sampled_from("aé€😀\r\u2028"),
                st.sampled_from([0, 1, 2, 50, 99, 100, 199, 200, 9_999, 10_000, 10_001, 20_000, 20_001, 41_000]),
                st.sampled_from([1, 1, 1, 3, 99, 100, 101, 199, 200, 201, 400]),
            ),
            min_size=1,
            max_size=6,
        )
    )
    lines = [letter * length for letter, length, count in runs for _ in range(count if length < 300 else min(count, 3))]
    return "\n".join(lines) + draw(st.sampled_from(["", "\n", "\n\n"]))


def plain_cap(body: str) -> str | None:
    """The rule word for word, slowly."""
    ending = "\n" if body.endswith("\n") else ""
    lines = body.removesuffix("\n").split("\n") if body else []
    if len(lines) <= 400 and len(body) <= 40_000:
        return None
    head: list[str] = []
    while len(head) < min(200, len(lines)) and len("\n".join(lines[: len(head) + 1])) <= 20_000:
        head = lines[: len(head) + 1]
    shown = len(head) or 1
    first = "\n".join(head) if head else lines[0][:20_000] + "[…cut]"
    rest = lines[shown:]
    tail: list[str] = []
    while len(tail) < min(100, len(rest)) and len("\n".join(rest[-len(tail) - 1 :])) <= 10_000:
        tail = rest[-len(tail) - 1 :]
    elided = f"[{len(rest) - len(tail)} lines elided, full output #0020]"
    return "\n".join([first, elided, *tail]) + (ending if tail else "")


@given(large_bodies())
def test_the_cap_is_that_of_the_rule_told_word_for_word(body: str) -> None:
    assert capped_text(body) == plain_cap(body)


@given(large_bodies())
def test_head_elided_lines_and_tail_are_the_whole_body_with_nothing_twice(body: str) -> None:
    data = body.encode()
    found = cap(data)
    if found is None:
        return
    assert found.head_end <= found.tail_start
    head, middle, tail = data[: found.head_end], data[found.head_end : found.tail_start], data[found.tail_start :]
    assert head + middle + tail == data
    assert len(head.decode()) <= 20_000
    assert head.count(b"\n") < 200
    assert len(tail.decode().strip("\n")) <= 10_000
    # Between head and tail stand the elided lines, each with the newline before it.
    if not found.first_cut and tail:
        assert middle.count(b"\n") == found.elided
