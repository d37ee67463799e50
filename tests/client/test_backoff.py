"""Backoff: bounds that double, and a wait that is anything below them."""

import random

from waybread_client import Backoff


def test_the_bound_doubles_from_half_a_second_up_to_thirty() -> None:
    backoff = Backoff(random=lambda: 1.0)
    assert [backoff.next_s() for _ in range(9)] == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0, 30.0]


def test_the_jitter_is_full() -> None:
    backoff = Backoff(base_s=8, random=iter([0.0, 0.25, 0.999]).__next__)
    assert [backoff.next_s(), backoff.next_s(), backoff.next_s()] == [0.0, 4.0, 0.999 * 30]


def test_real_chance_spreads_waits_over_the_whole_range() -> None:
    backoff = Backoff(base_s=30, random=random.Random(1).random)
    waits = [backoff.next_s() for _ in range(1000)]
    assert min(waits) < 1
    assert max(waits) > 29
    assert all(0 <= wait <= 30 for wait in waits)


def test_reset_begins_anew() -> None:
    backoff = Backoff(random=lambda: 1.0)
    backoff.next_s()
    backoff.next_s()
    backoff.reset()
    assert backoff.next_s() == 0.5


def test_a_fresh_one_has_the_same_bounds_and_chance_and_its_own_state() -> None:
    backoff = Backoff(2, 3, random=lambda: 1.0)
    backoff.next_s()
    assert backoff.fresh().next_s() == 2
    assert backoff.next_s() == 3
