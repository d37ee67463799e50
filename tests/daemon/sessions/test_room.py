"""A quota for each device, a floor of free disk: what is refused, what goes on, and that it recovers by itself."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable
from pathlib import Path
from typing import Any, NamedTuple, cast

import pytest

from tests.daemon.office import Office, an_office, change, change_of, opening, read, recall, text
from tests.daemon.sessions.stored import sha
from waybread_daemon.sessions import room as module
from waybread_daemon.sessions.room import Room, floor_of
from waybread_daemon.store.contract import Store, StoreFault
from waybread_daemon.store.sizes import Volume
from waybread_protocol.errors import ErrorCode, RequestError
from waybread_protocol.messages import (
    Carry,
    Compact,
    Content,
    Delete,
    Done,
    EntryText,
    History,
    Inserted,
    Message,
    Opened,
    Page,
    ReadList,
    Reads,
    SessionList,
    Sessions,
    Show,
    Shown,
    TakeBack,
    TextPiece,
    Turn,
)

GIB = 1024**3


class Limits(NamedTuple):
    device_quota_bytes: int = 0
    free_floor_bytes: int = 0
    free_floor_percent: int = 0
    keep_sessions_days: int = 0


class Device:
    number = 1
    pending_bytes = 0


class Disk:
    """A store as room sees it."""

    used = 0
    broken = False
    now = Volume(100 * GIB, 1000 * GIB)

    def used_bytes(self, device: int) -> int:
        return self.used if device == 1 else 0

    async def _volume(self) -> Volume:
        if self.broken:
            raise StoreFault(ErrorCode.INTERNAL, "broken")
        return self.now

    def volume(self) -> Awaitable[Volume]:
        return self._volume()


def noise(size: int, seed: int = 0) -> str:
    """Text that takes about three quarters of its size."""
    return random.Random(seed).randbytes(size // 2).hex()


def a_room(disk: Disk, **limits: int) -> Room:
    room = Room(cast("Store", disk))
    room.reconfigure(Limits(**limits))
    return room


def refusal(room: Room, device: Device, size: int = 1) -> str:
    with pytest.raises(RequestError) as caught:
        room.check(device, size)
    assert (caught.value.code, caught.value.retry) == ("storage_full", True)
    return caught.value.sentence


async def test_without_settings_there_is_room_for_everything() -> None:
    disk, device = Disk(), Device()
    disk.used, disk.now = 10**15, Volume(0, 10)
    room = Room(cast("Store", disk))
    await room.look()
    room.check(device)


def test_a_device_may_store_up_to_its_quota_and_what_is_on_its_way_counts() -> None:
    disk, device = Disk(), Device()
    room = a_room(disk, device_quota_bytes=1000)
    disk.used = 999
    room.check(device)
    device.pending_bytes = 1
    refusal(room, device)
    device.pending_bytes, disk.used = 0, 400
    room.check(device, 600)
    refusal(room, device, 601)
    device.number = 2
    room.check(device, 1000)


def test_the_sentence_names_the_limit_and_what_to_do() -> None:
    disk, device = Disk(), Device()
    disk.used = 6 * GIB
    assert refusal(a_room(disk, device_quota_bytes=5 * GIB), device) == (
        "this device has used up its room: 6,144.0 MiB of 5,120.0 MiB (device_quota_bytes). Nothing of this was stored: "
        "delete sessions of this device, or raise the quota; whatever only looks still works"
    )


def test_where_room_is_left_the_sentence_says_what_is_used_and_what_this_takes() -> None:
    disk, device = Disk(), Device()
    disk.used, device.pending_bytes = 1_400_000, 250_000
    room = a_room(disk, device_quota_bytes=1_900_000)
    assert refusal(room, device, 300_000) == (
        "this does not fit into the room of this device: 1.3 MiB of 1.8 MiB (device_quota_bytes) are taken, and this, with "
        "what is on its way already, takes 550,000 bytes or more. Nothing of this was stored: send less, delete sessions of "
        "this device, or raise the quota; whatever only looks still works"
    )


async def test_a_disk_on_which_nothing_can_be_deleted_any_more_is_told_as_that() -> None:
    disk, device = Disk(), Device()
    room = a_room(disk, free_floor_bytes=2 * GIB, free_floor_percent=5)
    for free, remedy in (
        (16 * 1024**2, "delete sessions, make space there, or lower the floor"),
        (0, "make 16.0 MiB of"),
    ):
        disk.now = Volume(free, 1000 * GIB)
        await room.look()
        assert remedy in refusal(room, device)


@pytest.mark.parametrize(
    "floor_bytes, percent, free, full",
    [
        (2 * GIB, 5, 2 * GIB, False),
        (2 * GIB, 5, 2 * GIB - 1, True),
        # The lesser of both: 5 % of 1,000 GiB would be 50.
        (200 * GIB, 5, 50 * GIB, False),
        (200 * GIB, 5, 50 * GIB - 1, True),
        (0, 5, 0, False),
        (2 * GIB, 0, 0, False),
    ],
)
async def test_the_floor_is_the_lesser_of_bytes_and_percent_and_either_at_0_is_none(
    floor_bytes: int, percent: int, free: int, full: bool
) -> None:
    disk = Disk()
    disk.now = Volume(free, 1000 * GIB)
    room = a_room(disk, free_floor_bytes=floor_bytes, free_floor_percent=percent)
    await room.look()
    assert bool(room.full) is full


def test_the_floor_is_rounded_down_to_whole_bytes() -> None:
    assert floor_of(Limits(free_floor_bytes=GIB, free_floor_percent=5), 199) == 9
    assert floor_of(Limits(free_floor_bytes=8, free_floor_percent=5), 199) == 8


async def test_at_the_floor_nobody_stores_until_there_is_space_or_the_floor_is_lowered() -> None:
    disk, device = Disk(), Device()
    room = a_room(disk, free_floor_bytes=2 * GIB, free_floor_percent=5)
    disk.now = Volume(GIB, 1000 * GIB)
    await room.look()
    assert (
        refusal(room, device)
        == room.full
        == (
            "the disk has 1,024.0 MiB free, less than the 2,048.0 MiB that are kept free on it (free_floor_bytes, "
            "free_floor_percent). Nothing of this was stored: delete sessions, make space there, or lower the floor; "
            "whatever only looks still works"
        )
    )
    # A disk that cannot be looked at is as it was.
    disk.broken = True
    await room.look()
    refusal(room, device)
    disk.broken, disk.now = False, Volume(3 * GIB, 1000 * GIB)
    await room.look()
    room.check(device)
    disk.now = Volume(GIB, 1000 * GIB)
    await room.look()
    room.reconfigure(Limits(free_floor_bytes=GIB // 2, free_floor_percent=5))
    await room.look()
    room.check(device)


async def test_the_disk_is_looked_at_over_and_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LOOK_INTERVAL_S", 0.01)
    disk = Disk()
    room = a_room(disk, free_floor_bytes=2 * GIB, free_floor_percent=5)
    task = asyncio.ensure_future(room.run())
    for free, full in ((GIB, True), (9 * GIB, False), (GIB, True)):
        disk.now = Volume(free, 1000 * GIB)
        await asyncio.sleep(0.05)
        assert bool(room.full) is full
    task.cancel()


STORING: list[Any] = [
    opening("another"),
    Turn(id=1, session="s", turn="another turn"),
    Carry(id=1, session="s", key="n1", results="all"),
    text("n2", "x"),
    read("n3", "new\n"),
    read("n3b", Content(sha256=sha("a\n"))),
    change("n4", change_of("a.py", "a\n", "b\n")),
    recall("n5", "1"),
    recall("n6", "no id"),
    TakeBack(id=1, session="s", key="n7", turns=["t"]),
    Compact(id=1, session="s", key="n8"),
    Message(id=1, session="s", key="n9", role="user", text="hello"),
    text("n10", "x" * 2_000_000),
]
"""One of every request that stores."""


async def filled(office: Office) -> None:
    await office.ask(Turn(id=1, session="s", turn="t"), Done)
    await office.insert(read("k1", "a\n"))
    await office.ask(Message(id=1, session="s", key="k2", role="user", text="hello"), Done)
    await office.ask(opening("other"), Opened)


@pytest.mark.parametrize("why", ["quota", "floor"])
async def test_without_room_all_that_stores_is_refused_and_all_that_looks_goes_on(office: Office, why: str) -> None:
    await filled(office)
    head = await office.head()
    if why == "quota":
        office.desk.room.reconfigure(Limits(device_quota_bytes=1))
    else:
        office.desk.room.full = "the disk is below its floor"
    for request in STORING:
        assert (await office.error(request, "storage_full")).retry is True
    assert await office.head() == head
    # Replays, and what is there already.
    assert (await office.insert(read("k1", "a\n"))).repeated is True
    assert (await office.ask(Turn(id=1, session="s", turn="t"), Done)).repeated is True
    assert (await office.ask(opening("s"), Opened)).created is False
    assert (await office.ask(Show(id=1, session="s", result="1"), Shown)).text == "1: a"
    assert len((await office.ask(Reads(id=1, session="s"), ReadList)).reads) == 1
    assert len((await office.ask(Sessions(id=1), SessionList)).sessions) == 2
    assert len((await office.ask(History(id=1, session="s"), Page)).entries) == 4
    assert len((await office.page()).entries) == 5
    assert isinstance(await office.ask(EntryText(id=1, seq=3), TextPiece), TextPiece)
    await office.error(text("k1", "another request"), "key_conflict")
    # Its key is free: it was refused before anything was kept of it.
    assert (await office.ask(Delete(id=1, session="other"), Done)).repeated is False
    assert (await office.ask(Delete(id=1, session="other"), Done)).repeated is True
    office.desk.room.full = ""
    office.desk.room.reconfigure(Limits())
    for request in STORING:
        answer = await office.ask(request, object)
        assert getattr(answer, "code", "") == ""


async def test_a_full_device_has_room_again_when_a_session_was_deleted_and_others_never_lacked_it(
    office: Office,
) -> None:
    office.desk.room.reconfigure(Limits(device_quota_bytes=1_000_000))
    await office.ask(opening("large"), Opened)
    refused = 0
    for number in range(40):
        answer = await office.ask(text(f"k{number:02}", noise(100_000, number), "large"), object)
        refused += not isinstance(answer, Inserted)
    # Softly: the last one may go over it.
    assert 20 <= refused <= 30
    assert 1_000_000 <= office.store.used_bytes(office.device.number) < 1_100_000
    mine = office.device
    office.device = await office.another_device()
    await office.ask(opening("theirs"), Opened)
    office.device = mine
    await office.error(text("k", "x"), "storage_full")
    await office.ask(Delete(id=1, session="large"), Done)
    await office.store.purged()
    assert (await office.insert(text("k", "x"))).result == "#0001"


async def test_what_is_sent_at_once_is_refused_from_the_quota_on(office: Office) -> None:
    """Nobody waits for an answer: what is not yet on the disk counts as it came."""
    office.desk.room.reconfigure(Limits(device_quota_bytes=1_000_000))
    futures = [office.send(text(f"k{number:03}", noise(50_000, number))) for number in range(200)]
    kinds = [type(await future).__name__ for future in futures]
    assert 15 < kinds.count("Inserted") < 40
    assert office.store.used_bytes(office.device.number) < 1_050_000
    assert office.device.pending_bytes == 0


@pytest.mark.parametrize("what", ["text", "file", "message", "change"])
async def test_a_large_body_that_does_not_fit_is_refused_on_the_way_and_nothing_stays_of_it(
    office: Office, what: str
) -> None:
    await office.insert(text("k1", "x"))
    office.desk.room.reconfigure(Limits(device_quota_bytes=5_000_000))
    large, small = noise(20_000_000), noise(2_000_000, 1)
    requests: dict[str, Any] = {
        "text": text("k2", large),
        "file": read("k2", large),
        "message": Message(id=1, session="s", key="k2", role="user", text=large),
        # The first content fits, and was written when the second did not.
        "change": change("k2", change_of("a", None, small), change_of("b", None, large)),
    }
    before = office.store.used_bytes(office.device.number)
    await office.error(requests[what], "storage_full")
    assert office.device.pending_bytes == 0
    assert office.store.used_bytes(office.device.number) == before
    await office.store.purged()
    assert (await office.store.look(lambda reader: reader.files())).database_bytes < 300_000
    assert (await office.insert(text("k2", "small"))).repeated is False


async def test_a_large_body_that_compresses_well_fits(office: Office) -> None:
    office.desk.room.reconfigure(Limits(device_quota_bytes=1_000_000))
    await office.insert(text("k1", "one line like another\n" * 500_000))
    assert office.device.pending_bytes == 0
    assert office.store.used_bytes(office.device.number) < 100_000


async def test_room_can_be_taken_away_and_given_while_the_daemon_runs(tmp_path: Path) -> None:
    async with an_office(tmp_path, "s") as office:
        await office.insert(text("k1", "x"))
        office.desk.reconfigure(Limits(device_quota_bytes=10))
        await office.error(text("k2", "x"), "storage_full")
        office.desk.reconfigure(Limits(device_quota_bytes=10_000))
        await office.insert(text("k2", "x"))
