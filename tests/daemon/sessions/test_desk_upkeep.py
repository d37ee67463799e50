"""A device that is deleted; settings that change; what is written ahead for a request that fails."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.daemon.office import Office, an_office, opening, read, text
from waybread_daemon.store.contract import Staged, StoreFault
from waybread_protocol.errors import ErrorCode
from waybread_protocol.messages import Delete, Error, Inserted, Message, Opened, Turn


class Limits(NamedTuple):
    device_quota_bytes: int = 0
    free_floor_bytes: int = 0
    free_floor_percent: int = 0
    keep_sessions_days: int = 0


async def database_bytes(office: Office) -> int:
    await office.store.purged(skip_grace=True)
    return (await office.store.look(lambda reader: reader.files())).database_bytes


async def test_a_deleted_device_is_answered_gone_whatever_it_asks(tmp_path: Path) -> None:
    async with an_office(tmp_path, "a", "b") as office:
        await office.insert(text("k1", "x", "a"))
        assert await office.desk.delete_device(office.device) == 2
        for request in (
            text("k2", "x", "a"),
            text("k1", "x", "a"),
            read("k3", "y\n" * 400_000, session="b"),
            Turn(id=1, session="b", turn="t"),
            opening("c"),
            Delete(id=1, session="never there"),
        ):
            answer = await office.ask(request, Error)
            assert answer.code in ("gone", "unknown_session")
        assert await database_bytes(office) < 300_000
        assert await office.store.look(lambda reader: reader.devices()) == []


async def test_what_is_under_way_when_a_device_is_deleted_comes_first_and_leaves_nothing(tmp_path: Path) -> None:
    async with an_office(tmp_path, "a", "b") as office:
        mine = office.device
        noise = random.Random(1).randbytes(4_000_000).hex()
        sent = [office.send(text("k1", noise, "a")), office.send(read("k2", noise, session="b"))]
        sent += [office.send(text(f"n{number}", "x", "b")) for number in range(50)]
        await office.desk.delete_device(mine)
        assert [type(await future) for future in sent] == [Inserted] * 52
        late = [
            office.send(text("l", noise, "a")),
            office.send(Message(id=1, session="b", key="m", role="user", text="x")),
        ]
        assert [getattr(await future, "code", "") for future in late] == ["gone", "gone"]
        assert await database_bytes(office) < 300_000
        assert office.store.used_bytes(mine.number) == 0
        # Others go on.
        office.device = await office.another_device()
        await office.ask(opening("a"), Opened)


async def test_a_device_whose_deletion_fails_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with an_office(tmp_path, "a") as office:

        async def full(_device: int, _at_ms: int) -> int:
            raise StoreFault(ErrorCode.STORAGE_FULL, "the disk is full")

        with monkeypatch.context() as patch:
            patch.setitem(office.failing.__dict__, "delete_device", full)
            with pytest.raises(StoreFault):
                await office.desk.delete_device(office.device)
        assert (await office.insert(text("k", "x", "a"))).result == "#0001"


async def test_what_was_written_ahead_for_a_request_that_begins_again_is_purged(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A commit of others fails when a large body has just been written: nothing stays of the first try."""
    noise = random.Random(2).randbytes(4_000_000).hex()
    tries = 0

    async def unlucky(*what: Any, **how: Any) -> Staged:
        nonlocal tries
        staged = await office.store.stage(*what, **how)
        tries += 1
        if tries == 1:
            office.desk.live._reset()
        return staged

    with monkeypatch.context() as patch:
        patch.setitem(office.failing.__dict__, "stage", unlucky)
        assert (await office.insert(text("k", noise))).result == "#0001"
    assert (tries, office.device.pending_bytes) == (2, 0)
    # What of it is still in the log alone makes the file shorter yet.
    assert await database_bytes(office) < 5_000_000


async def test_why_nothing_can_be_stored_is_one_sentence_whatever_the_reason(office: Office) -> None:
    desk = office.desk
    assert desk.not_ready == ""
    desk.room.full = "the floor"
    assert desk.not_ready == "the floor"
    desk.live.failing = "the disk"
    assert desk.not_ready == "the disk"


async def test_upkeep_runs_until_it_is_cancelled(office: Office) -> None:
    office.desk.reconfigure(Limits(free_floor_bytes=2**53 - 1, free_floor_percent=90))
    task = asyncio.ensure_future(office.desk.upkeep(lambda _: None))
    await asyncio.sleep(0.05)
    assert not task.done()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
