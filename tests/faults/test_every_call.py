"""A disk that fails at every call in turn while requests of every kind come in."""

from __future__ import annotations

import itertools
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.crash.survey import survey
from tests.faults.disk import Call, Disk, Fault, File, Way
from tests.faults.house import Caller, calling, left_to_purge, new_token, serving, until
from tests.faults.scenario import Courses
from waybread_daemon.serving import STORE_NAME
from waybread_daemon.store.sqlite import checkpoints
from waybread_protocol.errors import ErrorCode

WAYS: tuple[Way, ...] = ("EIO", "ENOSPC", "short")


class Sweep:
    """A daemon on a disk that fails, and all that it acknowledged."""

    def __init__(self, data: Path, disk: Disk, courses: Courses) -> None:
        self.data = data
        self.disk = disk
        self.courses = courses
        self.stride = 1
        """From one call that fails to the next: 1 for every call."""

    async def fail_at_each(
        self,
        caller: Caller,
        calls: tuple[Call, ...],
        ways: Sequence[Way] = ("EIO",),
        *,
        count: int = 1,
        file: File = "any",
    ) -> int:
        """A course for each call: that one fails, or `count` in a row, in the ways in turn. Gives how many failed."""
        quiet = 0
        for at in itertools.count(1, self.stride):
            since = self.courses.seq
            self.disk.fail(Fault(calls, ways[at % len(ways)], at, count, file))
            await self.courses.run(caller, f"{calls[0]}-{ways[0]}-{at}")
            quiet = 0 if self.disk.failed else quiet + 1
            self.disk.mend()
            await self.courses.check(caller, since)
            # What goes on behind the requests makes the number of calls of a course differ a little.
            if quiet == 2:
                return at - 2 * self.stride
        raise AssertionError("counting has no end")


@asynccontextmanager
async def sweeping(folder: Path, *, may_be_there: bool = False) -> AsyncGenerator[tuple[Sweep, Caller], None]:
    """After the block all that was acknowledged is in the file, which is whole, and is served again after a restart.

    Nothing is left of what failed: the restarted daemon purges it at once.
    """
    data = folder / "data"
    token = new_token(data)
    disk = Disk(f"disk {folder.name}")
    sweep = Sweep(data, disk, Courses(may_be_there=may_be_there))
    async with serving(data, disk) as url, calling(url, token) as caller:
        yield sweep, caller
    found = survey(data / STORE_NAME)
    assert {seq for _, seq in found.lines} <= set(range(1, sweep.courses.seq + 1))
    async with serving(data, grace_ms=0) as url, calling(url, token) as caller:
        await sweep.courses.check(caller)
        await until(lambda: left_to_purge(data) == 0)


async def test_a_write_that_fails_in_any_way_at_every_call_in_turn_fails_one_request_clearly_and_loses_nothing(
    tmp_path: Path,
) -> None:
    async with sweeping(tmp_path) as (sweep, caller):
        assert await sweep.fail_at_each(caller, ("write",), WAYS) > 150
    codes = {error.code for error in sweep.courses.errors}
    assert codes == {ErrorCode.INTERNAL, ErrorCode.STORAGE_FULL}


@pytest.mark.long
@pytest.mark.parametrize("way", WAYS)
async def test_a_write_that_fails_this_way_at_every_call_in_turn_fails_one_request_clearly_and_loses_nothing(
    tmp_path: Path, way: Way
) -> None:
    async with sweeping(tmp_path) as (sweep, caller):
        assert await sweep.fail_at_each(caller, ("write",), [way]) > 150
    assert {error.code for error in sweep.courses.errors} == {
        ErrorCode.INTERNAL if way == "EIO" else ErrorCode.STORAGE_FULL
    }


async def test_a_sync_that_fails_at_every_call_in_turn_fails_one_request_and_its_retry_by_key_settles_it(
    tmp_path: Path,
) -> None:
    async with sweeping(tmp_path, may_be_there=True) as (sweep, caller):
        assert await sweep.fail_at_each(caller, ("sync",)) > 20
    assert {error.code for error in sweep.courses.errors} == {ErrorCode.INTERNAL}


async def test_a_read_that_fails_at_every_call_in_turn_fails_one_request_clearly_and_loses_nothing(
    tmp_path: Path,
) -> None:
    async with sweeping(tmp_path) as (sweep, caller):
        assert await sweep.fail_at_each(caller, ("read",)) > 10


async def test_calls_that_fail_three_in_a_row_at_every_place_fail_some_requests_clearly_and_lose_nothing(
    tmp_path: Path,
) -> None:
    """A write that failed lets the connection go; then the next one cannot be opened or read the file."""
    async with sweeping(tmp_path) as (sweep, caller):
        sweep.stride = 9
        assert await sweep.fail_at_each(caller, ("write", "open", "read", "size"), WAYS, count=3) > 150


async def test_a_fault_of_the_database_at_every_call_of_a_checkpoint_fails_no_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "PAGES_BETWEEN", 30)
    async with sweeping(tmp_path) as (sweep, caller):
        for call in ("write", "sync", "truncate"):
            sweep.stride = 5 if call == "write" else 1
            assert await sweep.fail_at_each(caller, (call,), WAYS, file="database") >= 2
        assert sweep.courses.errors == []
