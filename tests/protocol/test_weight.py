"""A large message may hold large texts and contents, and no millions of small things."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from waybread_protocol.errors import ErrorCode, RequestError
from waybread_protocol.weight import ARGS_MAX_SENT_BYTES, check_weight

MIB = 1024 * 1024
CHANGE = {"path": "a", "absolute": "/a", "before": None, "after": {"text": ""}}


def weighed(as_json: bool, fields: dict[str, Any]) -> RequestError | None:
    message = {"id": 7, **fields}
    data = msgspec.json.encode(message).decode() if as_json else msgspec.msgpack.encode(message)
    try:
        check_weight(data, text=as_json)
    except RequestError as fault:
        return fault
    return None


@pytest.mark.parametrize("as_json", [False, True])
@pytest.mark.parametrize(
    "fields",
    [
        {"type": "carry", "results": ["#0001"] * 200_000},
        {"type": "take_back", "turns": ["t"] * 600_000},
        {"type": "show", "result": "0" * (MIB + 1)},
        {"type": "ping", "unknown": "x" * (MIB + 1)},
        {"type": "result", "args": {"a": "x" * (ARGS_MAX_SENT_BYTES + 1)}, "body": {"kind": "text", "text": ""}},
        {"type": "result", "body": {"kind": "change", "changes": [CHANGE] * 10_001}},
    ],
)
def test_what_is_large_where_it_may_not_be_is_too_large_and_keeps_its_id(as_json: bool, fields: dict[str, Any]) -> None:
    fault = weighed(as_json, fields)
    assert fault is not None
    assert (fault.code, fault.re) == (ErrorCode.TOO_LARGE, 7)


@pytest.mark.parametrize("as_json", [False, True])
@pytest.mark.parametrize(
    "fields",
    [
        {"type": "result", "body": {"kind": "text", "text": "x" * (2 * MIB)}},
        {"type": "message", "text": "x" * (2 * MIB)},
        {"type": "result", "body": {"kind": "change", "changes": [CHANGE] * 10_000}},
        {"type": "carry", "results": ["#0001"] * 100_000},
        {"type": "result", "body": 5},
        {"type": 5},
    ],
)
def test_large_texts_many_changes_and_whatever_decoding_will_refuse_pass(as_json: bool, fields: dict[str, Any]) -> None:
    assert weighed(as_json, fields) is None


def test_bytes_that_are_no_message_pass() -> None:
    check_weight(b"\xc1", text=False)
    check_weight("{", text=True)


def test_an_id_that_is_none_is_told_as_0() -> None:
    fault = weighed(False, {"type": "ping", "unknown": "x" * (MIB + 1), "id": "seven"})
    assert fault is not None
    assert fault.re == 0
