"""Sessions in memory: loaded when asked for, let go when there are many, dropped when a commit failed."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.daemon.office import Office, an_office, opening, read, recall, text
from waybread_daemon.sessions import live
from waybread_daemon.store.contract import Reader
from waybread_protocol.messages import (
    Compact,
    Delete,
    Done,
    Error,
    History,
    Inserted,
    Opened,
    Page,
    ReadList,
    Reads,
    SessionList,
    Sessions,
    TakeBack,
    Turn,
)

LINES = "one\ntwo\n"


async def test_sessions_beyond_the_number_kept_are_let_go_and_loaded_again_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "SESSIONS_KEPT", 3)
    async with an_office(tmp_path) as office:
        names = [f"s{number}" for number in range(10)]
        for name in names:
            await office.ask(opening(name), Opened)
            await office.insert(read("k1", LINES, session=name))
        assert len(office.desk.live._sessions) == 3
        for name in names:
            assert (await office.insert(read("k1", LINES, session=name))).repeated is True
            assert (await office.insert(read("k2", LINES, session=name))).text.endswith(
                "Unchanged since #0001, which already shows lines 1-2."
            )
        assert len(office.desk.live._sessions) == 3


async def test_a_session_with_work_under_way_is_not_let_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "SESSIONS_KEPT", 2)
    async with an_office(tmp_path, *(f"s{number}" for number in range(6))) as office:
        # All are sent at once, over and over: their order and their numbers must not suffer.
        futures = [
            (number, office.send(text(f"k{count}", "x" * (300_000 if count % 3 == 0 else 5), session=f"s{number}")))
            for count in range(6)
            for number in range(6)
        ]
        ids: dict[int, list[str]] = {}
        for number, future in futures:
            answer = await future
            assert isinstance(answer, Inserted), answer
            ids.setdefault(number, []).append(answer.result)
        assert ids == {number: [f"#{count:04x}" for count in range(1, 7)] for number in range(6)}


async def test_after_a_failed_commit_nothing_of_it_is_left_and_the_next_takes_its_number(office: Office) -> None:
    await office.insert(read("k1", LINES))
    await office.ask(Turn(id=1, session="s", turn="t"), Done)
    office.failing.failing = True
    futures = [
        office.send(request)
        for request in (
            text("k2", "x"),
            Turn(id=1, session="s", turn="u"),
            read("k3", LINES, absolute="/x/b"),
            TakeBack(id=1, session="s", key="k4", turns=["t"]),
            Compact(id=1, session="s", key="k5"),
            opening("new"),
        )
    ]
    answers = [await future for future in futures]
    assert [(answer.code, answer.retry) for answer in answers if isinstance(answer, Error)] == [
        ("storage_full", True)
    ] * 6
    office.failing.failing = False
    # The keys are free, the table is as it was, and so is the turn.
    assert (await office.insert(text("k2", "another body"))).result == "#0002"
    assert (await office.insert(read("k3", LINES))).stub_of == "#0001"
    assert (await office.ask(opening("s"), Opened)).turn == "t"
    assert (await office.ask(Turn(id=1, session="s", turn="u"), Done)).repeated is False
    assert (await office.ask(opening("new"), Opened)).created is True
    seqs = [entry.seq for entry in (await office.page()).entries]
    assert seqs == list(range(1, 8))


async def test_a_failed_deletion_leaves_the_session_and_the_next_deletes_it(office: Office) -> None:
    await office.insert(text("k", "x"))
    office.failing.failing = True
    await office.error(Delete(id=1, session="s"), "storage_full")
    office.failing.failing = False
    assert (await office.insert(text("k", "x"))).repeated is True
    assert (await office.ask(Delete(id=1, session="s"), Done)).repeated is False


async def test_a_request_that_was_being_worked_on_when_a_commit_failed_begins_again(office: Office) -> None:
    await office.insert(text("k1", "stored"))
    await office.insert(read("k2", LINES))
    # Each of these waits for a thread, and what it saw before is dropped meanwhile.
    office.failing.failing = True
    lost = office.send(text("lost", "x"))
    await asyncio.sleep(0.005)
    slow = [
        office.send(request)
        for request in (
            recall("k3", "1"),
            text("k4", "y" * 400_000),
            read("k5", "z\n" * 200_000),
            Reads(id=1, session="s"),
            History(id=1, session="s"),
        )
    ]
    office.failing.failing = False
    assert isinstance(await lost, Error)
    answers = [await future for future in slow]
    assert [type(answer) for answer in answers] == [Inserted, Inserted, Inserted, ReadList, Page]
    assert [answer.result for answer in answers if isinstance(answer, Inserted)] == ["#0003", "#0004", "#0005"]


async def test_storing_that_keeps_failing_is_answered_busy_and_never_hangs(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    await office.insert(text("k", "x"))
    session = office.desk.live.session(office.device, "s")
    looks = 0

    async def restless(work: Callable[[Reader], Any]) -> Any:
        """Some commit fails whenever a request that is worked on looks into the store."""
        nonlocal looks
        working = session.state is not None
        found = await office.store.look(work)
        if working:
            looks += 1
            office.desk.live._reset()
        return found

    with monkeypatch.context() as patch:
        patch.setitem(office.failing.__dict__, "look", restless)
        answer = await office.ask(recall("l", "1"), Error)
    assert (answer.code, answer.retry, looks) == ("busy", True, 3)
    assert (await office.insert(recall("l", "1"))).result == "#0002"


async def test_why_the_store_takes_nothing_is_known_until_it_takes_something(office: Office) -> None:
    office.failing.failing = True
    await office.error(text("k", "x"), "storage_full")
    assert office.desk.live.failing == "the disk is full: free some space"
    office.failing.failing = False
    await office.insert(text("k", "x"))
    assert office.desk.live.failing == ""


async def test_what_only_looks_works_while_nothing_can_be_stored(office: Office) -> None:
    await office.insert(read("k", LINES))
    office.failing.failing = True
    await office.error(text("k2", "x"), "storage_full")
    assert len((await office.page()).entries) == 2
    assert len((await office.ask(Sessions(id=1), SessionList)).sessions) == 1
    assert len((await office.ask(Reads(id=1, session="s"), ReadList)).reads) == 1
    # A repeat changes nothing either.
    assert (await office.insert(read("k", LINES))).repeated is True
    office.failing.failing = False


async def test_a_device_that_was_never_used_begins_at_one_and_its_log_has_no_gaps(office: Office) -> None:
    office.device = await office.another_device()
    futures = [office.send(opening(f"s{number}")) for number in range(20)]
    seqs = [answer.seq for answer in [await future for future in futures] if isinstance(answer, Opened)]
    # Sessions overtake one another; their numbers are given once each.
    assert sorted(seqs) == list(range(1, 21))
    assert office.device.durable == 20


async def test_listeners_hear_of_each_rise_of_the_durable_end_once(office: Office) -> None:
    heard: list[int] = []
    office.device.listeners.append(heard.append)
    await asyncio.gather(*(office.insert(text(f"k{number}", "x")) for number in range(50)))
    assert heard == sorted(set(heard))
    assert heard[-1] == 51
    office.device.has_become_durable(3)
    assert heard[-1] == 51


async def test_quiet_returns_when_nothing_is_under_way(office: Office) -> None:
    futures = [office.send(text(f"k{number}", "x" * 300_000)) for number in range(5)]
    await office.desk.live.quiet()
    assert all(future.done() for future in futures)
    await office.desk.live.quiet()


async def test_keys_beyond_the_number_kept_are_left_to_the_store_and_stand_for_their_requests_all_the_same(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "KEYS_KEPT", 3)
    first = [await office.insert(text(key, key)) for key in ("5", "1", "9", "3", "8", "2", "7")]
    again = [await office.insert(text(key, key)) for key in ("5", "1", "9", "3", "8", "2", "7")]
    assert [answer.result for answer in again] == [answer.result for answer in first]
    assert {answer.repeated for answer in again} == {True}
    assert (await office.insert(text("6", "6"))).result == "#0008"
