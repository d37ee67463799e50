"""Where requests are taken: order, and what becomes of faults."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from tests.daemon.office import Asker, Office, opening, read, text
from waybread_daemon.sessions.desk import HANDLERS
from waybread_daemon.store.contract import Reader, StoreFault
from waybread_protocol.errors import ErrorCode
from waybread_protocol.messages import (
    REQUESTS,
    Describe,
    EntryText,
    Hello,
    Inserted,
    Page,
    Ping,
    Request,
    Sessions,
    Show,
    Sync,
    Unfollow,
)


def test_every_request_about_a_session_has_its_handler() -> None:
    others = {Hello, Describe, Ping, Unfollow, Sessions, EntryText, Sync}
    assert set(HANDLERS) == set(REQUESTS.values()) - others


async def test_a_request_of_the_link_is_none_for_the_desk(office: Office) -> None:
    with pytest.raises(TypeError, match="Ping is no request for the desk"):
        office.desk.submit(office.device, Ping(id=1), b"", Asker())


async def test_answers_about_one_session_come_in_order_and_about_others_when_they_are_ready(office: Office) -> None:
    await office.ask(opening("t"), object)
    futures = [
        office.send(read("1", "x\n" * 500_000)),
        office.send(text("2", "small")),
        office.send(text("1", "small", session="t")),
    ]
    answers = [await future for future in futures]
    assert [answer.result for answer in answers if isinstance(answer, Inserted)] == ["#0001", "#0002", "#0001"]
    large, small, other = (answer.re for answer in answers)
    assert office.asker.order.index(large) < office.asker.order.index(small)
    assert office.asker.order.index(other) < office.asker.order.index(large)


async def test_a_fault_of_the_store_is_the_answer(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(read_: Callable[[Reader], Any]) -> Any:
        raise StoreFault(ErrorCode.INTERNAL, "the disk does not answer: look at it")

    await office.insert(text("1", "x"))
    with monkeypatch.context() as patch:
        patch.setitem(office.failing.__dict__, "look", broken)
        looks: list[Request] = [Show(id=1, session="s", result="1"), Sessions(id=1), EntryText(id=1, seq=1), Sync(id=1)]
        for request in looks:
            fault = await office.error(request, "internal")
            assert (fault.message, fault.retry) == ("the disk does not answer: look at it", True)
    assert (await office.ask(Sync(id=1), Page)).head == 2


async def test_a_fault_of_the_daemon_ends_one_request_and_is_told_by_a_name(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(read_: Callable[[Reader], Any]) -> Any:
        raise ZeroDivisionError("with a path of a device in it")

    await office.insert(text("1", "x"))
    with monkeypatch.context() as patch:
        patch.setitem(office.failing.__dict__, "look", broken)
        looks: list[Request] = [Show(id=1, session="s", result="1"), Sessions(id=1)]
        for number, request in enumerate(looks, 1):
            fault = await office.error(request, "internal")
            assert fault.message == (
                f"a fault of the daemon, logged as fault-{number}: try again, and report it if it stays"
            )
    assert [str(fault) for fault in office.faults] == ["with a path of a device in it"] * 2
    office.faults.clear()
    assert (await office.insert(text("2", "x"))).result == "#0002"


async def test_quiet_waits_for_looks_as_well(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = asyncio.Event()
    look = office.store.look

    async def slow(read_: Callable[[Reader], Any]) -> Any:
        await go_on.wait()
        return await look(read_)

    with monkeypatch.context() as patch:
        patch.setitem(office.failing.__dict__, "look", slow)
        futures = [office.send(Sessions(id=1)), office.send(Sync(id=1))]
        quiet = asyncio.create_task(office.desk.quiet())
        await asyncio.sleep(0.02)
        assert not quiet.done()
        go_on.set()
        await quiet
    assert all(future.done() for future in futures)


async def test_from_the_end_on_what_waits_and_what_fails_is_busy_and_no_fault(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = asyncio.Event()

    async def shut_down(_: Callable[[Reader], Any]) -> Any:
        await go_on.wait()
        raise RuntimeError("cannot schedule new futures after shutdown")

    await office.insert(text("1", "x"))
    with monkeypatch.context() as patch:
        patch.setattr(office.store, "look", shut_down)
        under_way = office.send(Show(id=1, session="s", result="1"))
        waiting = office.send(text("2", "x"))
        await asyncio.sleep(0)
        office.desk.end()
        go_on.set()
        answers = [await future for future in (under_way, waiting, office.send(Sessions(id=1)))]
    assert {(getattr(answer, "code", ""), getattr(answer, "message", "")) for answer in answers} == {
        ("busy", "the daemon is stopping: send it again when it is back")
    }
    assert office.faults == []
