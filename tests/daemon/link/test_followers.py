"""A follow against a real log, with a connection that only writes down what it is pushed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from tests.daemon.served import Served
from tests.daemon.waiting import until
from tests.daemon.wire import Wire, greeted, text_result
from waybread_daemon.link.followers import Follow
from waybread_daemon.sessions.live import LiveDevice
from waybread_daemon.store.contract import Reader, StoreFault
from waybread_protocol.errors import ErrorCode
from waybread_protocol.messages import Entry


class Following:
    def __init__(self) -> None:
        self.page_bytes = 1000
        self.lags = False
        self.entries: list[Entry] = []
        self.lagged: list[int] = []

    def push(self, entry: Entry) -> None:
        self.entries.append(entry)

    def push_lagged(self, next_seq: int) -> None:
        self.lagged.append(next_seq)

    @property
    def seqs(self) -> list[int]:
        return [entry.seq for entry in self.entries]


async def a_device(served: Served) -> tuple[str, LiveDevice]:
    device = await served.add_device()
    live = served.desk.live.device(device.number)
    await served.desk.live.load_head(live)
    return await served.add_token(device), live


async def three_entries(wire: Wire) -> None:
    await wire.ask("open", session="a", kind="agent")
    await wire.ask("open", session="b", kind="agent")
    await wire.ask("turn", session="b", turn="t")


async def test_it_pushes_what_is_behind_its_cursor_already_and_what_comes(served: Served) -> None:
    token, device = await a_device(served)
    following = Following()
    async with greeted(served.url, token) as wire:
        await three_entries(wire)
        follow = Follow(served.desk.live, device, following, None, 1)
        await until(lambda: following.seqs == [2, 3])
        await wire.ask("turn", session="a", turn="t")
        await until(lambda: following.seqs == [2, 3, 4])
        follow.end()


async def test_of_one_session_it_pushes_that_one_alone(served: Served) -> None:
    token, device = await a_device(served)
    following = Following()
    async with greeted(served.url, token) as wire:
        await three_entries(wire)
        number = served.desk.live.session(device, "b").number
        follow = Follow(served.desk.live, device, following, number, 0)
        await until(lambda: following.seqs == [2, 3])
        await wire.ask("turn", session="a", turn="t")
        await wire.ask("turn", session="b", turn="u")
        await until(lambda: following.seqs == [2, 3, 5])
        follow.end()


async def test_a_text_over_page_bytes_is_cut_and_many_entries_come_in_several_looks(served: Served) -> None:
    token, device = await a_device(served)
    following = Following()
    async with greeted(served.url, token) as wire:
        await wire.ask("open", session="a", kind="agent")
        for count in range(20):
            await wire.ask("result", **text_result("a", f"k{count}", "x" * (5000 if count == 3 else 300)))
        follow = Follow(served.desk.live, device, following, None, 0)
        await until(lambda: following.seqs == list(range(1, 22)))
        assert {len(entry.text) for entry in following.entries} == {0, 308, 998}
        follow.end()


async def test_a_follower_that_lags_is_told_from_where_and_gets_nothing_more(served: Served) -> None:
    token, device = await a_device(served)
    following = Following()
    async with greeted(served.url, token) as wire:
        await three_entries(wire)
        follow = Follow(served.desk.live, device, following, None, 0)
        await until(lambda: following.seqs == [1, 2, 3])
        following.lags = True
        await wire.ask("turn", session="a", turn="t")
        await until(lambda: following.lagged == [3])
        following.lags = False
        await wire.ask("turn", session="a", turn="u")
        await asyncio.sleep(0.05)
        assert (following.seqs, following.lagged) == ([1, 2, 3], [3])
        assert device.listeners == []
        follow.end()


async def test_after_its_end_it_pushes_nothing_and_no_listener_is_left(served: Served) -> None:
    token, device = await a_device(served)
    following = Following()
    async with greeted(served.url, token) as wire:
        await three_entries(wire)
        follow = Follow(served.desk.live, device, following, None, 3)
        follow.end()
        follow.end()
        await wire.ask("turn", session="a", turn="t")
        await asyncio.sleep(0.05)
        assert following.entries == []
        assert device.listeners == []


async def test_a_log_that_cannot_be_read_once_is_read_at_the_next_commit(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    token, device = await a_device(served)
    following = Following()
    async with greeted(served.url, token) as wire:
        await three_entries(wire)
        failed = asyncio.Event()

        async def broken(read: Callable[[Reader], Any]) -> Any:
            failed.set()
            raise StoreFault(ErrorCode.INTERNAL, "the disk does not answer")

        with monkeypatch.context() as patch:
            patch.setattr(served.store, "look", broken)
            follow = Follow(served.desk.live, device, following, None, 0)
            await failed.wait()
            await asyncio.sleep(0.02)
        assert following.entries == []
        await wire.ask("turn", session="a", turn="t")
        await until(lambda: following.seqs == [1, 2, 3, 4])
        follow.end()
