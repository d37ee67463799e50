import asyncio
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from tests.daemon.served import Served, serving
from tests.daemon.waiting import until
from tests.daemon.wire import greeted, linked, text_result
from waybread_daemon.link import draining
from waybread_daemon.link.connection import Connection
from waybread_daemon.sessions import desk
from waybread_daemon.sessions.job import Job
from waybread_protocol.messages import Reads


def links(served: Served) -> list[Connection]:
    return served.server.connections


def handled_by(handler: desk.Handler) -> dict[type[Any], desk.Handler]:
    """All handlers, and this one for `reads`."""
    handlers = dict(desk.HANDLERS)
    handlers[Reads] = handler
    return handlers


def cut_off(client: socket.socket) -> bool:
    client.settimeout(5)
    try:
        return client.recv(1) == b""
    except ConnectionResetError:
        return True


def never() -> asyncio.Event:
    return asyncio.Event()


async def test_to_finish_waits_for_the_answers_and_not_only_for_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = asyncio.Event()

    async def slow(job: Job) -> None:
        await go_on.wait()
        raise AssertionError

    monkeypatch.setattr(desk, "HANDLERS", handled_by(slow))
    async with serving(tmp_path) as served, greeted(served.url, await served.new_token()) as wire:
        await wire.ask("open", session="s", kind="agent")
        asked = await wire.send("reads", session="s")
        await until(lambda: links(served)[0].open_requests == 1)
        finishing = asyncio.create_task(draining.finish(served.desk, lambda: links(served), never()))
        await asyncio.sleep(0.05)
        assert not finishing.done()
        go_on.set()
        async with asyncio.timeout(5):
            await finishing
        assert links(served)[0].open_requests == 0
        assert (await wire.answer_to(asked))["code"] == "internal"
        served.faults.clear()


@pytest.mark.parametrize("hurried", [True, False])
async def test_work_that_hangs_is_waited_for_until_its_time_is_over_or_there_is_a_hurry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hurried: bool
) -> None:
    stuck = asyncio.Event()

    async def hang(job: Job) -> None:
        await stuck.wait()

    monkeypatch.setattr(desk, "HANDLERS", handled_by(hang))
    monkeypatch.setattr(draining, "FINISH_TIMEOUT_S", 60 if hurried else 0.3)
    async with serving(tmp_path) as served, greeted(served.url, await served.new_token()) as wire:
        await wire.ask("open", session="s", kind="agent")
        await wire.send("reads", session="s")
        await until(lambda: links(served)[0].open_requests == 1)
        hurry = never()
        if hurried:
            asyncio.get_running_loop().call_later(0.3, hurry.set)
        began = time.monotonic()
        await draining.finish(served.desk, lambda: links(served), hurry)
        assert 0.25 < time.monotonic() - began < 5
        stuck.set()


async def test_the_end_closes_links_with_a_code_and_cuts_off_who_never_became_one(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        with socket.create_connection(("127.0.0.1", served.port)) as half:
            half.sendall(b"GET /link HTTP/1.1\r\nHost: 127.")
            async with greeted(served.url, await served.new_token()) as wire, linked(served.url) as silent:
                await wire.ask("open", session="s", kind="agent")
                await wire.ask("result", **text_result("s", "k"))
                began = time.monotonic()
                await served.server.drain()
                assert time.monotonic() - began < 5
                assert [await wire.close_code(), await silent.close_code()] == [1012, 1012]
            assert cut_off(half)
        assert links(served) == []
