"""Faults that last: what still works meanwhile, and that all is well by itself when they end."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest

from tests.crash.survey import survey
from tests.faults.disk import Call, Disk, Fault, Way
from tests.faults.house import Caller, calling, health, left_to_purge, new_token, serving, until
from tests.faults.scenario import Courses, check_error, course, look_at_all
from waybread_daemon.serving import STORE_NAME
from waybread_daemon.store.sqlite import checkpoints, tidying
from waybread_daemon.store.sqlite.purge import GRACE_MS
from waybread_protocol.errors import ErrorCode
from waybread_protocol.messages import (
    Delete,
    Done,
    Error,
    Inserted,
    Message,
    Open,
    Opened,
    Page,
    Result,
    Show,
    Sync,
    TextBody,
)

FULL = Fault(("write",), "ENOSPC")


class House(msgspec.Struct):
    """A daemon on a disk that can fail, and a link to it."""

    data: Path
    disk: Disk
    url: str
    token: str
    caller: Caller


@asynccontextmanager
async def house(folder: Path, *, grace_ms: int = GRACE_MS) -> AsyncGenerator[House, None]:
    data = folder / "data"
    token = new_token(data)
    disk = Disk(f"disk {folder.name}")
    async with serving(data, disk, grace_ms=grace_ms) as url, calling(url, token) as caller:
        yield House(data, disk, url, token, caller)


def said(number: int, request_id: int) -> Result:
    return Result(
        id=request_id, session="s", key=f"key {number}", tool="bash", args={}, body=TextBody(text=f"said {number}")
    )


@pytest.mark.parametrize("way", ["EIO", "ENOSPC", "short"])
async def test_while_nothing_can_be_written_every_look_and_hello_work_and_each_change_is_refused_clearly(
    tmp_path: Path, way: Way
) -> None:
    courses = Courses()
    async with house(tmp_path) as at:
        await courses.run(at.caller, "before")
        at.disk.fail(Fault(("write",), way))
        for request in course("meanwhile", at.caller.next_id):
            refused = await at.caller.ask(request)
            assert isinstance(refused, Error)
            if isinstance(request, Open):
                assert refused.code == (ErrorCode.INTERNAL if way == "EIO" else ErrorCode.STORAGE_FULL)
                check_error(refused)
            else:
                assert refused.code == ErrorCode.UNKNOWN_SESSION
        small, large = "said meanwhile", "said meanwhile\n" * 30_000
        for text in (small, large):
            request = Message(id=at.caller.next_id(), session="before-main", key="meanwhile", role="user", text=text)
            refused = await at.caller.ask(request)
            assert isinstance(refused, Error)
            assert refused.code == (ErrorCode.INTERNAL if way == "EIO" else ErrorCode.STORAGE_FULL)
            check_error(refused)
        await look_at_all(at.caller, "before-main")
        async with calling(at.url, at.token) as another:
            await look_at_all(another, "before-main")
            await courses.check(another)
        assert await health(at.url, "/healthz") == (200, "ok\n")
        status, why = await health(at.url)
        assert status == 503
        assert ("is full" in why) == (way != "EIO")
        at.disk.mend()
        # The same courses by the same names: nothing of the first try is there.
        await courses.run(at.caller, "meanwhile")
        await courses.check(at.caller)
        assert await health(at.url) == (200, "ready\n")


async def test_readyz_is_ready_again_by_itself_when_the_fault_ends_although_nobody_writes(tmp_path: Path) -> None:
    async with house(tmp_path) as at:
        at.disk.fail(FULL)
        assert isinstance(await at.caller.ask(Open(id=1, session="s", kind="agent")), Error)
        assert (await health(at.url))[0] == 503
        await asyncio.sleep(0.5)
        assert (await health(at.url))[0] == 503
        at.disk.mend()
        began_s = time.monotonic()
        while (await health(at.url))[0] == 503:
            assert time.monotonic() - began_s < 15
            await asyncio.sleep(0.1)
        assert await health(at.url) == (200, "ready\n")


async def test_while_nothing_can_be_opened_or_read_requests_fail_clearly_and_new_links_are_asked_to_come_later(
    tmp_path: Path,
) -> None:
    courses = Courses()
    async with house(tmp_path) as at:
        await courses.run(at.caller, "before")
        at.disk.fail(Fault(("write", "open", "read", "size")))
        for number in range(6):
            refused = await at.caller.ask(msgspec.structs.replace(said(number, number + 1), session="before-main"))
            assert isinstance(refused, Error)
            check_error(refused)
            refused = await at.caller.ask(Show(id=number + 1, session="before-main", result="#0002"))
            assert isinstance(refused, Error)
            assert refused.code == ErrorCode.INTERNAL
        waiting = asyncio.create_task(linked_at_last(at))
        await asyncio.sleep(0.3)
        assert not waiting.done()
        at.disk.mend()
        await waiting
        await courses.run(at.caller, "after")
        await courses.check(at.caller)


async def linked_at_last(at: House) -> None:
    async with calling(at.url, at.token, tries=1000) as another:
        await look_at_all(another, "before-main")


async def test_a_commit_whose_sync_failed_is_not_taken_for_a_good_one_when_all_who_saw_it_fail_are_gone(
    tmp_path: Path,
) -> None:
    async with house(tmp_path) as at:
        caller, disk = at.caller, at.disk
        await caller.look(Open(id=1, session="s", kind="agent"), Opened)
        await caller.look(said(1, 2), Inserted)
        # No connection outlives its fault: the readers go first, then the writer. One that does nothing stays.
        disk.fail(Fault(("read", "sync")))
        while disk.logs_held > 2:
            assert isinstance(await caller.ask(Show(id=3, session="s", result="#0001")), Error)
        failed = await caller.ask(said(2, 4))
        assert isinstance(failed, Error)
        check_error(failed)
        assert disk.logs_held == 1
        disk.mend()
        page = await caller.look(Sync(id=5), Page)
        assert [entry.seq for entry in page.entries] == [1, 2]
        for number in (2, 3):
            inserted = await caller.look(said(number, 6), Inserted)
            assert (inserted.seq, inserted.result, inserted.repeated) == (number + 1, f"#000{number}", False)


# --- What goes on behind the requests --------------------------------------------------------------------------------


async def test_a_database_that_cannot_be_written_for_long_fails_no_request_and_the_log_is_copied_when_it_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "PAGES_BETWEEN", 100)
    courses = Courses()
    async with house(tmp_path) as at:
        log = at.data / f"{STORE_NAME}-wal"
        at.disk.fail(Fault(("write", "sync"), "ENOSPC", file="database"))
        for number in range(8):
            await courses.run(at.caller, f"course {number}")
        assert at.disk.failed > 0
        assert courses.errors == []
        grown = log.stat().st_size
        at.disk.mend()
        for number in range(8, 16):
            await courses.run(at.caller, f"course {number}")
        # It was started over and not made longer.
        assert log.stat().st_size < grown * 1.5
    found = survey(at.data / STORE_NAME)
    assert found.head(1) == courses.seq


@pytest.mark.parametrize("call, least", [("write", 15), ("sync", 3), ("read", 1)])
async def test_a_purge_that_fails_at_any_call_is_finished_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: Call, least: int
) -> None:
    monkeypatch.setattr(tidying, "_PAUSE_S", 0.01)
    async with house(tmp_path, grace_ms=0) as at:
        caller, failed = at.caller, 0
        for first in itertools.count(1):
            session = f"s{first}"
            await caller.look(Open(id=1, session=session, kind="agent"), Opened)
            for number in range(3):
                text = f"{session} said {number}" * (20_000 if number else 1)
                request = Message(id=2, session=session, key=str(number), role="user", text=text)
                await caller.look(request, Done)
            at.disk.fail(Fault((call,), at=first, count=2))
            answer = await caller.ask(Delete(id=3, session=session))
            if isinstance(answer, Error):
                check_error(answer)
                at.disk.mend()
                await caller.look(Delete(id=4, session=session), Done)
            await until(lambda: left_to_purge(at.data) == 0)
            if not at.disk.failed:
                break
            failed += 1
            at.disk.mend()
        assert failed >= least
        # What it left free has left the disk, too, whatever failed on the way.
        await until(lambda: (at.data / STORE_NAME).stat().st_size < 300_000)
    found = survey(at.data / STORE_NAME)
    assert {place.state for place in found.places.values()} == {2}
    assert found.contents == frozenset()


async def test_large_content_that_was_written_ahead_of_a_request_that_failed_takes_no_room_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tidying, "_PAUSE_S", 0.01)
    async with house(tmp_path) as at:
        await at.caller.look(Open(id=1, session="s", kind="agent"), Opened)
        errors = 0
        for first in itertools.count(1):
            at.disk.fail(Fault(("write",), "ENOSPC", first))
            request = Message(id=2, session="s", key=f"key {first}", role="user", text=f"said {first}\n" * 40_000)
            answer = await at.caller.ask(request)
            at.disk.mend()
            if not isinstance(answer, Error):
                break
            check_error(answer)
            errors += 1
            # Without a restart.
            await until(lambda: left_to_purge(at.data) == 0)
        assert errors > 20
