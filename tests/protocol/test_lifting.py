"""A large text is lifted out of a message that is in order, and of no other."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from waybread_protocol.lifting import LIFTED_BYTES, lift
from waybread_protocol.messages import FromClient, Message, ReadBody, Result, TextBody

LARGE = "é" * LIFTED_BYTES
ANY: Any = FromClient


def _encoded(**fields: object) -> bytes:
    return msgspec.msgpack.encode({"id": 7, "session": "s", "key": "k", **fields})


def test_a_large_text_result_is_decoded_around_its_text() -> None:
    body = {"kind": "text", "text": LARGE, "error": True}
    data = _encoded(type="result", tool="bash", args={"a": [1]}, call="c", body=body)
    lifted = lift(data, text=False)
    assert lifted is not None
    assert lifted.text == LARGE.encode()
    ordinary = msgspec.msgpack.decode(data, type=ANY)
    assert lifted.request == msgspec.structs.replace(ordinary, body=TextBody(text="", error=True))


def test_a_large_file_is_lifted_out_of_a_read_with_all_other_fields_kept() -> None:
    content = {"text": LARGE, "sha256": "0" * 64}
    body = {"kind": "read", "path": "a", "absolute": "/a", "offset": 3, "limit": -1, "content": content}
    lifted = lift(_encoded(type="result", tool="read", body=body), text=False)
    assert lifted is not None
    assert isinstance(lifted.request, Result)
    read = lifted.request.body
    assert isinstance(read, ReadBody)
    assert (read.path, read.absolute, read.offset, read.limit) == ("a", "/a", 3, -1)
    assert (read.content.text, read.content.sha256) == ("", "0" * 64)
    assert lifted.text == LARGE.encode()


def test_a_large_message_is_lifted() -> None:
    lifted = lift(_encoded(type="message", role="user", text=LARGE), text=False)
    assert lifted is not None
    assert lifted.request == Message(id=7, session="s", key="k", role="user", text="")
    assert lifted.text == LARGE.encode()


TEXT = {"kind": "text", "text": LARGE}
READ = {"kind": "read", "path": "a", "absolute": "/a"}


@pytest.mark.parametrize(
    "fields",
    [
        {"type": "result", "tool": "t", "body": {"kind": "text", "text": "small"}},
        {"type": "result", "tool": "t" * 2000, "body": TEXT},
        {"type": "result", "body": TEXT},
        {"type": "result", "tool": "t", "body": {**TEXT, "error": 1}},
        {"type": "result", "tool": "t", "body": {"kind": "other", "text": LARGE}},
        {"type": "result", "tool": "t", "body": {"kind": "text", "text": LARGE.encode()}},
        {"type": "result", "tool": "t", "body": {**READ, "content": {"text": LARGE, "bytes": b""}}},
        {"type": "result", "tool": "t", "body": {**READ, "content": {"text": LARGE, "window": {}}}},
        {"type": "result", "tool": "t", "body": {**READ, "content": {"text": LARGE, "sha256": "x"}}},
        {"type": "result", "tool": "t", "body": {**READ, "path": "p" * 5000, "content": {"text": LARGE}}},
        {"type": "message", "role": "nobody", "text": LARGE},
        {"type": "ping", "unknown": LARGE},
        {"type": "result", "tool": "t", "body": TEXT, "id": 0},
    ],
)
def test_whatever_is_not_in_order_goes_the_ordinary_way(fields: dict[str, object]) -> None:
    assert lift(_encoded(**fields), text=False) is None


def test_a_large_text_that_is_no_utf8_goes_the_ordinary_way() -> None:
    data = _encoded(type="message", role="user", text=LARGE)
    spoiled = data[:-3] + b"\xed\xa0\x80"
    assert len(spoiled) == len(data)
    assert lift(spoiled, text=False) is None
    assert lift(data[:-1], text=False) is None


ODD = 'line "quoted" \\ \t\x7f\u2028 é \U0001f600\n' * (LIFTED_BYTES // 20)


def _json(text: str, **fields: object) -> bytes:
    body = {"kind": "text", "text": text}
    return msgspec.json.encode(
        {"type": "result", "id": 7, "session": "s", "key": "k", "tool": "t", "body": body, **fields}
    )


@pytest.mark.parametrize(
    "text", [LARGE, ODD, "\\" * LIFTED_BYTES, "a" * 262_143 + "\n" + "é" * 262_143 + "\t\U0001f600"]
)
@pytest.mark.parametrize("escaped", [False, True])
def test_a_large_text_is_lifted_out_of_json_with_its_escapes_resolved(text: str, escaped: bool) -> None:
    data = _json(text)
    if escaped:
        # The same message with every character outside ASCII as an escape, in pairs beyond the basic plane.
        data = json.dumps(msgspec.json.decode(data)).encode()
    for sent in (data, data.decode()):
        lifted = lift(sent, text=True)
        assert lifted is not None
        assert lifted.text == text.encode()
        assert isinstance(lifted.request, Result)
        assert lifted.request.body == TextBody(text="")


@settings(max_examples=60)
@given(st.text(min_size=1, max_size=60), st.booleans())
def test_any_text_is_lifted_out_of_json_as_it_is(unit: str, escaped: bool) -> None:
    text = unit * (LIFTED_BYTES // len(unit) + 1)
    data = json.dumps(msgspec.json.decode(_json(text)), ensure_ascii=escaped).encode()
    lifted = lift(data, text=True)
    assert lifted is not None
    assert lifted.text == text.encode()


@pytest.mark.parametrize("spoil", ["\\ud800", "\\udc00 ", "\\ud800\\ud800", "\\u12", "\\x"])
def test_json_with_a_broken_escape_in_its_large_text_goes_the_ordinary_way(spoil: str) -> None:
    data = _json("x" * LIFTED_BYTES + "SPOIL" + "y" * LIFTED_BYTES)
    assert lift(data.replace(b"SPOIL", spoil.encode()), text=True) is None


def test_json_that_is_no_utf8_in_its_large_text_goes_the_ordinary_way() -> None:
    data = _json(LARGE).replace("é".encode(), b"\xff", 1)
    assert lift(data, text=True) is None
    assert lift(_json(ODD).replace("é".encode(), b"\xff", 1), text=True) is None


def test_a_message_of_the_other_codec_is_not_lifted() -> None:
    assert lift(_json(LARGE), text=False) is None
    assert lift(_encoded(type="message", role="user", text=LARGE), text=True) is None
