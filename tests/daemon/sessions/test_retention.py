"""Old sessions go, whole and in time, and no wrong clock takes one that is not old."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, NamedTuple, cast

import pytest

from tests.daemon.office import Office, an_office, opening, read, text
from waybread_daemon.sessions.retention import INTERVAL_S, Retention
from waybread_daemon.store.contract import Store, StoreFault
from waybread_daemon.store.sizes import OldSession
from waybread_protocol.errors import ErrorCode
from waybread_protocol.messages import Delete, Done, Inserted, Opened, Turn

DAY_MS = 24 * 3600 * 1000
HOUR_MS = 3_600_000
A, B = OldSession(1, "a", 3), OldSession(1, "b", 9)


class Limits(NamedTuple):
    keep_sessions_days: int
    device_quota_bytes: int = 0
    free_floor_bytes: int = 0
    free_floor_percent: int = 0


class World:
    """Clocks that go as a test says, a store whose sessions are as old as it says, and who deletes them."""

    def __init__(self, days: int) -> None:
        self.now_ms = 1_000 * DAY_MS
        self.monotonic_s = 50.0
        self.old = [A, B]
        self.broken = False
        self.asked: list[int] = []
        self.deleted: list[OldSession] = []
        self.spared: set[OldSession] = set()
        self.retention = Retention(cast("Store", self), self, lambda: self.now_ms, lambda: self.monotonic_s)
        self.retention.reconfigure(Limits(days))

    def pass_by(self, hours: float, leap_ms: int = 0) -> None:
        self.now_ms += int(hours * HOUR_MS) + leap_ms
        self.monotonic_s += hours * 3600

    def old_sessions(self, before_ms: int) -> list[OldSession]:
        self.asked.append(before_ms)
        return self.old

    def look(self, read: Callable[[Any], Any]) -> Awaitable[Any]:
        async def looking() -> Any:
            if self.broken:
                raise StoreFault(ErrorCode.INTERNAL, "broken")
            return read(self)

        return looking()

    async def delete_unchanged(self, old: OldSession) -> bool:
        self.deleted.append(old)
        return old not in self.spared


async def test_off_it_looks_at_nothing() -> None:
    world = World(0)
    for _ in range(3):
        assert await world.retention.look() == 0
        world.pass_by(1)
    assert (world.asked, world.deleted) == ([], [])


async def test_a_session_that_is_old_twice_an_hour_apart_is_deleted() -> None:
    world = World(30)
    assert await world.retention.look() == 0
    assert world.asked == [970 * DAY_MS]
    world.pass_by(1)
    assert await world.retention.look() == 2
    assert world.deleted == [A, B]


async def test_within_the_hour_nothing_is_deleted_however_often_it_looks() -> None:
    world = World(30)
    for _ in range(6):
        assert await world.retention.look() == 0
        world.pass_by(1 / 6.01)
    world.pass_by(0.01)
    assert await world.retention.look() == 2


async def test_one_that_has_changed_or_only_become_old_since_the_first_look_waits() -> None:
    world = World(30)
    world.old = [A]
    await world.retention.look()
    world.pass_by(1)
    world.old = [OldSession(1, "a", 4), B]
    assert await world.retention.look() == 0
    world.pass_by(1)
    assert await world.retention.look() == 2


async def test_one_that_is_spared_is_not_counted() -> None:
    world = World(30)
    world.spared = {A}
    await world.retention.look()
    world.pass_by(1)
    assert await world.retention.look() == 1


@pytest.mark.parametrize("leap_ms", [3650 * DAY_MS, 61_000, -61_000, -3650 * DAY_MS])
async def test_a_clock_that_leaps_only_puts_it_off(leap_ms: int) -> None:
    world = World(30)
    await world.retention.look()
    world.pass_by(1, leap_ms)
    assert await world.retention.look() == 0
    assert world.deleted == []
    # Set right again, and gone on as it should for an hour.
    world.pass_by(1, -leap_ms)
    assert await world.retention.look() == 0
    world.pass_by(1)
    assert await world.retention.look() == 2


async def test_a_clock_that_is_set_right_by_less_than_a_minute_puts_nothing_off() -> None:
    world = World(30)
    await world.retention.look()
    world.pass_by(1, -59_000)
    assert await world.retention.look() == 2


async def test_a_store_that_cannot_be_read_is_asked_again() -> None:
    world = World(30)
    await world.retention.look()
    world.broken = True
    world.pass_by(1)
    assert await world.retention.look() == 0
    world.broken = False
    world.pass_by(1)
    assert await world.retention.look() == 2


async def test_another_setting_begins_anew_and_the_same_one_does_not() -> None:
    world = World(30)
    await world.retention.look()
    world.retention.reconfigure(Limits(30))
    world.pass_by(1)
    world.retention.reconfigure(Limits(7))
    assert await world.retention.look() == 0
    world.retention.reconfigure(Limits(7))
    world.pass_by(1)
    assert await world.retention.look() == 2
    assert world.asked[-1] == world.now_ms - 7 * DAY_MS


async def test_it_runs_at_once_and_every_hour_and_tells_how_many(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    told: list[int] = []
    world = World(30)

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        world.pass_by(seconds / 3600)
        if len(slept) == 4:
            raise asyncio.CancelledError

    monkeypatch.setattr(asyncio, "sleep", sleep)
    with pytest.raises(asyncio.CancelledError):
        await world.retention.run(told.append)
    assert slept == [INTERVAL_S + 1] * 4
    # It finds them at every look, for this store forgets none.
    assert told == [2, 2, 2]


async def the_old(office: Office) -> dict[str, OldSession]:
    return {old.session: old for old in await office.store.look(lambda reader: reader.old_sessions(2**60))}


async def test_an_old_session_goes_whole_and_its_followers_hear_of_it(tmp_path: Path) -> None:
    async with an_office(tmp_path, "a", "b") as office:
        await office.insert(text("k", "x", "a"))
        heard: list[int] = []
        office.device.listeners.append(heard.append)
        old = await the_old(office)
        assert await office.desk.delete_unchanged(old["a"]) is True
        assert heard == [4]
        entries = (await office.page()).entries
        assert [(entry.session, entry.kind) for entry in entries] == [("b", "opened"), ("a", "deleted")]
        await office.error(text("k2", "x", "a"), "gone")
        assert await office.desk.delete_unchanged(old["a"]) is False
        assert await office.head() == 4


async def test_a_session_that_was_changed_since_or_is_at_work_is_spared(tmp_path: Path) -> None:
    async with an_office(tmp_path, "a", "b") as office:
        old = await the_old(office)
        await office.ask(Turn(id=1, session="a", turn="t"), Done)
        assert await office.desk.delete_unchanged(old["a"]) is False
        working = office.send(read("k", "a line\n" * 100_000, session="b"))
        assert await office.desk.delete_unchanged(old["b"]) is False
        assert isinstance(await working, Inserted)
        assert await office.desk.delete_unchanged(old["b"]) is False
        assert (await office.ask(opening("b"), Opened)).results == 1


async def test_one_that_was_deleted_or_never_loaded_is_no_trouble(tmp_path: Path) -> None:
    async with an_office(tmp_path, "a", "b") as office:
        old = await the_old(office)
        await office.ask(Delete(id=1, session="a"), Done)
        await office.restart()
        assert await office.desk.delete_unchanged(old["a"]) is False
        assert await office.desk.delete_unchanged(old["b"]) is True
        assert await office.desk.delete_unchanged(OldSession(office.device.number, "never", 1)) is False


async def test_one_from_before_a_restore_goes_too(tmp_path: Path) -> None:
    async with an_office(tmp_path, "a") as office:
        await office.restore()
        assert await office.desk.delete_unchanged((await the_old(office))["a"]) is True


async def test_a_deletion_that_cannot_be_stored_is_none(tmp_path: Path) -> None:
    async with an_office(tmp_path, "a") as office:
        office.failing.failing = True
        assert await office.desk.delete_unchanged((await the_old(office))["a"]) is False
        office.failing.failing = False
        assert (await office.insert(text("k", "x", "a"))).result == "#0001"
