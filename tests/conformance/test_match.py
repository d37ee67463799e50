import hashlib
from collections.abc import Mapping

import pytest

from waybread_conformance.describe import DescriptionError
from waybread_conformance.match import Scope


def encode(message: Mapping[str, object]) -> bytes:
    return repr(dict(message)).encode()


@pytest.fixture
def scope() -> Scope:
    return Scope("r1", {"device": "secret"}, encode, {"x": "defined"}, {"n": 7})


@pytest.mark.parametrize(
    "value, filled",
    [
        ({"a": [1, None, {"b": "c"}]}, {"a": [1, None, {"b": "c"}]}),
        ({"session": {"$session": "s"}}, {"session": "s-r1"}),
        ({"token": {"$token": "device"}}, {"token": "secret"}),
        ([{"$var": "n"}], [7]),
        ({"$text": {"repeat": {"use": "x"}, "times": 2}}, "defineddefined"),
        ({"$bytes": {"hex": "ff"}}, b"\xff"),
        ({"$sha256": "a"}, hashlib.sha256(b"a").hexdigest()),
        ({"$nested": 3}, {"deeper": {"deeper": {}}}),
        ({"$encoded": {"s": {"$session": "s"}}}, b"{'s': 's-r1'}"),
        ({"$encoded": {"s": 1}, "from": 1, "to": 4}, b"'s'"),
    ],
)
def test_a_sent_message_is_filled(scope: Scope, value: object, filled: object) -> None:
    assert scope.fill(value) == filled


def test_the_sessions_that_were_named_are_known(scope: Scope) -> None:
    scope.fill([{"$session": "a"}, {"$session": "b"}, {"$session": "a"}])
    assert scope.sessions == {"a-r1", "b-r1"}


@pytest.mark.parametrize("value", [{"$var": "unknown"}, {"$token": "viewer"}, {"$nothing": 1}])
def test_an_unknown_placeholder_is_refused(scope: Scope, value: object) -> None:
    with pytest.raises(DescriptionError, match="no placeholder"):
        scope.fill(value)


@pytest.mark.parametrize(
    "expected, got",
    [
        ({"a": 1}, {"a": 1, "b": 2}),
        ({"a": {"b": []}}, {"a": {"b": [], "c": 1}}),
        ({"a": {"$any": "string"}}, {"a": ""}),
        ({"a": {"$any": "integer"}}, {"a": 0}),
        ({"a": {"$any": "boolean"}}, {"a": False}),
        ({"a": {"$contains": "128"}}, {"a": "at most 128 characters"}),
        ({"a": {"$not": "x"}}, {"a": "y"}),
        ({"a": {"$has": [{"k": 2}, {"k": 1}]}}, {"a": [{"k": 1, "l": 0}, {"k": 2}]}),
        ({"a": {"$not": {"$has": [{"k": 3}]}}}, {"a": [{"k": 1}]}),
        ({"a": {"$var": "n"}, "s": {"$session": "s"}}, {"a": 7, "s": "s-r1"}),
        ({"a": {"$text": {"use": "x"}}}, {"a": "defined"}),
        ({"a": [1, {"b": 2}]}, {"a": [1, {"b": 2, "c": 3}]}),
    ],
)
def test_a_message_fits(scope: Scope, expected: object, got: object) -> None:
    assert scope.mismatch(expected, got) == ""


@pytest.mark.parametrize(
    "expected, got, complaint",
    [
        ({"a": 1}, {"b": 1}, "a: the field is missing"),
        ({"a": 1}, {"a": True}, "a: 1 is wanted, got True"),
        ({"a": None}, {"a": 0}, "a: None is wanted, got 0"),
        ({"a": {"b": 1}}, {"a": {"b": 2}}, "a.b: 1 is wanted, got 2"),
        ({"a": {"b": 1}}, {"a": 2}, "a: a map is wanted"),
        ({"a": {"$any": "integer"}}, {"a": True}, "a: any integer is wanted"),
        ({"a": {"$any": "string"}}, {"a": 1}, "a: any string is wanted"),
        ({"a": {"$contains": "128"}}, {"a": "too long"}, "text with '128' is wanted"),
        ({"a": {"$not": "x"}}, {"a": "x"}, "anything but 'x' is wanted"),
        ({"a": {"$has": [3]}}, {"a": [1, 2]}, "an item like 3 is wanted"),
        ({"a": [1]}, {"a": [1, 2]}, "1 items are wanted, got 2"),
        ({"a": [1, {"b": 1}]}, {"a": [1, {"b": 2}]}, "a[1].b: 1 is wanted"),
        ({"a": [1]}, {"a": "1"}, "a: a list is wanted"),
        ({"a": {"$var": "n"}}, {"a": 8}, "7 is wanted, got 8"),
    ],
)
def test_a_message_that_does_not_fit_is_told_with_its_place(
    scope: Scope, expected: object, got: object, complaint: str
) -> None:
    assert complaint in scope.mismatch(expected, got)


def test_what_is_saved_stands_for_itself_later(scope: Scope) -> None:
    assert scope.mismatch({"seq": {"$save": "seq"}}, {"seq": 12}) == ""
    assert scope.fill({"after": {"$var": "seq"}}) == {"after": 12}
    assert scope.mismatch({"seq": {"$var": "seq"}}, {"seq": 13}) == "seq: 12 is wanted, got 13"
