"""A large text is lifted out of a message that is in order, and of no other."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from waybread_protocol.lifting import LIFTED_BYTES, lift
from waybread_protocol.messages import FromClient, Message, ReadBody, Result, TextBody

LARGE = "é" * LIFTED_BYTES
ANY: Any = FromClient


def _encoded(**fields: object) -> bytes:
    return msgspec.msgpack.encode({"id": 7, "session": "s", "key": "k", **fields})


def test_a_large_text_result_is_decoded_around_its_text() -> None:
    body = {"kind": "text", "text": LARGE, "error": True}
    data = _encoded(type="result", tool="bash", args={"a": [1]}, call="c", body=body)
    lifted = lift(data)
    assert lifted is not None
    assert lifted.text == LARGE.encode()
    ordinary = msgspec.msgpack.decode(data, type=ANY)
    assert lifted.request == msgspec.structs.replace(ordinary, body=TextBody(text="", error=True))


def test_a_large_file_is_lifted_out_of_a_read_with_all_other_fields_kept() -> None:
    content = {"text": LARGE, "sha256": "0" * 64}
    body = {"kind": "read", "path": "a", "absolute": "/a", "offset": 3, "limit": -1, "content": content}
    lifted = lift(_encoded(type="result", tool="read", body=body))
    assert lifted is not None
    assert isinstance(lifted.request, Result)
    read = lifted.request.body
    assert isinstance(read, ReadBody)
    assert (read.path, read.absolute, read.offset, read.limit) == ("a", "/a", 3, -1)
    assert (read.content.text, read.content.sha256) == ("", "0" * 64)
    assert lifted.text == LARGE.encode()


def test_a_large_message_is_lifted() -> None:
    lifted = lift(_encoded(type="message", role="user", text=LARGE))
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
    assert lift(_encoded(**fields)) is None


def test_a_large_text_that_is_no_utf8_goes_the_ordinary_way() -> None:
    data = _encoded(type="message", role="user", text=LARGE)
    spoiled = data[:-3] + b"\xed\xa0\x80"
    assert len(spoiled) == len(data)
    assert lift(spoiled) is None
    assert lift(data[:-1]) is None
