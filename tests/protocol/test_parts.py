"""A message in parts, in both subprotocols and both directions."""

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from waybread_protocol.codec import client_codec, daemon_codec
from waybread_protocol.errors import FrameError
from waybread_protocol.limits import LEAST_MAX_BYTES, SUBPROTOCOL_JSON, SUBPROTOCOL_MSGPACK
from waybread_protocol.messages import Message, Part
from waybread_protocol.parts import Joiner, frames

BOTH = pytest.mark.parametrize("subprotocol", [SUBPROTOCOL_MSGPACK, SUBPROTOCOL_JSON])


def join(subprotocol: str, pieces: list[bytes], max_message: int = 2**30) -> bytes:
    """The message that the pieces make, which must end with the last of them."""
    codec = daemon_codec(subprotocol)
    joiner = Joiner(max_message)
    for number, piece in enumerate(pieces):
        part = codec.decode(piece.decode() if codec.text else piece)
        assert isinstance(part, Part)
        whole = joiner.join(part)
        assert (whole is not None) == (number == len(pieces) - 1)
        assert joiner.waiting == (whole is None)
        if whole is not None:
            return whole
    raise AssertionError("the pieces have no end")


@BOTH
@given(
    size=st.integers(LEAST_MAX_BYTES + 1, 40_000) | st.sampled_from([4097, 8000, 8192, 12_000, 12_288]),
    max_frame=st.integers(LEAST_MAX_BYTES, 9000),
)
def test_every_frame_keeps_the_limit_and_the_parts_join_to_the_message(
    size: int, max_frame: int, subprotocol: str
) -> None:
    encoded = bytes(range(256)) * (size // 256) + b"x" * (size % 256)
    pieces = frames(encoded, max_frame, text=subprotocol == SUBPROTOCOL_JSON)
    assert all(len(piece) <= max_frame for piece in pieces)
    if len(encoded) <= max_frame:
        assert pieces == [encoded]
    else:
        assert join(subprotocol, pieces) == encoded


@BOTH
@pytest.mark.parametrize("size", [0, 1, 4095, 4096])
def test_a_message_that_fits_goes_whole(size: int, subprotocol: str) -> None:
    encoded = b"x" * size
    assert frames(encoded, 4096, text=subprotocol == SUBPROTOCOL_JSON) == [encoded]


@BOTH
def test_one_byte_more_than_a_frame_goes_in_two_parts(subprotocol: str) -> None:
    pieces = frames(b"x" * 4097, 4096, text=subprotocol == SUBPROTOCOL_JSON)
    assert len(pieces) == 2
    assert join(subprotocol, pieces) == b"x" * 4097


@BOTH
def test_parts_use_most_of_their_frames(subprotocol: str) -> None:
    text = subprotocol == SUBPROTOCOL_JSON
    pieces = frames(b"x" * 10_000_000, 1_048_576, text=text)
    assert len(pieces) == (13 if text else 10)


@BOTH
def test_thousands_of_parts_keep_the_limit_though_their_index_grows(subprotocol: str) -> None:
    pieces = frames(b"x" * 20_000_000, 4096, text=subprotocol == SUBPROTOCOL_JSON)
    assert len(pieces) > 4000
    assert max(len(piece) for piece in pieces) <= 4096
    assert len(join(subprotocol, pieces)) == 20_000_000


def test_parts_look_the_same_to_every_decoder() -> None:
    pieces = frames(b"\xff" * 5000, 4096, text=True)
    decoded = [json.loads(piece) for piece in pieces]
    assert [(part["type"], part["index"], part["last"]) for part in decoded] == [("part", 0, False), ("part", 1, True)]
    assert b"".join(base64.b64decode(part["data"], validate=True) for part in decoded) == b"\xff" * 5000
    codec = client_codec(SUBPROTOCOL_JSON)
    assert codec.decode(codec.encode(Part(index=1, last=True, data=b"ab"))) == Part(index=1, last=True, data=b"ab")


@BOTH
@given(text=st.text(min_size=1), cuts=st.lists(st.integers(0, 400), max_size=8))
def test_a_message_may_be_split_anywhere_also_inside_of_a_character(
    text: str, cuts: list[int], subprotocol: str
) -> None:
    codec = daemon_codec(subprotocol)
    message = Message(id=1, session="s", key="k", role="user", text=text)
    encoded = codec.encode(message)
    ends = [*sorted({cut for cut in cuts if 0 < cut < len(encoded)}), len(encoded)]
    joiner = Joiner(len(encoded))
    start, whole = 0, None
    for index, end in enumerate(ends):
        assert whole is None
        whole = joiner.join(Part(index=index, last=end == len(encoded), data=encoded[start:end]))
        start = end
    assert whole is not None
    assert whole == encoded
    assert codec.decode(whole) == message


def part(index: int, data: bytes = b"x", *, last: bool = False) -> Part:
    return Part(index=index, last=last, data=data)


@pytest.mark.parametrize(
    "before, misfit",
    [
        ([], part(1)),
        ([], part(1, last=True)),
        ([part(0)], part(0)),
        ([part(0)], part(2)),
        ([part(0), part(1)], part(1)),
        ([part(0), part(1)], part(0, last=True)),
        ([part(0, last=True)], part(1)),
        ([part(0), part(1, last=True)], part(2)),
        ([], part(2**53 - 1)),
    ],
)
def test_a_part_that_does_not_fit_closes_the_link(before: list[Part], misfit: Part) -> None:
    joiner = Joiner(1000)
    for piece in before:
        joiner.join(piece)
    with pytest.raises(FrameError) as closed:
        joiner.join(misfit)
    assert closed.value.code == 1007


def test_a_joined_message_may_have_the_limit_and_not_one_byte_more() -> None:
    joiner = Joiner(1000)
    assert joiner.join(part(0, b"x" * 999)) is None
    assert joiner.join(part(1, b"y", last=True)) == b"x" * 999 + b"y"
    joiner.join(part(0, b"x" * 999))
    with pytest.raises(FrameError, match="limit of 1000 bytes") as closed:
        joiner.join(part(1, b"yy", last=True))
    assert closed.value.code == 1009


def test_the_limit_holds_before_the_last_part_has_come() -> None:
    joiner = Joiner(1000)
    for index in range(10):
        joiner.join(part(index, b"x" * 100))
    with pytest.raises(FrameError) as closed:
        joiner.join(part(10))
    assert closed.value.code == 1009


def test_one_message_after_the_other_goes_through_the_same_joiner() -> None:
    joiner = Joiner(10)
    for _ in range(3):
        assert joiner.join(part(0, b"abc")) is None
        assert joiner.join(part(1, b"", last=True)) == b"abc"
        assert joiner.join(part(0, b"single", last=True)) == b"single"
        assert not joiner.waiting


def test_empty_parts_are_parts() -> None:
    joiner = Joiner(2)
    for index, data in enumerate((b"", b"a", b"", b"")):
        assert joiner.join(part(index, data)) is None
        assert joiner.waiting
    assert joiner.join(part(4, b"b", last=True)) == b"ab"
