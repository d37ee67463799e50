import pytest

from waybread_conformance.describe import DescriptionError, expand, expand_bytes, expand_text


@pytest.mark.parametrize(
    "description, plain",
    [
        ("abc", "abc"),
        ({"repeat": "ab", "times": 3}, "ababab"),
        ({"repeat": "ab", "times": 0}, ""),
        ({"lines": {"from": 9, "to": 11, "text": "{n}: line {n}"}}, "9: line 9\n10: line 10\n11: line 11"),
        ({"lines": {"from": 1, "to": 2, "text": "x", "final_newline": True}}, "x\nx\n"),
        ({"lines": {"from": 2, "to": 1, "text": "x", "final_newline": True}}, ""),
        ({"join": ["a", {"repeat": "b", "times": 2}, "c"]}, "abbc"),
        ({"join": ["a", "b", "c"], "with": ", "}, "a, b, c"),
        ({"join": []}, ""),
        ({"hex": "ff0a"}, b"\xff\n"),
        ({"base64": "/wo="}, b"\xff\n"),
        ({"repeat": {"hex": "ff"}, "times": 2}, b"\xff\xff"),
        ({"join": ["é", {"hex": "ff"}]}, b"\xc3\xa9\xff"),
        ({"use": "x"}, "defined"),
        ({"join": [{"use": "y"}, "!"]}, "defined twice!"),
    ],
)
def test_a_description_stands_for_its_text(description: object, plain: str | bytes) -> None:
    assert expand(description, {"x": "defined", "y": {"join": [{"use": "x"}, " twice"]}}) == plain


@pytest.mark.parametrize(
    "description, complaint",
    [
        (5, "has to be a map, not 5"),
        (None, "has to be a map"),
        ({}, "no known form"),
        ({"repeat": "x"}, "repeat has no known form"),
        ({"repeat": "x", "times": -1}, "no known form"),
        ({"lines": {"from": 1, "to": 2}}, "`lines` needs"),
        ({"join": "ab"}, "`join` has to be a list"),
        ({"hex": "f"}, "is not hex"),
        ({"base64": "*"}, "is not base64"),
        ({"use": "nothing"}, "no text is defined as 'nothing'"),
        ({"use": "loop"}, "no text is defined as 'loop'"),
    ],
)
def test_what_is_no_description_is_refused_with_a_sentence(description: object, complaint: str) -> None:
    with pytest.raises(DescriptionError) as caught:
        expand(description, {"loop": {"use": "loop"}})
    assert complaint in str(caught.value)


def test_bytes_are_refused_where_text_is_wanted() -> None:
    with pytest.raises(DescriptionError, match="text is wanted here"):
        expand_text({"hex": "ff"})


def test_text_is_its_utf8_where_bytes_are_wanted() -> None:
    assert expand_bytes("é") == b"\xc3\xa9"
