import queue
import threading
import time
from collections.abc import Callable

from waybread_daemon.life.guard import HURRY_TIMEOUT_S, STOP_TIMEOUT_S, Guard

WITHIN_S = 10


class Process:
    """What the guard ends, in place of this one."""

    def __init__(self, stop_timeout_s: float, hurry_timeout_s: float, last_words: Callable[[], object]) -> None:
        self.stops: queue.SimpleQueue[None] = queue.SimpleQueue()
        self.ended: queue.SimpleQueue[int] = queue.SimpleQueue()
        Guard(
            self.stops,
            last_words,
            stop_timeout_s=stop_timeout_s,
            hurry_timeout_s=hurry_timeout_s,
            end=self.ended.put,
        ).start()


def test_a_process_that_nobody_stops_goes_on_and_one_that_was_told_to_ends_in_time_with_status_0() -> None:
    said: list[str] = []
    process = Process(0.2, 0.1, lambda: said.append("last words"))
    time.sleep(0.4)
    assert process.ended.empty()
    began = time.monotonic()
    process.stops.put(None)
    assert process.ended.get(timeout=WITHIN_S) == 0
    assert time.monotonic() - began >= 0.2
    assert said == ["last words"]


def test_a_second_signal_shortens_what_is_left() -> None:
    process = Process(60, 0.1, lambda: None)
    process.stops.put(None)
    process.stops.put(None)
    assert process.ended.get(timeout=WITHIN_S) == 0


def test_a_third_signal_gives_no_new_time() -> None:
    process = Process(0.3, 60, lambda: None)
    began = time.monotonic()
    for _ in range(3):
        process.stops.put(None)
    assert process.ended.get(timeout=WITHIN_S) == 0
    assert time.monotonic() - began < 5


def test_a_log_that_hangs_does_not_hold_the_end_up() -> None:
    hanging = threading.Event()
    process = Process(0.01, 0.01, hanging.wait)
    process.stops.put(None)
    assert process.ended.get(timeout=WITHIN_S) == 0
    hanging.set()


def test_the_times_are_within_the_half_minute_that_is_promised() -> None:
    assert (STOP_TIMEOUT_S, HURRY_TIMEOUT_S) == (28, 5)
