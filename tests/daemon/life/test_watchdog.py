import asyncio
from contextlib import closing
from pathlib import Path

from tests.daemon.life.manager import managing
from waybread_daemon.life.notify import Notifier
from waybread_daemon.life.watchdog import extend, feed
from waybread_daemon.store.contract import StoreFault
from waybread_protocol.errors import ErrorCode


async def nothing() -> None:
    pass


async def test_it_is_fed_twice_in_its_time_while_the_store_answers(tmp_path: Path) -> None:
    with managing(tmp_path) as manager, closing(Notifier(manager.address, 0.2)) as notifier:
        feeding = asyncio.create_task(feed(notifier, nothing))
        await asyncio.sleep(0.95)
        feeding.cancel()
        fed = manager.drain()
    assert set(map(str, fed)) == {"{'WATCHDOG': '1'}"}
    assert 6 <= len(fed) <= 10


async def test_a_store_that_does_not_answer_stops_it_and_one_that_answers_again_goes_on(tmp_path: Path) -> None:
    hung = asyncio.Event()
    asked = 0

    async def answered() -> None:
        nonlocal asked
        asked += 1
        if asked == 2:
            await hung.wait()

    with managing(tmp_path) as manager, closing(Notifier(manager.address, 0.1)) as notifier:
        feeding = asyncio.create_task(feed(notifier, answered))
        await asyncio.sleep(0.5)
        assert len(manager.drain()) == 1
        hung.set()
        await asyncio.sleep(0.3)
        feeding.cancel()
        assert len(manager.drain()) >= 3


async def test_a_store_that_answers_with_a_fault_answers(tmp_path: Path) -> None:
    async def broken() -> None:
        raise StoreFault(ErrorCode.STORAGE_FULL, "the disk is full")

    with managing(tmp_path) as manager, closing(Notifier(manager.address, 0.1)) as notifier:
        feeding = asyncio.create_task(feed(notifier, broken))
        await asyncio.sleep(0.3)
        feeding.cancel()
        assert len(manager.drain()) >= 3


async def test_nobody_who_asks_for_it_means_that_nothing_runs(tmp_path: Path) -> None:
    async def never() -> None:
        raise AssertionError

    with managing(tmp_path) as manager, closing(Notifier(manager.address)) as notifier:
        await feed(notifier, never)
        assert manager.drain() == []


async def test_time_is_asked_for_again_and_again_but_not_for_ever(tmp_path: Path) -> None:
    with managing(tmp_path) as manager, closing(Notifier(manager.address)) as notifier:
        async with asyncio.timeout(5):
            await extend(notifier, interval_s=0.05, most_s=0.22)
        told = manager.drain()
    assert told == [{"EXTEND_TIMEOUT_USEC": "30000000"}] * 5
