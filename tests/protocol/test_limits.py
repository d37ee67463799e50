"""The limits of the link are those of its contract, and a message knows its tag."""

from __future__ import annotations

from waybread_protocol import limits
from waybread_protocol.messages import Inserted, Part, Ping, Pushed, type_of


def test_the_numbers_are_those_of_version_1() -> None:
    assert {name: getattr(limits, name) for name in dir(limits) if name.isupper()} == {
        "PROTOCOL": 1,
        "SUBPROTOCOL_MSGPACK": "waybread.v1.msgpack",
        "SUBPROTOCOL_JSON": "waybread.v1.json",
        "PATH": "/link",
        "INTEGER_MAX": 9_007_199_254_740_991,
        "HELLO_MAX_BYTES": 65_536,
        "HELLO_TIMEOUT_S": 10,
        "MAX_FRAME_BYTES": 1_048_576,
        "MAX_MESSAGE_BYTES": 67_108_864,
        "LEAST_MAX_BYTES": 4_096,
        "PAGE_BYTES": 262_144,
        "ENTRY_ARGS_BYTES": 16_384,
        "ARGS_MAX_BYTES": 1_048_576,
        "ARGS_MAX_DEPTH": 64,
        "LIMIT_MAX": 1_000,
        "REQUEST_MAX_BYTES": 1_048_576,
        "CHANGES_MAX": 10_000,
        "PAIRING_CODE_BITS": 128,
        "PAIRING_TIMEOUT_S": 300,
        "PAIRING_TRIES_MOST": 5,
        "FEATURES": ("session_lines",),
    }


def test_a_type_is_the_tag_of_the_message_and_of_its_class() -> None:
    assert [type_of(kind) for kind in (Ping, Part, Inserted, Pushed)] == ["ping", "part", "inserted", "entry"]
    assert type_of(Ping(id=1)) == "ping"
