"""What a request's fields take and refuse, at each border."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from waybread_protocol.limits import INTEGER_MAX, LEAST_MAX_BYTES
from waybread_protocol.messages import FromClient, Part
from waybread_protocol.requests import BaseRequest, Content, FileChange, Hello, History, Open, Result, Sync

ANY: Any = FromClient


def decoded(**fields: Any) -> Any:
    return msgspec.convert(fields, ANY)


def test_hello_has_the_limits_of_the_contract_where_it_says_none() -> None:
    hello = decoded(type="hello", id=1, token="t", client="c 1")
    assert hello == Hello(id=1, token="t", client="c 1", max_frame=1_048_576, max_message=67_108_864)


@pytest.mark.parametrize("field", ["max_frame", "max_message"])
def test_a_client_takes_four_kib_at_least(field: str) -> None:
    decoded(type="hello", id=1, client="c", **{field: LEAST_MAX_BYTES})
    with pytest.raises(msgspec.ValidationError):
        decoded(type="hello", id=1, client="c", **{field: LEAST_MAX_BYTES - 1})


@pytest.mark.parametrize("limit", [1, 1000])
def test_history_takes_up_to_1000_entries(limit: int) -> None:
    assert decoded(type="history", id=1, session="s", limit=limit) == History(id=1, session="s", limit=limit)


@pytest.mark.parametrize("limit", [0, 1001, -1, 1.0, None, True])
def test_history_takes_no_other_limit(limit: Any) -> None:
    with pytest.raises(msgspec.ValidationError):
        decoded(type="history", id=1, session="s", limit=limit)


@pytest.mark.parametrize("name", ["s", "\U0001f600" * 128])
def test_a_session_id_has_1_to_128_characters_not_bytes(name: str) -> None:
    assert decoded(type="open", id=1, session=name, kind="agent") == Open(id=1, session=name, kind="agent")


@pytest.mark.parametrize("name", ["", "x" * 129])
def test_a_session_id_has_no_other_length(name: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        decoded(type="open", id=1, session=name, kind="agent")


@pytest.mark.parametrize("request_id", [1, INTEGER_MAX])
def test_a_request_id_lies_within_the_integers_of_the_contract(request_id: int) -> None:
    assert decoded(type="ping", id=request_id).id == request_id


@pytest.mark.parametrize("request_id", [0, -1, INTEGER_MAX + 1, "1", 1.5])
def test_a_request_id_is_nothing_else(request_id: Any) -> None:
    with pytest.raises(msgspec.ValidationError):
        decoded(type="ping", id=request_id)


SHA = "0" * 64
WINDOW = {"text": "a\n", "lines": 1, "sha256": SHA}


@pytest.mark.parametrize(
    "content",
    [{"text": ""}, {"bytes": b""}, {"sha256": SHA}, {"text": "a", "sha256": SHA}, {"bytes": b"a", "sha256": SHA}],
)
def test_a_content_comes_in_one_form_with_its_hash_beside_it_or_not(content: dict[str, Any]) -> None:
    assert isinstance(msgspec.convert(content, Content), Content)


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"text": "a", "bytes": b"a"},
        {"window": WINDOW, "sha256": SHA},
        {"window": WINDOW, "text": "a"},
        {"sha256": SHA + "\n"},
        {"sha256": SHA.replace("0", "A")},
        {"text": None},
    ],
)
def test_a_content_in_two_forms_or_none_is_refused(content: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(content, Content)


@pytest.mark.parametrize("before, after", [(None, None), ({"window": WINDOW}, None), (None, {"window": WINDOW})])
def test_a_change_of_nothing_or_by_window_is_refused(before: Any, after: Any) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"path": "a", "absolute": "/a", "before": before, "after": after}, FileChange)


def test_a_change_says_of_both_sides_what_they_are() -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"path": "a", "absolute": "/a", "before": {"text": ""}}, FileChange)


def test_what_is_left_out_takes_its_default() -> None:
    body = {"kind": "text", "text": "x"}
    result = decoded(type="result", id=1, session="s", key="k", tool="t", body=body)
    assert isinstance(result, Result)
    assert (result.args, result.call) == ({}, "")
    assert decoded(type="sync", id=1) == Sync(id=1, after=0, epoch="", session="", follow=False)


def test_only_a_part_has_no_id() -> None:
    assert not issubclass(Part, BaseRequest)
    assert "id" not in Part.__struct_fields__
