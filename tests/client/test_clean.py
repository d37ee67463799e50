"""Text that can travel."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from waybread_client.clean import clean, clean_args


def test_a_lone_surrogate_becomes_one_replacement_character() -> None:
    assert clean("a\ud800b\udfffc") == "a\ufffdb\ufffdc"
    assert clean("\udc00\ud800") == "\ufffd\ufffd"


def test_a_pair_of_surrogates_becomes_the_character_that_it_means() -> None:
    assert clean("\ud83d\ude00 \udbff\udfff") == "\U0001f600 \U0010ffff"
    assert clean("\ud83d\ud83d\ude00") == "\ufffd\U0001f600"


@given(st.text())
def test_valid_text_stays_as_it_is(text: str) -> None:
    assert clean(text) == text


@given(st.text(st.characters(exclude_categories=[])))
def test_whatever_comes_out_can_be_encoded(text: str) -> None:
    clean(text).encode()


def test_arguments_are_cleaned_at_every_depth_keys_included_and_the_callers_map_stays() -> None:
    args: dict[str, Any] = {"\ud800": ["\udfff", {"x": ("\ud800", 1, None, 2.5, True)}], "plain": "a"}
    assert clean_args(args) == {"\ufffd": ["\ufffd", {"x": ["\ufffd", 1, None, 2.5, True]}], "plain": "a"}
    assert args["plain"] == "a"
    assert "\ud800" in args


def test_what_is_nested_deeper_than_the_daemon_takes_is_left_alone() -> None:
    deep: Any = "end"
    for _ in range(100_000):
        deep = [deep]
    assert list(clean_args({"deep": deep})) == ["deep"]
