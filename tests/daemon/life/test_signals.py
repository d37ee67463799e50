import asyncio
import os
import signal
import subprocess
import sys
import time

from waybread_daemon.life.signals import Signals

WITHIN_S = 5


def send(number: signal.Signals) -> None:
    os.kill(os.getpid(), number)


async def test_the_first_signal_stops_and_the_second_hurries() -> None:
    with Signals() as signals:
        signals.attach()
        assert (signals.stop.is_set(), signals.hurry.is_set()) == (False, False)
        send(signal.SIGTERM)
        async with asyncio.timeout(WITHIN_S):
            await signals.stop.wait()
        assert not signals.hurry.is_set()
        send(signal.SIGINT)
        async with asyncio.timeout(WITHIN_S):
            await signals.hurry.wait()
        assert signals.stops.qsize() == 2
        assert not signals.reload.is_set()


async def test_each_hangup_asks_for_a_reload() -> None:
    with Signals() as signals:
        signals.attach()
        for _ in range(2):
            send(signal.SIGHUP)
            async with asyncio.timeout(WITHIN_S):
                await signals.reload.wait()
            signals.reload.clear()
        assert not signals.stop.is_set()


async def test_what_came_before_there_was_a_loop_is_told_when_it_is_there() -> None:
    with Signals() as signals:
        send(signal.SIGTERM)
        send(signal.SIGHUP)
        send(signal.SIGTERM)
        signals.attach()
        assert (signals.stop.is_set(), signals.hurry.is_set(), signals.reload.is_set()) == (True, True, True)


async def test_a_loop_that_hangs_does_not_keep_the_note_from_being_taken() -> None:
    with Signals() as signals:
        signals.attach()
        send(signal.SIGTERM)
        time.sleep(0.01)  # noqa: ASYNC251  # the loop hangs here
        assert not signals.stop.is_set()
        signals.stops.get(timeout=WITHIN_S)


def test_handlers_are_put_back_at_the_end_of_the_block() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)]
    with Signals():
        assert signal.getsignal(signal.SIGTERM) not in before
    assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)] == before


def test_handlers_that_a_process_installed_for_good_stay_after_a_block() -> None:
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)}
    owner = Signals()
    try:
        owner.install()
        ours = signal.getsignal(signal.SIGTERM)
        with owner:
            pass
        assert signal.getsignal(signal.SIGTERM) == ours != before[signal.SIGTERM]
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def test_signals_that_come_while_the_process_exits_do_not_change_its_status() -> None:
    program = (
        "import atexit, os, signal\n"
        "from waybread_daemon.life.signals import Signals\n"
        "signals = Signals()\n"
        "signals.install()\n"
        "atexit.register(lambda: [os.kill(os.getpid(), number) for number in (signal.SIGTERM, signal.SIGINT)])\n"
        "signals.shut()\n"
        "for number in (signal.SIGTERM, signal.SIGINT):\n"
        "    signal.signal(number, signal.SIG_DFL)\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=30, check=False)
    assert (ended.returncode, ended.stderr) == (0, b"")
