"""Keys: fresh, rising, as long as they say."""

import re
import secrets

from waybread_client import Keys


def test_a_key_is_48_bits_of_milliseconds_and_80_random_bits_in_hex() -> None:
    keys = Keys(now_ms=lambda: 0x0123456789AB, random_bits=lambda bits: (1 << bits) - 2)
    assert keys.new() == "0123456789ab" + "f" * 19 + "e"


def test_keys_rise_within_one_millisecond_and_where_the_clock_goes_back() -> None:
    times = iter([5, 5, 5, 4, 1, 6])
    keys = Keys(now_ms=lambda: next(times), random_bits=secrets.randbits)
    made = [keys.new() for _ in range(6)]
    assert made == sorted(made)
    assert len(set(made)) == 6


def test_the_clock_decides_the_order_of_keys_of_different_milliseconds() -> None:
    times = iter([1, 2])
    bits = iter([(1 << 80) - 1, 0])
    keys = Keys(now_ms=lambda: next(times), random_bits=lambda _: next(bits))
    assert [keys.new()[:12], keys.new()[:12]] == ["000000000001", "000000000002"]


def test_ten_thousand_keys_of_the_real_clock_are_all_different_and_in_order() -> None:
    keys = Keys()
    made = [keys.new() for _ in range(10_000)]
    assert len(set(made)) == 10_000
    assert made == sorted(made)
    assert all(re.fullmatch("[0-9a-f]{32}", key) for key in made)


def test_two_makers_do_not_make_the_same_keys() -> None:
    assert Keys(now_ms=lambda: 7).new() != Keys(now_ms=lambda: 7).new()
