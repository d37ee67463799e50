"""The codecs and the parts on bytes at random, without a socket: they decode, or say which of two faults it is."""

from __future__ import annotations

import random

import msgspec
import pytest

from tests.fuzz.made import REQUESTS
from tests.fuzz.opinion import Opinion, of_json, of_msgpack
from tests.fuzz.spoiled import as_text, nested, odd_json, parts_of, spoiled
from waybread_protocol.canonical import canonical_args
from waybread_protocol.codec import Codec, client_codec, daemon_codec
from waybread_protocol.errors import CloseCode, FrameError, RequestError
from waybread_protocol.lifting import lift
from waybread_protocol.limits import SUBPROTOCOL_JSON, SUBPROTOCOL_MSGPACK
from waybread_protocol.messages import FromClient, Part, Result
from waybread_protocol.parts import Joiner, frames

CODECS = [SUBPROTOCOL_MSGPACK, SUBPROTOCOL_JSON]


def bytes_at_random(seed: int, *, text: bool) -> bytes:
    chance = random.Random(seed)
    fate = chance.random()
    if fate < 0.01:
        return nested(chance, text=text)
    if fate < 0.05 and text:
        return odd_json(chance)
    return spoiled(chance, chance.choice((*REQUESTS, "part")), text=text)


def tried(codec: Codec[FromClient], frame: bytes | str) -> Opinion:
    """What the daemon's codec makes of a frame. Anything but its two errors goes through and fails the test."""
    try:
        message = codec.decode(frame)
        if isinstance(message, Result):
            canonical_args(message.args)
    except FrameError as fault:
        broken: FrameError | RequestError = fault
    except RequestError as fault:
        broken = fault
    else:
        return Opinion.MESSAGE
    assert 0 < len(broken.sentence) < 600
    if isinstance(broken, FrameError):
        assert broken.code == CloseCode.UNDECODABLE
        return Opinion.NONE
    assert 0 <= broken.re < 2**53
    return Opinion.MESSAGE


def compare(subprotocol: str, seeds: range) -> None:
    codec = daemon_codec(subprotocol)
    seen: dict[Opinion, int] = dict.fromkeys(Opinion, 0)
    for seed in seeds:
        data = bytes_at_random(seed, text=codec.text)
        frame = as_text(data) if codec.text else data
        if frame is None:
            continue
        opinion = of_json(frame) if isinstance(frame, str) else of_msgpack(frame)
        seen[opinion] += 1
        found = tried(codec, frame)
        assert opinion in (found, Opinion.UNSURE), (seed, data[:300])
    assert min(seen.values()) > len(seeds) // 200


@pytest.mark.parametrize("subprotocol", CODECS)
def test_twenty_thousand_frames_are_messages_or_none_as_a_second_opinion_has_it(subprotocol: str) -> None:
    compare(subprotocol, range(20_000))


@pytest.mark.long
@pytest.mark.parametrize("subprotocol", CODECS)
def test_half_a_million_more_frames_are_messages_or_none_as_a_second_opinion_has_it(subprotocol: str) -> None:
    compare(subprotocol, range(1_000_000, 1_500_000))


@pytest.mark.parametrize("subprotocol", CODECS)
def test_a_client_takes_any_bytes_for_a_message_or_one_of_two_faults(subprotocol: str) -> None:
    codec = client_codec(subprotocol)
    known = 0
    for seed in range(10_000):
        data = bytes_at_random(seed, text=codec.text).replace(b"id", b"re").replace(b"ping", b"done")
        frame = as_text(data) if codec.text else data
        if frame is None:
            continue
        try:
            codec.decode(frame)
            known += 1
        except (FrameError, RequestError):
            pass
    assert known > 100


