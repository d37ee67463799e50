"""Brackets, and outside text in one line with them."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from waybread_daemon.hygiene.bracket import (
    change_bracket,
    one_line,
    patched_bracket,
    read_bracket,
    recall_bracket,
    result_bracket,
    short_sha,
)

SHA = bytes.fromhex("1c9e04ab" + "0" * 56)
EMPTY = hashlib.sha256(b"").digest()


@pytest.mark.parametrize(
    "text, shown",
    [
        ("src/app.ts", "src/app.ts"),
        ("a\nb\rc\td", r"a\nb\rc\td"),
        ("\x00\x1b\x7f\x80\x85\x9f", r"\x00\x1b\x7f\x80\x85\x9f"),
        ("\u2028\u2029", r"\u2028\u2029"),
        ("é€😀 \u00a0\u200b\ufeff]|", "é€😀 \u00a0\u200b\ufeff]|"),
        (r"a\nb", r"a\nb"),
        ("", ""),
    ],
)
def test_control_characters_stand_as_escapes_and_nothing_else_does(text: str, shown: str) -> None:
    assert one_line(text) == shown


@given(st.text())
def test_outside_text_stays_in_its_line(text: str) -> None:
    shown = one_line(text)
    assert shown.splitlines() in ([shown], [])
    assert not any(ord(char) < 32 or 0x7F <= ord(char) < 0xA0 for char in shown)


def test_every_bracket_to_the_byte() -> None:
    assert result_bracket(1) == "[#0001]"
    assert read_bracket(18, "src/app.ts", SHA, 1, 200, 340) == "[#0012 src/app.ts lines 1-200 of 340 sha 1c9e04ab]"
    assert read_bracket(19, "notes.txt", EMPTY, 0, 0, 0) == "[#0013 notes.txt empty sha e3b0c442]"
    assert change_bracket(34, "src/app.ts", SHA) == "[#0022 src/app.ts sha 1c9e04ab]"
    assert change_bracket(36, "old.md", None) == "[#0024 old.md deleted]"
    assert patched_bracket("src/a.ts", SHA) == "[src/a.ts sha 1c9e04ab]"
    assert patched_bracket("old.md", None) == "[old.md deleted]"
    assert recall_bracket(33, 32, 1, 2000, 3400) == "[#0021 recall #0020 lines 1-2000 of 3400]"
    assert recall_bracket(33, 19, 0, 0, 0) == "[#0021 recall #0013 empty]"


def test_paths_in_brackets_stay_in_one_line() -> None:
    assert read_bracket(1, "a\nb", SHA, 1, 1, 1) == r"[#0001 a\nb lines 1-1 of 1 sha 1c9e04ab]"
    assert read_bracket(1, "a\nb", EMPTY, 0, 0, 0) == r"[#0001 a\nb empty sha e3b0c442]"
    assert change_bracket(1, "a\tb", None) == r"[#0001 a\tb deleted]"
    assert patched_bracket("a\x1b", SHA) == r"[a\x1b sha 1c9e04ab]"


def test_braces_in_a_path_are_no_fields_of_a_template() -> None:
    assert change_bracket(1, "{result}", None) == "[#0001 {result} deleted]"


def test_a_short_hash_is_its_first_eight_digits() -> None:
    assert short_sha(EMPTY) == "e3b0c442"
