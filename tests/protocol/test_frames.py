"""What can be told of a message that does not decode."""

import time
from typing import Any

import msgspec
import pytest
from hypothesis import given

from tests.protocol.arbitrary import JSON
from waybread_protocol.errors import FrameError
from waybread_protocol.frames import json_head, msgpack_head


def test_the_head_is_read_wherever_it_stands() -> None:
    messages: list[dict[str, Any]] = [
        {"type": "a", "id": 3},
        {"x": [1, {"type": "b", "id": 4}], "id": 3, "y": {}, "type": "a"},
    ]
    for message in messages:
        assert json_head(msgspec.json.encode(message))[:2] == ("a", 3)
        assert msgpack_head(msgspec.msgpack.encode(message))[:2] == ("a", 3)


def test_an_answers_number_is_its_re() -> None:
    message = {"type": "done", "id": 3, "re": 4}
    assert json_head(msgspec.json.encode(message), "re").number == 4
    assert msgpack_head(msgspec.msgpack.encode(message), "re").number == 4


def test_the_head_of_a_deep_message_is_that_of_its_first_level() -> None:
    deep = b'{"type":"inner","id":9,"a":' * 100_000 + b"1" + b"}" * 100_000
    head = json_head(b'{"x":' + deep + b',"s":"a\\"{[","type" : "a", "id":3 , "y":[]}')
    assert head[:2] == ("a", 3)
    packed = b"\x83\xa4type\xa5inner\xa2id\x09\xa1a" * 100_000 + b"\x01"
    assert msgpack_head(b"\x83\xa1x" + packed + b"\xa4type\xa1a\xa2id\x03")[:2] == ("a", 3)


def test_a_head_of_the_wrong_types_is_given_as_it_is() -> None:
    assert json_head(b'{"type":[],"id":{}}')[:2] == ([], {})
    assert msgpack_head(msgspec.msgpack.encode({"type": 1, "id": "x"}))[:2] == (1, "x")
    assert msgpack_head(b"\x82\xa4type\xa1\xff\xa2id\x03")[:2] == (None, 3)


@given(JSON)
def test_the_walk_through_msgpack_ends_where_the_value_ends(value: object) -> None:
    encoded = msgspec.msgpack.encode(value)
    msgpack_head(encoded)
    for wrong in (encoded + b"\x00", encoded[:-1]):
        with pytest.raises(FrameError):
            msgpack_head(wrong)


@pytest.mark.parametrize(
    "value",
    [
        b"\xc0", b"\xc2", b"\xca____", b"\xcb________", b"\xcc_", b"\xcd__", b"\xce____", b"\xcf________", b"\xd0_",
        b"\xd1__", b"\xd2____", b"\xd3________", b"\xd4__", b"\xd5___", b"\xd6_____", b"\xd7_________",
        b"\xd8_________________", b"\xc4\x02__", b"\xc5\x00\x02__", b"\xc6\x00\x00\x00\x02__", b"\xc7\x02___",
        b"\xc8\x00\x02___", b"\xc9\x00\x00\x00\x02___", b"\xd9\x02__", b"\xda\x00\x02__", b"\xdb\x00\x00\x00\x02__",
        b"\xdc\x00\x02\x01\x02", b"\xdd\x00\x00\x00\x02\x01\x02", b"\xde\x00\x01\xa1a\x02",
        b"\xdf\x00\x00\x00\x01\xa1a\x02", b"\x7f", b"\xe0", b"\x92\x01\x02", b"\x81\xa1a\x01", b"\xa2__",
    ],
    ids=lambda value: value[:1].hex(),
)  # fmt: skip
def test_every_format_of_msgpack_is_known(value: bytes) -> None:
    head = b"\x82\xa1x"
    assert msgpack_head(head + value + b"\xa2id\x03").number == 3
    with pytest.raises(FrameError):
        msgpack_head(head + value[:-1])


@pytest.mark.parametrize("prefix", [b"\x82", b"\xde\x00\x02", b"\xdf\x00\x00\x00\x02"])
def test_a_map_of_any_width_has_its_head_read(prefix: bytes) -> None:
    assert msgpack_head(prefix + b"\xa4type\xa1a\xa2id\x03")[:2] == ("a", 3)


def test_a_message_of_endless_tiny_values_costs_seconds_at_most() -> None:
    began = time.monotonic()
    assert msgpack_head(b"\xdd\x03\x93\x87\x00" + b"\x01" * 60_000_000).fault == "a message has at most 2500000 values"
    assert json_head(b'{"id":3,"x":' + b"[" * 60_000_000).number == 3
    assert time.monotonic() - began < 60
