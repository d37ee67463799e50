"""Frames become requests: whole, in parts, small on the loop and large beside it."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec
import pytest

from waybread_daemon.link.intake import Intake
from waybread_daemon.store.contract import LARGE_BYTES
from waybread_protocol.codec import daemon_codec
from waybread_protocol.errors import CloseCode, ErrorCode, FrameError, RequestError
from waybread_protocol.limits import SUBPROTOCOL_JSON, SUBPROTOCOL_MSGPACK
from waybread_protocol.messages import Ping, Result, TextBody
from waybread_protocol.parts import frames


@pytest.fixture
def heavy() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as executor:
        yield executor


def result(text: str, args: dict[str, Any]) -> bytes:
    body = {"kind": "text", "text": text}
    fields = {"type": "result", "id": 7, "session": "s", "key": "k", "tool": "t", "args": args, "body": body}
    return msgspec.msgpack.encode(fields)


def intake(heavy: ThreadPoolExecutor, subprotocol: str = SUBPROTOCOL_MSGPACK) -> Intake:
    return Intake(daemon_codec(subprotocol), heavy, 2**22)


async def test_a_small_request_comes_with_its_arguments_in_canonical_form(heavy: ThreadPoolExecutor) -> None:
    data = result("out", {"b": 1.0, "a": 2})
    taken = await intake(heavy).take(data)
    assert taken is not None
    assert (taken.args, taken.size, taken.text) == (b'{"a":2,"b":1}', len(data), None)
    assert isinstance(taken.request, Result)
    assert taken.request.body == TextBody(text="out")


async def test_a_large_text_comes_beside_its_request(heavy: ThreadPoolExecutor) -> None:
    text = "é" * LARGE_BYTES
    taken = await intake(heavy).take(result(text, {}))
    assert taken is not None
    assert taken.text == text.encode()
    assert isinstance(taken.request, Result)
    assert taken.request.body == TextBody(text="")


async def test_a_large_text_in_json_comes_beside_its_request_too(heavy: ThreadPoolExecutor) -> None:
    text = 'é "\\n' * LARGE_BYTES
    fields = msgspec.msgpack.decode(result(text, {}))
    taken = await intake(heavy, SUBPROTOCOL_JSON).take(msgspec.json.encode(fields).decode())
    assert taken is not None
    assert taken.text == text.encode()
    assert isinstance(taken.request, Result)
    assert taken.request.body == TextBody(text="")


@pytest.mark.parametrize("size", [1000, LARGE_BYTES])
async def test_parts_become_the_request_with_the_last_of_them(heavy: ThreadPoolExecutor, size: int) -> None:
    data = result("x" * size, {})
    link = intake(heavy)
    *pieces, last = frames(data, 600, text=False)
    for piece in pieces:
        assert await link.take(piece) is None
    taken = await link.take(last)
    assert taken is not None
    assert taken.size == len(data)
    assert (await link.take(msgspec.msgpack.encode({"type": "ping", "id": 1}))) is not None


async def test_faults_of_a_message_name_its_id_and_the_link_goes_on(heavy: ThreadPoolExecutor) -> None:
    link = intake(heavy)
    with pytest.raises(RequestError) as refused:
        await link.take(result("out", {"a": float("nan")}))
    assert (refused.value.code, refused.value.re) == (ErrorCode.BAD_MESSAGE, 7)
    taken = await link.take(msgspec.msgpack.encode({"type": "ping", "id": 8}))
    assert taken is not None
    assert taken.request == Ping(id=8)


@pytest.mark.parametrize("between", [{"type": "ping", "id": 1}, {"type": "unknown", "id": 1}])
async def test_whatever_comes_between_parts_ends_the_link(heavy: ThreadPoolExecutor, between: dict[str, Any]) -> None:
    link = intake(heavy)
    await link.take(msgspec.msgpack.encode({"type": "part", "index": 0, "last": False, "data": b"x"}))
    with pytest.raises(FrameError) as broken:
        await link.take(msgspec.msgpack.encode(between))
    assert broken.value.code == CloseCode.UNDECODABLE


async def test_a_frame_of_the_other_kind_and_a_part_in_a_part_end_the_link(heavy: ThreadPoolExecutor) -> None:
    inner = msgspec.msgpack.encode({"type": "part", "index": 0, "last": True, "data": b"x"})
    for frame in ("{}", msgspec.msgpack.encode({"type": "part", "index": 0, "last": True, "data": inner})):
        with pytest.raises(FrameError) as broken:
            await intake(heavy).take(frame)
        assert broken.value.code == CloseCode.UNDECODABLE


async def test_a_large_message_of_small_things_is_too_large(heavy: ThreadPoolExecutor) -> None:
    data = msgspec.msgpack.encode(
        {"type": "carry", "id": 7, "session": "s", "key": "k", "results": ["#0001"] * 200_000}
    )
    with pytest.raises(RequestError) as refused:
        await intake(heavy).take(data)
    assert (refused.value.code, refused.value.re) == (ErrorCode.TOO_LARGE, 7)
