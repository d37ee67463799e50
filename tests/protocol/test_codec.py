"""Bytes to messages and back, in both subprotocols, and what every kind of bad input gets."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.protocol.arbitrary import CLIENT, DAEMON, messages
from waybread_protocol.codec import Codec, client_codec, daemon_codec
from waybread_protocol.errors import CloseCode, ErrorCode, FrameError, RequestError
from waybread_protocol.limits import INTEGER_MAX, SUBPROTOCOL_JSON, SUBPROTOCOL_MSGPACK
from waybread_protocol.messages import Content, Describe, Done, Message, Open, Ping, Result, Struct, Sync, TextBody

BOTH = pytest.mark.parametrize("subprotocol", [SUBPROTOCOL_MSGPACK, SUBPROTOCOL_JSON])
MILLION = 1_000_000


def encode(subprotocol: str, message: object) -> bytes:
    """Any value as a message of the subprotocol, fit or not."""
    if subprotocol == SUBPROTOCOL_JSON:
        return msgspec.json.encode(message)
    return msgspec.msgpack.encode(message)


def refusal(codec: Codec[Any], frame: bytes | str) -> tuple[str, int]:
    """The error code and the `re` that a frame is answered with, which must hold a sentence."""
    with pytest.raises(RequestError) as refused:
        codec.decode(frame)
    assert refused.value.sentence
    assert type(refused.value.re) is int
    return refused.value.code.value, refused.value.re


def close(codec: Codec[Any], frame: bytes | str) -> int:
    """The code that the link is closed with."""
    with pytest.raises(FrameError) as closed:
        codec.decode(frame)
    assert closed.value.sentence
    return closed.value.code


# --- What fits -------------------------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("struct", CLIENT, ids=lambda struct: struct.__name__)
@settings(max_examples=30)
@given(data=st.data())
def test_every_message_of_a_client_comes_back_as_it_was(struct: type[Struct], subprotocol: str, data: Any) -> None:
    codec = daemon_codec(subprotocol)
    message = data.draw(messages(struct))
    encoded = codec.encode(message)
    assert codec.decode(encoded.decode() if codec.text else encoded) == message


@BOTH
@pytest.mark.parametrize("struct", DAEMON, ids=lambda struct: struct.__name__)
@settings(max_examples=30)
@given(data=st.data())
def test_every_message_of_the_daemon_comes_back_as_it_was(struct: type[Struct], subprotocol: str, data: Any) -> None:
    codec = client_codec(subprotocol)
    message = data.draw(messages(struct))
    encoded = codec.encode(message)
    assert codec.decode(encoded.decode() if codec.text else encoded) == message


@BOTH
def test_bytes_are_binary_in_msgpack_and_padded_base64_in_json(subprotocol: str) -> None:
    encoded = daemon_codec(subprotocol).encode(Content(data=b"\xff\x00\x01\xfe"))
    expected = b'{"bytes":"/wAB/g=="}' if subprotocol == SUBPROTOCOL_JSON else b"\x81\xa5bytes\xc4\x04\xff\x00\x01\xfe"
    assert encoded == expected


@BOTH
def test_a_missing_field_takes_its_default_and_an_unknown_one_is_passed_over(subprotocol: str) -> None:
    frame = encode(subprotocol, {"newer": {"a": [1]}, "type": "sync", "id": 4})
    assert daemon_codec(subprotocol).decode(frame) == Sync(id=4, after=0, epoch="", session="", follow=False)


@BOTH
def test_integers_reach_to_two_to_the_53_less_one(subprotocol: str) -> None:
    codec = daemon_codec(subprotocol)
    assert codec.decode(encode(subprotocol, {"type": "ping", "id": INTEGER_MAX})) == Ping(id=2**53 - 1)
    read: dict[str, Any] = {"kind": "read", "path": "a", "absolute": "/a", "content": {"sha256": "0" * 64}}
    request = {"type": "result", "id": 1, "session": "s", "key": "k", "tool": "read"}
    least = codec.decode(encode(subprotocol, {**request, "body": {**read, "offset": -(2**53) + 1}}))
    assert isinstance(least, Result)
    assert refusal(codec, encode(subprotocol, {**request, "body": {**read, "offset": -(2**53)}})) == ("bad_message", 1)
    assert refusal(codec, encode(subprotocol, {**request, "body": {**read, "offset": 2**53}})) == ("bad_message", 1)


def test_a_pair_of_escaped_surrogates_in_json_is_its_character() -> None:
    frame = '{"type":"message","id":1,"session":"s","key":"k","role":"user","text":"\\ud83d\\ude00"}'
    assert daemon_codec(SUBPROTOCOL_JSON).decode(frame) == Message(
        id=1, session="s", key="k", role="user", text="\U0001f600"
    )


def test_of_a_key_that_stands_twice_the_last_counts() -> None:
    codec = daemon_codec(SUBPROTOCOL_JSON)
    assert codec.decode('{"type":"ping","id":1,"id":2}') == Ping(id=2)
    args = '{"type":"result","id":1,"session":"s","key":"k","tool":"t","body":{"kind":"text","text":""},"args":{"a":1,"a":2}}'
    decoded = codec.decode(args)
    assert isinstance(decoded, Result)
    assert decoded.args == {"a": 2}
    packed = b"\x83\xa4type\xa4ping\xa2id\x01\xa2id\x02"
    assert daemon_codec(SUBPROTOCOL_MSGPACK).decode(packed) == Ping(id=2)


def test_a_tool_body_keeps_every_character_as_it_came() -> None:
    text = "\x00\x7f\r\n\u2028\ufeff e\u0301 \U0010ffff"
    for subprotocol in (SUBPROTOCOL_MSGPACK, SUBPROTOCOL_JSON):
        codec = daemon_codec(subprotocol)
        message = Result(id=1, session="s", key="k", tool="t", body=TextBody(text=text))
        assert codec.decode(codec.encode(message)) == message


# --- What does not fit: the link goes on ------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize(
    "message, code, re",
    [
        ({"type": "pong", "id": 3}, "unknown_type", 3),
        ({"type": "", "id": 3}, "unknown_type", 3),
        ({"type": "welcome", "id": 3}, "unknown_type", 3),
        ({"id": 3}, "bad_message", 3),
        ({"type": None, "id": 3}, "bad_message", 3),
        ({"type": 5, "id": 3}, "bad_message", 3),
        ({"type": ["ping"], "id": 3}, "bad_message", 3),
        ({"type": "ping"}, "bad_message", 0),
        ({"type": "ping", "id": 0}, "bad_message", 0),
        ({"type": "ping", "id": -1}, "bad_message", 0),
        ({"type": "ping", "id": 2**53}, "bad_message", 0),
        ({"type": "ping", "id": 2**64 - 1}, "bad_message", 0),
        ({"type": "ping", "id": 1.0}, "bad_message", 0),
        ({"type": "ping", "id": 1.5}, "bad_message", 0),
        ({"type": "ping", "id": "1"}, "bad_message", 0),
        ({"type": "ping", "id": True}, "bad_message", 0),
        ({"type": "ping", "id": None}, "bad_message", 0),
        ({"type": "sync", "id": 3, "follow": 1}, "bad_message", 3),
        ({"type": "sync", "id": 3, "after": None}, "bad_message", 3),
        ({"type": "sync", "id": 3, "after": -1}, "bad_message", 3),
        ({"type": "sync", "id": 3, "after": True}, "bad_message", 3),
        ({"type": "sync", "id": 3, "session": "x" * 129}, "too_large", 3),
        ({"type": "history", "id": 3, "session": "s", "limit": 0}, "bad_message", 3),
        ({"type": "history", "id": 3, "session": "s", "limit": 1001}, "bad_message", 3),
        ({"type": "open", "id": 3, "session": "s"}, "bad_message", 3),
        ({"type": "open", "id": 3, "session": "s", "kind": "other"}, "bad_message", 3),
        ({"type": "open", "id": 3, "session": "", "kind": "chat"}, "bad_message", 3),
        ({"type": "open", "id": 3, "session": "é" * 129, "kind": "chat"}, "too_large", 3),
        ({"type": "open", "id": 3, "session": "s", "kind": "chat", "title": "x" * 1025}, "too_large", 3),
        ({"type": "open", "id": 3, "session": "s", "kind": "chat", "title": None}, "bad_message", 3),
        ({"type": "turn", "id": 3, "session": "s", "turn": ""}, "bad_message", 3),
        ({"type": "compact", "id": 3, "session": "s", "key": "x" * 129}, "too_large", 3),
        ({"type": "carry", "id": 3, "session": "s", "key": "k", "results": "some"}, "bad_message", 3),
        ({"type": "carry", "id": 3, "session": "s", "key": "k", "results": [1]}, "bad_message", 3),
        ({"type": "take_back", "id": 3, "session": "s", "key": "k", "turns": []}, "bad_message", 3),
        ({"type": "take_back", "id": 3, "session": "s", "key": "k", "turns": ["x" * 129]}, "too_large", 3),
        ({"type": "show", "id": 3, "session": "s", "result": "1", "from_char": -1}, "bad_message", 3),
        ({"type": "hello", "id": 3, "client": "c", "max_frame": 4095}, "bad_message", 3),
        ({"type": "part", "index": -1, "last": True, "data": b""}, "bad_message", 0),
        ([{"type": "ping", "id": 3}], "bad_message", 0),
        ("ping", "bad_message", 0),
        (None, "bad_message", 0),
        (7, "bad_message", 0),
        ({}, "bad_message", 0),
    ],
)
def test_a_message_that_does_not_fit_gets_its_error_and_names_its_request(
    message: object, code: str, re: int, subprotocol: str
) -> None:
    assert refusal(daemon_codec(subprotocol), encode(subprotocol, message)) == (code, re)


BODY: dict[str, Any] = {"type": "result", "id": 3, "session": "s", "key": "k", "tool": "t"}
CHANGE: dict[str, Any] = {"path": "a", "absolute": "/a"}
HASH = "ab" * 32
WINDOW: dict[str, Any] = {"text": "a", "lines": 1, "sha256": HASH}


@BOTH
@pytest.mark.parametrize(
    "body, code",
    [
        ({"kind": "newer", "text": ""}, "bad_message"),
        ({"text": ""}, "bad_message"),
        ("text", "bad_message"),
        ({"kind": "text"}, "bad_message"),
        ({"kind": "text", "text": "", "error": None}, "bad_message"),
        ({"kind": "change", "changes": []}, "bad_message"),
        ({"kind": "change", "changes": [{**CHANGE, "before": None, "after": None}]}, "bad_message"),
        ({"kind": "change", "changes": [{**CHANGE, "before": None}]}, "bad_message"),
        ({"kind": "change", "changes": [{**CHANGE, "before": None, "after": {"window": WINDOW}}]}, "bad_message"),
        (
            {"kind": "change", "changes": [{**CHANGE, "before": {"text": "", "bytes": b""}, "after": None}]},
            "bad_message",
        ),
        ({"kind": "read", "path": "x" * 4097, "absolute": "/", "content": {"text": ""}}, "too_large"),
        ({"kind": "read", "path": "x", "absolute": "x" * 4097, "content": {"text": ""}}, "too_large"),
        ({"kind": "read", "path": "x", "absolute": "/", "content": {}}, "bad_message"),
        ({"kind": "read", "path": "x", "absolute": "/", "content": None}, "bad_message"),
        ({"kind": "read", "path": "x", "absolute": "/", "content": {"sha256": "ab"}}, "bad_message"),
        ({"kind": "read", "path": "x", "absolute": "/", "content": {"sha256": HASH + "\n"}}, "bad_message"),
        ({"kind": "read", "path": "x", "absolute": "/", "content": {"sha256": "AB" * 32}}, "bad_message"),
        ({"kind": "read", "path": "x", "absolute": "/", "content": {"sha256": None, "text": ""}}, "bad_message"),
        ({"kind": "read", "path": "x", "absolute": "/", "content": {"window": WINDOW, "text": ""}}, "bad_message"),
        ({"kind": "read", "path": "x", "absolute": "/", "content": {"window": WINDOW, "sha256": HASH}}, "bad_message"),
        ({"kind": "read", "path": "x", "absolute": "/", "content": {"window": {"text": "a"}}}, "bad_message"),
        ({"kind": "read", "path": "x", "absolute": "/", "offset": 1.0, "content": {"text": ""}}, "bad_message"),
    ],
)
def test_a_body_that_does_not_fit_gets_its_error(body: object, code: str, subprotocol: str) -> None:
    assert refusal(daemon_codec(subprotocol), encode(subprotocol, {**BODY, "body": body})) == (code, 3)


@BOTH
@pytest.mark.parametrize(
    "content",
    [
        {"text": "a"},
        {"bytes": b"a"},
        {"sha256": HASH},
        {"window": WINDOW},
        {"text": "a", "sha256": HASH},
        {"bytes": b"a", "sha256": HASH},
        {"text": "", "newer": 1},
    ],
)
def test_each_way_to_send_a_content_fits(content: dict[str, Any], subprotocol: str) -> None:
    body = {"kind": "read", "path": "x", "absolute": "/", "content": content}
    decoded = daemon_codec(subprotocol).decode(encode(subprotocol, {**BODY, "body": body}))
    assert isinstance(decoded, Result)


@pytest.mark.parametrize(
    "text, re",
    [
        ('{"type":"message","id":3,"session":"s","key":"k","role":"user","text":"a\\ud800"}', 3),
        ('{"type":"message","id":3,"session":"s","key":"k","role":"user","text":"\\udc00\\ud800"}', 3),
        ('{"type":"ping","id":3,"unknown":"\\ud800"}', 3),
        ('{"\\udfff":1,"type":"ping","id":3}', 3),
        ('{"type":"ping\\ud800","id":3}', 3),
        ('{"type":"ping","id":3,"x":NaN}', 3),
        ('{"type":"ping","id":3,"x":[Infinity]}', 3),
        ('{"type":"ping","id":-Infinity}', 0),
    ],
)
def test_json_with_a_lone_surrogate_or_a_number_that_json_has_not_keeps_the_link(text: str, re: int) -> None:
    assert refusal(daemon_codec(SUBPROTOCOL_JSON), text) == ("bad_message", re)


def test_a_string_of_msgpack_that_is_no_unicode_keeps_the_link() -> None:
    head = b"\x86\xa4type\xa7message\xa2id\x03\xa7session\xa1s\xa3key\xa1k\xa4role\xa4user\xa4text"
    codec = daemon_codec(SUBPROTOCOL_MSGPACK)
    # An unpaired surrogate as UTF-8 would have it, a byte that is never UTF-8, and a sequence that is cut short.
    for text in (b"\xa3\xed\xa0\x80", b"\xa1\xff", b"\xa2\xe2\x82"):
        assert refusal(codec, head + text) == ("bad_message", 3)


def test_the_keys_of_a_message_are_strings() -> None:
    codec = daemon_codec(SUBPROTOCOL_MSGPACK)
    assert refusal(codec, msgspec.msgpack.encode({1: 2, "type": "ping", "id": 3})) == ("bad_message", 3)
    assert refusal(codec, msgspec.msgpack.encode({b"type": "ping", "id": 3})) == ("bad_message", 3)


def test_numbers_of_thousands_of_digits_keep_the_link() -> None:
    codec = daemon_codec(SUBPROTOCOL_JSON)
    digits = "9" * 5000
    assert refusal(codec, f'{{"type":"ping","id":{digits}}}') == ("bad_message", 0)
    assert refusal(codec, f'{{"type":"ping","id":"x","x":{digits}}}') == ("bad_message", 0)
    args = f'{{"type":"result","id":3,"session":"s","key":"k","tool":"t","body":{{"kind":"text","text":""}},"args":{{"a":{digits}}}}}'
    assert refusal(codec, args) == ("bad_message", 3)


@BOTH
def test_the_sentence_does_not_repeat_a_long_value(subprotocol: str) -> None:
    for message in ({"type": "x" * MILLION, "id": 3}, {**BODY, "body": {"kind": "x" * MILLION}}):
        with pytest.raises(RequestError) as refused:
            daemon_codec(subprotocol).decode(encode(subprotocol, message))
        assert len(refused.value.sentence) < 400


@BOTH
def test_a_sentence_names_the_field_and_its_limit(subprotocol: str) -> None:
    with pytest.raises(RequestError, match="`session` is longer than its limit of 128"):
        daemon_codec(subprotocol).decode(
            encode(subprotocol, {"type": "turn", "id": 1, "session": "x" * 129, "turn": "t"})
        )


# --- Depth -----------------------------------------------------------------------------------------------------------


def nested(subprotocol: str, opening: bytes, closing: bytes, *, cut: bool) -> bytes:
    """A ping with an unknown field that is nested a million deep, its head before and behind it."""
    if subprotocol == SUBPROTOCOL_JSON:
        inner = opening * MILLION + (b"" if cut else b"1" + closing * MILLION)
        return b'{"type":"ping","x":' + inner + (b"" if cut else b',"id":3}')
    inner = opening * MILLION + (b"" if cut else b"\x01")
    return b"\x83\xa4type\xa4ping\xa1x" + inner + (b"" if cut else b"\xa2id\x03")


@pytest.mark.parametrize(
    "subprotocol, opening, closing",
    [
        (SUBPROTOCOL_JSON, b"[", b"]"),
        (SUBPROTOCOL_JSON, b'{"a":', b"}"),
        (SUBPROTOCOL_MSGPACK, b"\x91", b""),
        (SUBPROTOCOL_MSGPACK, b"\x81\xa1a", b""),
    ],
)
def test_a_million_levels_are_too_large_and_cut_short_are_undecodable(
    subprotocol: str, opening: bytes, closing: bytes
) -> None:
    codec = daemon_codec(subprotocol)
    assert refusal(codec, nested(subprotocol, opening, closing, cut=False)) == ("too_large", 3)
    assert close(codec, nested(subprotocol, opening, closing, cut=True)) == 1007


def test_args_nested_a_million_deep_are_too_large() -> None:
    text = '{"type":"result","id":3,"session":"s","key":"k","tool":"t","args":{"a":%s1%s},"body":{"kind":"text","text":""}}'
    codec = daemon_codec(SUBPROTOCOL_JSON)
    assert refusal(codec, text % ("[" * MILLION, "]" * MILLION)) == ("too_large", 3)
    assert refusal(codec, text % ('{"type":"x","id":9,"a":' * MILLION, "}" * MILLION)) == ("too_large", 3)


# --- What is no message: the link is closed ----------------------------------------------------------------------------


@given(st.sampled_from([Describe(id=5), Open(id=1, session="s", kind="chat", title="é😀")]), st.data())
def test_a_message_that_is_cut_short_anywhere_closes_the_link(message: Struct, data: Any) -> None:
    for subprotocol in (SUBPROTOCOL_MSGPACK, SUBPROTOCOL_JSON):
        codec = daemon_codec(subprotocol)
        encoded = codec.encode(message)
        assert close(codec, encoded[: data.draw(st.integers(0, len(encoded) - 1))]) == CloseCode.UNDECODABLE


@pytest.mark.parametrize("more", ["x", "{}", ",", "\x00"])
def test_bytes_behind_the_end_close_the_link(more: str) -> None:
    for subprotocol in (SUBPROTOCOL_MSGPACK, SUBPROTOCOL_JSON):
        codec = daemon_codec(subprotocol)
        assert close(codec, codec.encode(Ping(id=1)) + more.encode()) == CloseCode.UNDECODABLE


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "ping",
        "{'type':'ping','id':1}",
        '{"type":"ping","id":01}',
        '{"type":"ping","id":1,}',
        '{"type":"ping","id":1,"x":"\t"}',
        '\ufeff{"type":"ping","id":1}',
        '{"type":"ping","id":1',
    ],
)
def test_text_that_is_no_json_closes_the_link(text: str) -> None:
    codec = daemon_codec(SUBPROTOCOL_JSON)
    assert close(codec, text) == CloseCode.UNDECODABLE
    assert close(codec, text.encode()) == CloseCode.UNDECODABLE


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "latin-1"])
def test_joined_json_in_another_encoding_closes_the_link(encoding: str) -> None:
    text = '{"type":"message","id":3,"session":"s","key":"k","role":"user","text":"é"}'
    assert close(daemon_codec(SUBPROTOCOL_JSON), text.encode(encoding)) == CloseCode.UNDECODABLE


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xc1",
        b"\x81\xa4type",
        b"\xdf\xff\xff\xff\xff",
        b"\xdd\xff\xff\xff\xff",
        b"\xdb\xff\xff\xff\xff",
        b"\xc6\xff\xff\xff\xff",
        b"\xc9\xff\xff\xff\xff\x01",
        b"\xdf\x00",
        b"\x83\xa4type\xa4ping\xa2id\x01\xa1x\xc1",
    ],
)
def test_what_is_no_msgpack_closes_the_link(data: bytes) -> None:
    assert close(daemon_codec(SUBPROTOCOL_MSGPACK), data) == CloseCode.UNDECODABLE


def outcome(codec: Codec[Any], data: bytes) -> object:
    try:
        return codec.decode(data)
    except (RequestError, FrameError) as fault:
        return fault


@given(st.binary(max_size=64))
def test_any_bytes_are_a_message_an_error_or_the_end_and_nothing_else(data: bytes) -> None:
    for codec in (daemon_codec(SUBPROTOCOL_MSGPACK), daemon_codec(SUBPROTOCOL_JSON)):
        match outcome(codec, data):
            case RequestError(code=code, re=re):
                assert 0 <= re <= INTEGER_MAX
                assert code in (ErrorCode.BAD_MESSAGE, ErrorCode.UNKNOWN_TYPE, ErrorCode.TOO_LARGE)
            case FrameError(code=code):
                assert code is CloseCode.UNDECODABLE
            case message:
                assert isinstance(message, Struct)


@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=3),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["type", "id", "x"]), inner),
    )
)
def test_any_json_is_a_message_or_an_error(value: object) -> None:
    codec = daemon_codec(SUBPROTOCOL_JSON)
    with pytest.raises(RequestError):
        codec.decode(json.dumps(value))


def test_each_subprotocol_takes_its_own_kind_of_frame() -> None:
    packed, text = daemon_codec(SUBPROTOCOL_MSGPACK), daemon_codec(SUBPROTOCOL_JSON)
    packed.check_kind(b"")
    text.check_kind("")
    for codec, frame in ((packed, "{}"), (text, b"\x80")):
        with pytest.raises(FrameError) as closed:
            codec.check_kind(frame)
        assert closed.value.code == 1007


def test_there_is_no_third_subprotocol() -> None:
    with pytest.raises(ValueError, match=r"waybread\.v2\.json"):
        daemon_codec("waybread.v2.json")


# --- The client's side -----------------------------------------------------------------------------------------------


@BOTH
def test_a_client_learns_which_of_its_requests_an_odd_answer_is_about(subprotocol: str) -> None:
    codec = client_codec(subprotocol)
    assert refusal(codec, encode(subprotocol, {"type": "done", "re": 7, "seq": None})) == ("bad_message", 7)
    assert refusal(codec, encode(subprotocol, {"type": "newer", "re": 7, "id": 9})) == ("unknown_type", 7)
    assert refusal(codec, encode(subprotocol, {"type": "newer_push"})) == ("unknown_type", 0)
    assert codec.decode(encode(subprotocol, {"type": "done", "re": 0, "newer": 1})) == Done(re=0)
