from typing import Annotated, Any, Literal

import pytest
from msgspec import Meta

from waybread_daemon.misfits import misfit, span_of

Whole = Annotated[int, Meta(ge=1024, le=2**31 - 1)]
Above = Annotated[float, Meta(gt=0, le=600)]
Filled = Annotated[str, Meta(min_length=1)]
Texts = tuple[str, ...]
Choice = Literal["low", "middle", "high"]


@pytest.mark.parametrize(
    "kind, words",
    [
        (Whole, "1,024 to 2,147,483,647"),
        (Above, "above 0, at most 600"),
        (Filled, "a text that is not empty"),
        (str, "a text"),
        (Texts, "a list of texts"),
        (bool, "true or false"),
        (Choice, "low, middle or high"),
    ],
)
def test_what_a_setting_may_be_is_a_few_words_with_its_least_and_its_most(kind: Any, words: str) -> None:
    assert span_of(kind) == words


@pytest.mark.parametrize(
    "kind, value",
    [
        (Whole, 1024),
        (Above, 0.5),
        (Above, 600),
        (Filled, "a"),
        (str, ""),
        (Texts, ["a"]),
        (bool, False),
        (Choice, "low"),
    ],
)
def test_what_fits_needs_no_sentence(kind: Any, value: object) -> None:
    assert misfit("a", kind, value, "the flags") == ""


@pytest.mark.parametrize(
    "kind, value, sentence",
    [
        (Whole, True, "a is true in x: give a whole number from 1,024 to 2,147,483,647"),
        (Whole, 1 << 300, "a is a number too large to show in x: give a whole number from 1,024 to 2,147,483,647"),
        (Above, 0, "a is 0 in x: give a number above 0, at most 600"),
        (Filled, "", "a is '' in x: it may not be empty: give a value, or take the line away"),
        (str, 1, "a is 1 in x: give a text, in quotes"),
        (Texts, "one", 'a is \'one\' in x: give a list of texts, each in quotes, like ["one", "two"]'),
        (Texts, [1], 'a is [1] in x: give a list of texts, each in quotes, like ["one", "two"]'),
        (bool, "yes", "a is 'yes' in x: give true or false, without quotes"),
        (Choice, "none", "a is 'none' in x: choose low, middle or high"),
        (bool, {}, "a is {} in x: settings stand in no section, so take its [line] away and give true or false"),
        (str, "a\x00", "a is 'a\\x00' in x: it has a control character, or is no UTF-8: write it anew without that"),
        (
            str,
            "a\udcff",
            "a is 'a\\udcff' in x: it has a control character, or is no UTF-8: write it anew without that",
        ),
        (Choice, "b" * 500, f"a is '{'b' * 79}… in x: choose low, middle or high"),
        (Texts, "ws://me:word@x", 'a is \'ws://…@x\' in x: give a list of texts, each in quotes, like ["one", "two"]'),
    ],
)
def test_a_misfit_is_told_with_what_it_may_be(kind: Any, value: object, sentence: str) -> None:
    assert misfit("a", kind, value, "x") == sentence