@pytest.mark.parametrize("subprotocol", CODECS)
def test_what_is_lifted_out_of_large_bytes_at_random_is_what_decoding_gives(subprotocol: str) -> None:
    codec = daemon_codec(subprotocol)
    encode = msgspec.json.encode if codec.text else msgspec.msgpack.encode
    lifted_some = 0
    for seed in range(1500):
        chance = random.Random(seed)
        large = chance.choice(("a" * 270_000, "é" * 140_000, "\U0001f600" * 70_000, 'x"\n\\' * 70_000))
        body = {"kind": "text", "text": large}
        message = {"type": "result", "id": 1, "session": "s", "key": "k", "tool": "t", "body": body}
        data = bytearray(encode(message))
        for _ in range(chance.randrange(3)):
            data[chance.choice((chance.randrange(60), chance.randrange(len(data))))] ^= 1 << chance.randrange(8)
        lifted = lift(bytes(data), text=codec.text)
        if lifted is None:
            continue
        lifted_some += 1
        decoded = codec.decode(bytes(data))
        assert isinstance(decoded, Result)
        assert isinstance(lifted.request, Result)
        assert lifted.text.decode() == getattr(decoded.body, "text", None), seed
        assert (lifted.request.id, lifted.request.args) == (decoded.id, decoded.args), seed
    assert 300 < lifted_some < 1500


@pytest.mark.parametrize("subprotocol", CODECS)
def test_any_bytes_cut_into_frames_of_any_size_join_to_the_same_bytes(subprotocol: str) -> None:
    codec = daemon_codec(subprotocol)
    for seed in range(1500):
        chance = random.Random(seed)
        data = chance.randbytes(chance.choice((0, 1, 4095, 4096, 4097, 9000, 50_000)))
        max_frame = chance.choice((4096, 4097, 5000, 65_536))
        cut = frames(data, max_frame, text=codec.text)
        assert all(len(frame) <= max_frame for frame in cut)
        if len(data) <= max_frame:
            assert cut == [data]
            continue
        joiner, joined = Joiner(len(data)), None
        for frame in cut:
            assert joined is None
            part = codec.decode(frame.decode() if codec.text else frame)
            assert isinstance(part, Part)
            joined = joiner.join(part)
        assert joined == data
        assert not joiner.waiting


def test_parts_at_random_join_in_their_order_or_break_with_1007_or_1009_and_never_hold_more_than_the_limit() -> None:
    ends: dict[str, int] = {"joined": 0, "1007": 0, "1009": 0}
    for seed in range(5000):
        chance = random.Random(seed)
        joiner, held, wanted = Joiner(200), b"", 0
        for _ in range(chance.randint(1, 8)):
            index = wanted if chance.random() < 0.8 else chance.randrange(4)
            data = chance.randbytes(chance.choice((0, 1, 60, 150)))
            last = chance.random() < 0.3
            misfit, over = index != wanted, len(held + data) > 200
            if misfit or over:
                with pytest.raises(FrameError) as broken:
                    joiner.join(Part(index=index, last=last, data=data))
                assert misfit or broken.value.code == CloseCode.TOO_LARGE
                assert over or broken.value.code == CloseCode.UNDECODABLE
                ends[str(int(broken.value.code))] += 1
                break
            whole = joiner.join(Part(index=index, last=last, data=data))
            assert index == wanted
            held, wanted = held + data, wanted + 1
            assert len(held) <= 200
            assert whole == (held if last else None)
            if last:
                ends["joined"] += 1
                held, wanted = b"", 0
    assert min(ends.values()) > 500


@pytest.mark.parametrize("subprotocol", CODECS)
def test_a_message_in_parts_of_any_size_is_the_message(subprotocol: str) -> None:
    codec = daemon_codec(subprotocol)
    for seed in range(1500):
        chance = random.Random(seed)
        data = spoiled(chance, chance.choice(REQUESTS), text=codec.text)
        joiner, joined = Joiner(10_000_000), None
        for frame in parts_of(data, chance.choice((1000, 7000, 100_000)), text=codec.text):
            part = codec.decode(frame.decode() if codec.text else frame)
            assert isinstance(part, Part)
            joined = joiner.join(part)
        assert joined == data
