import asyncio
import threading
import time

import pytest

from waybread_daemon.watching.cache import Cache


class Store:
    """Gives how often it was looked at."""

    def __init__(self) -> None:
        self.looks = 0
        self.fault: Exception | None = None
        self.answers = asyncio.Event()
        self.answers.set()

    async def look(self) -> int:
        self.looks += 1
        await self.answers.wait()
        if self.fault is not None:
            raise self.fault
        return self.looks


async def asked(cache: Cache[int]) -> int | None:
    return await asyncio.to_thread(cache.get)


async def test_however_often_it_is_asked_it_looks_once_in_a_while() -> None:
    store = Store()
    cache = Cache(store.look, asyncio.get_running_loop(), kept_s=0.2)
    assert [await asked(cache) for _ in range(5)] == [1] * 5
    await asyncio.sleep(0.25)
    assert await asked(cache) == 2


async def test_askers_at_once_share_a_look() -> None:
    store = Store()
    cache = Cache(store.look, asyncio.get_running_loop())
    assert await asyncio.gather(*(asked(cache) for _ in range(8))) == [1] * 8


async def test_a_look_that_fails_gives_nothing_and_the_next_one_tries_again() -> None:
    store = Store()
    cache = Cache(store.look, asyncio.get_running_loop(), kept_s=0)
    assert await asked(cache) == 1
    store.fault = OSError("the disk")
    assert await asked(cache) is None
    store.fault = None
    assert await asked(cache) == 3


async def test_a_look_that_takes_too_long_gives_nothing_and_is_given_up() -> None:
    store = Store()
    store.answers.clear()
    cache = Cache(store.look, asyncio.get_running_loop(), patience_s=0.05)
    assert await asked(cache) is None
    await asyncio.sleep(0.05)
    assert asyncio.all_tasks() == {asyncio.current_task()}


def test_a_loop_that_is_held_up_keeps_nobody_waiting_for_long() -> None:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    held = threading.Event()
    loop.call_soon_threadsafe(held.wait, 10)
    cache = Cache(Store().look, loop, patience_s=0.05)
    begun_s = time.monotonic()
    assert cache.get() is None
    assert time.monotonic() - begun_s < 5
    held.set()
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()


@pytest.mark.filterwarnings("error")
def test_a_loop_that_is_closed_gives_nothing_and_leaves_no_coroutine_behind() -> None:
    loop = asyncio.new_event_loop()
    loop.close()
    assert Cache(Store().look, loop).get() is None
