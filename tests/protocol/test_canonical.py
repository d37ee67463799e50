"""The canonical form of arguments: two calls are the same where these bytes are."""

import json
import math
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.protocol.arbitrary import JSON, TEXT
from waybread_protocol.canonical import canonical_args
from waybread_protocol.errors import RequestError


def code_of(args: dict[Any, Any]) -> str:
    with pytest.raises(RequestError) as refused:
        canonical_args(args)
    assert refused.value.sentence
    return refused.value.code.value


@pytest.mark.parametrize(
    "args, canonical",
    [
        ({}, "{}"),
        ({"b": 1, "a": 2}, '{"a":2,"b":1}'),
        ({"a": {"z": [], "y": {"b": 1, "a": None}}}, '{"a":{"y":{"a":null,"b":1},"z":[]}}'),
        ({"a": [{"b": 1, "a": 2}, [{"d": 1, "c": 2}]]}, '{"a":[{"a":2,"b":1},[{"c":2,"d":1}]]}'),
        ({"a": 1.0, "b": [2.0, {"c": -3.0}]}, '{"a":1,"b":[2,{"c":-3}]}'),
        ({"a": -0.0, "b": 0.0}, '{"a":0,"b":0}'),
        ({"a": 1e15, "b": 1e19}, '{"a":1000000000000000,"b":10000000000000000000}'),
        ({"a": 1.5, "b": 1e300, "c": 5e-324}, '{"a":1.5,"b":1e300,"c":5e-324}'),
        ({"a": 2**64 - 1, "b": -(2**63)}, '{"a":18446744073709551615,"b":-9223372036854775808}'),
        ({"a": True, "b": False, "c": None}, '{"a":true,"b":false,"c":null}'),
        ({"é": "\u2028 / \x00 😀"}, '{"é":"\u2028 / \\u0000 😀"}'),
        ({"type": 1, "": 2}, '{"":2,"type":1}'),
    ],
)
def test_the_canonical_form(args: dict[str, Any], canonical: str) -> None:
    assert canonical_args(args).decode() == canonical


@pytest.mark.parametrize(
    "value",
    [b"x", math.nan, math.inf, -math.inf, 2**64, -(2**63) - 1, msgspec.msgpack.Ext(5, b""), datetime.now(UTC), {1: 2}],
    ids=repr,
)
def test_what_json_does_not_hold_is_a_bad_message_at_every_depth(value: object) -> None:
    assert code_of({"a": value}) == "bad_message"
    assert code_of({"a": [{"b": value}]}) == "bad_message"


@pytest.mark.parametrize("key", [1, None, True, 1.5, b"x", (1,)])
def test_keys_are_strings_at_every_depth(key: object) -> None:
    assert code_of({key: 1}) == "bad_message"
    assert code_of({"a": [{key: 1}]}) == "bad_message"


@pytest.mark.parametrize("kind", ["map", "list", "both"])
def test_sixty_four_levels_are_taken_and_one_more_is_too_large(kind: str) -> None:
    def nested(levels: int) -> dict[str, Any]:
        value: Any = 1
        for level in range(levels - 1):
            value = {"a": value} if kind == "map" or (kind == "both" and level % 2) else [value]
        return {"a": value}

    canonical_args(nested(64))
    assert code_of(nested(65)) == "too_large"
    assert code_of(nested(500)) == "too_large"


def test_one_mebibyte_is_taken_and_a_byte_more_is_too_large() -> None:
    args = {"a": "x" * (1024 * 1024 - len('{"a":""}'))}
    assert len(canonical_args(args)) == 1024 * 1024
    assert code_of({"a": args["a"] + "x"}) == "too_large"


def test_the_callers_arguments_stay_as_they_are() -> None:
    inner = [1.0]
    args: dict[str, Any] = {"b": inner, "a": {"c": 2.0}}
    canonical_args(args)
    assert list(args) == ["b", "a"]
    assert [type(item) for item in inner] == [float]
    assert type(args["a"]["c"]) is float


@given(st.dictionaries(TEXT, JSON, max_size=4))
def test_the_canonical_form_means_the_same_and_is_its_own_canonical_form(args: dict[str, Any]) -> None:
    canonical = canonical_args(args)
    assert json.loads(canonical) == args
    assert canonical_args(json.loads(canonical)) == canonical


@given(st.dictionaries(TEXT, JSON, max_size=4), st.randoms())
def test_the_order_of_keys_and_the_codec_make_no_difference(args: dict[str, Any], random: Any) -> None:
    items = list(args.items())
    random.shuffle(items)
    canonical = canonical_args(args)
    assert canonical_args(dict(items)) == canonical
    assert canonical_args(msgspec.json.decode(msgspec.json.encode(args))) == canonical
    assert canonical_args(msgspec.msgpack.decode(msgspec.msgpack.encode(args))) == canonical
