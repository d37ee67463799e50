"""Compression: what comes out is what went in, and what gains nothing stays as it is."""

import random

from waybread_daemon.store.sqlite.packing import Encoding, Packer, Unpacker, raw_size


def test_payloads_come_out_as_they_went_in_alone_and_together() -> None:
    noise = random.Random(1)
    payloads = [b"", b"short", b"x" * 63, b"x" * 64, noise.randbytes(64), noise.randbytes(5000), b"long " * 10_000]
    unpacker = Unpacker()
    for batch in (payloads, *([payload] for payload in payloads)):
        packed = Packer().pack_all(batch)
        assert [unpacker.unpack_entry(*one) for one in packed] == batch


def test_a_compressed_payload_tells_the_size_that_it_had_and_a_damaged_one_its_own() -> None:
    ((_, packed),) = Packer().pack_all([b"x" * 5000])
    assert raw_size(packed) == 5000
    assert raw_size(packed[:8]) == 5000
    assert [raw_size(damaged) for damaged in (b"", b"short", bytes(100))] == [0, 5, 100]


def test_only_what_gets_smaller_is_compressed() -> None:
    noise = random.Random(1).randbytes(1000)
    for batch in ([b"x" * 1000, noise, b"x" * 63], [noise]):
        for payload, (encoding, stored) in zip(batch, Packer().pack_all(batch), strict=True):
            smaller = payload == b"x" * 1000
            assert encoding == (Encoding.ZSTD if smaller else Encoding.RAW)
            assert len(stored) < 50 if smaller else stored == payload


def test_content_comes_out_as_it_went_in() -> None:
    for data in (b"", b"x", b"content " * 100_000):
        packed = Packer().pack(data)
        assert Unpacker().unpack(packed) == data
        assert len(packed) < 200
