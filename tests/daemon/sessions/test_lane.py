"""Order within a session, and work that begins at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from waybread_daemon.sessions.lane import Lane, start

Work = Callable[[], Coroutine[Any, Any, None]]


def noting(notes: list[str], name: str, *, waits: int = 0) -> Work:
    """Work that notes its beginning and its end, and gives way in between."""

    async def work() -> None:
        notes.append(f"{name} begins")
        for _ in range(waits):
            await asyncio.sleep(0)
        notes.append(f"{name} ends")

    return work


async def until_idle(lane: Lane) -> None:
    async with asyncio.timeout(5):
        while not lane.idle:  # noqa: ASYNC110 - a lane tells nobody
            await asyncio.sleep(0)


async def test_work_that_never_waits_is_done_before_submit_returns() -> None:
    lane, notes = Lane(), list[str]()
    lane.submit(noting(notes, "a"))
    assert notes == ["a begins", "a ends"]
    assert lane.idle


async def test_work_begins_at_once_and_the_next_begins_when_it_has_ended() -> None:
    lane, notes = Lane(), list[str]()
    lane.submit(noting(notes, "a", waits=3))
    assert notes == ["a begins"]
    assert not lane.idle
    lane.submit(noting(notes, "b"))
    lane.submit(noting(notes, "c", waits=2))
    lane.submit(noting(notes, "d"))
    assert notes == ["a begins"]
    await until_idle(lane)
    assert notes == [f"{name} {what}" for name in "abcd" for what in ("begins", "ends")]


async def test_work_submitted_while_the_last_one_ends_keeps_its_order() -> None:
    lane, notes = Lane(), list[str]()
    for count in range(200):
        lane.submit(noting(notes, str(count), waits=count % 4))
        if count % 7 == 0:
            await asyncio.sleep(0)
    await until_idle(lane)
    assert notes[::2] == [f"{count} begins" for count in range(200)]
    assert notes[1::2] == [f"{count} ends" for count in range(200)]


async def test_two_lanes_do_not_wait_for_each_other() -> None:
    one, two, notes = Lane(), Lane(), list[str]()
    one.submit(noting(notes, "slow", waits=5))
    two.submit(noting(notes, "quick"))
    assert notes == ["slow begins", "quick begins", "quick ends"]
    await until_idle(one)


async def test_what_work_raises_after_waiting_goes_to_the_loop_and_the_lane_goes_on() -> None:
    lane, notes, faults = Lane(), list[str](), list[BaseException]()
    asyncio.get_running_loop().set_exception_handler(lambda _, context: faults.append(context["exception"]))

    async def broken() -> None:
        await asyncio.sleep(0)
        raise LookupError("gone")

    lane.submit(broken)
    lane.submit(noting(notes, "next", waits=1))
    await until_idle(lane)
    assert notes == ["next begins", "next ends"]
    assert [str(fault) for fault in faults] == ["gone"]


async def test_a_cancelled_task_frees_the_lane() -> None:
    lane, notes = Lane(), list[str]()
    lane.submit(noting(notes, "a", waits=100))
    lane.submit(noting(notes, "b"))
    (task,) = asyncio.all_tasks() - {task for task in [asyncio.current_task()] if task is not None}
    task.cancel()
    await until_idle(lane)
    assert notes == ["a begins", "b begins", "b ends"]


async def test_start_gives_no_task_for_what_is_done_at_once() -> None:
    notes: list[str] = []
    assert start(noting(notes, "a")()) is None
    assert notes == ["a begins", "a ends"]


async def test_start_raises_what_is_raised_before_the_first_wait() -> None:
    async def broken() -> None:
        raise LookupError("at once")

    with pytest.raises(LookupError, match="at once"):
        start(broken())


async def test_start_goes_on_with_results_faults_and_cancellations_of_what_is_awaited() -> None:
    loop = asyncio.get_running_loop()
    seen: list[object] = []

    async def wait_for(future: asyncio.Future[str]) -> None:
        try:
            seen.append(await future)
        except (LookupError, asyncio.CancelledError) as fault:
            seen.append(type(fault))
        await asyncio.sleep(0)
        seen.append("goes on")

    for outcome in ("result", "fault", "cancel"):
        future: asyncio.Future[str] = loop.create_future()
        task = start(wait_for(future))
        assert task is not None
        if outcome == "result":
            future.set_result("value")
        elif outcome == "fault":
            future.set_exception(LookupError())
        else:
            future.cancel()
        await task
    assert seen == ["value", "goes on", LookupError, "goes on", asyncio.CancelledError, "goes on"]


async def test_cancelling_the_task_reaches_the_work_where_it_waits() -> None:
    seen: list[str] = []

    async def work() -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    task = start(work())
    assert task is not None
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert seen == ["cancelled"]
