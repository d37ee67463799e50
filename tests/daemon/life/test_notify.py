import os
import time
from contextlib import closing
from pathlib import Path

import pytest

from tests.daemon.life.manager import managing
from waybread_daemon.life.notify import Notifier


@pytest.mark.parametrize("abstract", [False, True])
def test_each_state_is_one_datagram_of_lines(tmp_path: Path, abstract: bool) -> None:
    with managing(tmp_path, abstract=abstract) as manager:
        notifier = Notifier(manager.address)
        notifier.opening()
        notifier.extend(1.5)
        notifier.ready("Listening on ws://127.0.0.1:1/link")
        notifier.alive()
        notifier.stopping(28)
        told = [manager.hear() for _ in range(5)]
        notifier.close()
        notifier.alive()
        assert manager.drain() == []
    assert told == [
        {"STATUS": "Opening the store"},
        {"EXTEND_TIMEOUT_USEC": "1500000"},
        {"READY": "1", "STATUS": "Listening on ws://127.0.0.1:1/link"},
        {"WATCHDOG": "1"},
        {"STOPPING": "1", "STATUS": "Finishing what is under way", "EXTEND_TIMEOUT_USEC": "28000000"},
    ]


def test_a_reload_is_told_with_the_managers_own_clock(tmp_path: Path) -> None:
    with managing(tmp_path) as manager:
        before = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
        with closing(Notifier(manager.address)) as notifier:
            notifier.reloading()
        after = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
        told = manager.hear()
    assert told["RELOADING"] == "1"
    assert before <= int(told["MONOTONIC_USEC"]) <= after


def test_what_names_the_manager_is_taken_out_of_the_environment() -> None:
    environment = {"NOTIFY_SOCKET": "/run/n", "WATCHDOG_USEC": "3000000", "WATCHDOG_PID": str(os.getpid()), "HOME": "/"}
    with closing(Notifier.take(environment)) as notifier:
        assert notifier.watchdog_s == 3
    assert environment == {"HOME": "/"}


@pytest.mark.parametrize(
    "environment,watchdog_s",
    [
        ({"NOTIFY_SOCKET": "/run/n", "WATCHDOG_USEC": "2000000"}, 2),
        ({"NOTIFY_SOCKET": "/run/n", "WATCHDOG_USEC": "2000000", "WATCHDOG_PID": "1"}, 0),
        ({"NOTIFY_SOCKET": "/run/n", "WATCHDOG_USEC": "soon"}, 0),
        ({"NOTIFY_SOCKET": "/run/n"}, 0),
        ({"WATCHDOG_USEC": "2000000"}, 0),
        ({}, 0),
    ],
)
def test_the_watchdog_is_fed_only_where_it_watches_this_process(environment: dict[str, str], watchdog_s: float) -> None:
    with closing(Notifier.take(environment)) as notifier:
        assert notifier.watchdog_s == watchdog_s


def test_a_manager_that_does_not_listen_or_does_not_keep_up_is_no_fault(tmp_path: Path) -> None:
    for address in (str(tmp_path / "nobody"), ""):
        with closing(Notifier(address)) as notifier:
            notifier.ready("x")
    with managing(tmp_path) as manager, closing(Notifier(manager.address)) as notifier:
        for _ in range(2000):
            notifier.alive()
        assert 0 < len(manager.drain()) < 2000
