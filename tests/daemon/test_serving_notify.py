"""What a service manager is told by a real daemon, over a real socket."""

import signal
from pathlib import Path

from tests.daemon.life.hanging import DISK
from tests.daemon.life.manager import managing
from tests.daemon.life.processes import started
from tests.daemon.wire import greeted, text_result


def test_it_is_told_when_the_daemon_serves_reloads_and_stops(tmp_path: Path) -> None:
    with managing(tmp_path) as manager, started(tmp_path / "data", manager=manager) as daemon:
        url = daemon.listening()
        start = manager.hear_until("READY")
        daemon.signal(signal.SIGHUP)
        again = manager.hear_until("READY")
        daemon.signal(signal.SIGTERM)
        assert daemon.ended() == 0
        end = manager.drain()
    assert start[0] == {"STATUS": "Opening the store"}
    assert start[1] == {"EXTEND_TIMEOUT_USEC": "30000000"}
    assert start[-1] == {"READY": "1", "STATUS": f"Listening on {url}"}
    assert again[0]["RELOADING"] == "1"
    assert int(again[0]["MONOTONIC_USEC"]) > 0
    assert again[-1] == {"READY": "1", "STATUS": f"Listening on {url}"}
    assert end == [
        {"STOPPING": "1", "STATUS": "Finishing what is under way", "EXTEND_TIMEOUT_USEC": "28000000"},
    ]


def test_the_watchdog_is_fed_while_loop_and_writer_answer(tmp_path: Path) -> None:
    with managing(tmp_path) as manager, started(tmp_path / "data", manager=manager, watchdog_s=0.4) as daemon:
        manager.hear_until("READY")
        size = sum(file.stat().st_size for file in daemon.data.iterdir())
        assert 4 <= manager.fed_within(2) <= 12
        # To answer it the store writes nothing.
        assert sum(file.stat().st_size for file in daemon.data.iterdir()) == size


async def test_a_disk_that_hangs_under_the_writer_ends_the_feeding_until_it_goes_on(tmp_path: Path) -> None:
    with managing(tmp_path) as manager, started(tmp_path / "data", manager=manager, watchdog_s=0.4) as daemon:
        url = daemon.listening()
        token = daemon.device()
        async with greeted(url, token) as wire:
            await wire.ask("open", session="s", kind="agent")
            daemon.hang(DISK)
            waiting = await wire.send("result", **text_result("s", "k"))
            # The loop goes on: what needs no writer is answered.
            assert (await wire.ask("ping"))["type"] == "done"
            manager.drain()
            assert manager.fed_within(0.4) <= 1
            assert manager.fed_within(2) == 0
            daemon.go_on(DISK)
            assert (await wire.answer_to(waiting))["result"] == "#0001"
            assert manager.fed_within(2) >= 4


def test_a_loop_that_hangs_ends_the_feeding(tmp_path: Path) -> None:
    with managing(tmp_path) as manager, started(tmp_path / "data", manager=manager, watchdog_s=0.4) as daemon:
        manager.hear_until("READY")
        assert manager.fed_within(1) >= 2
        daemon.signal(signal.SIGUSR1)
        manager.drain()
        assert manager.fed_within(2) == 0


def test_without_a_manager_nothing_is_told_and_nothing_is_missing(tmp_path: Path) -> None:
    with managing(tmp_path) as manager, started(tmp_path / "data", watchdog_s=0.2) as daemon:
        daemon.listening()
        assert manager.drain() == []
        daemon.signal(signal.SIGTERM)
        assert daemon.ended() == 0
