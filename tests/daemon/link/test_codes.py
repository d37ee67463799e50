"""One-time codes: their form, and what does not matter when one is typed."""

from __future__ import annotations

import re

from waybread_daemon.link.codes import CODE_CHARS, hash_of, make_code, same


def test_a_code_is_26_characters_in_groups_and_no_two_are_equal() -> None:
    codes = [make_code() for _ in range(1000)]
    for code in codes:
        assert re.fullmatch(r"[0-9A-HJKMNP-TV-Z]{4,5}(-[0-9A-HJKMNP-TV-Z]{4,5}){5}", code), code
        assert len(code.replace("-", "")) == CODE_CHARS == 26
    assert len(set(codes)) == 1000


def test_each_of_the_128_bits_is_by_chance() -> None:
    seen = [0] * 128
    alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
    for _ in range(400):
        bits = 0
        for character in make_code().replace("-", ""):
            bits = bits << 5 | alphabet.index(character)
        assert bits < 1 << 128
        for place in range(128):
            seen[place] += bits >> place & 1
    assert all(100 < count < 300 for count in seen)


def test_case_hyphens_spaces_and_look_alikes_do_not_matter() -> None:
    code = "0123-4567-89ABC-DEF1-0110-01101"
    for typed in (
        code.lower(),
        code.replace("-", ""),
        code.replace("-", " "),
        f"  {code}\n",
        code.replace("0", "O").replace("1", "l"),
        code.replace("0", "o").replace("1", "I"),
        " ".join(code),
        *(code.replace("-", dash) for dash in "‐‑‒–—−"),  # other dashes
        code.replace("-", "-\u200b"),
        "\ufeff" + code.replace("-", "\xa0"),
        code.replace("-", "."),
    ):
        assert same(hash_of(typed), hash_of(code)), typed


def test_another_code_and_texts_of_any_kind_are_not_the_same() -> None:
    code = make_code()
    for typed in (
        "",
        code[:-1],
        code + "0",
        code[1:] + code[0] if code[0] != code[-1] else "x",
        "\0",
        "ß" * 26,
        "\ud800",
    ):
        assert not same(hash_of(typed), hash_of(code)), typed
    assert not same(hash_of("x" * 10_000_000), hash_of(code))
