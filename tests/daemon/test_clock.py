"""The time of day."""

import time

from waybread_daemon.clock import now_ms


def test_it_is_in_whole_milliseconds_since_1970() -> None:
    before_s = time.time()
    now = now_ms()
    assert isinstance(now, int)
    assert before_s * 1000 - 1 <= now <= time.time() * 1000 + 1
