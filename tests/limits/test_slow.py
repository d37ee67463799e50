"""Clients that take less than they are sent: the daemon's memory stays within its bound, and nothing is lost to them."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from tests.daemon.waiting import until
from tests.daemon.wire import CODECS, Wire, greeted, text_result
from tests.limits.clients import slow_client
from tests.limits.hasty import running_hastily
from tests.limits.produce import piece, produce
from tests.limits.watched import (
    MIB,
    assert_no_fault,
    growing,
    log_lines,
    new_account,
    open_sockets,
)
from tests.running import Daemon, running

PRODUCED = 420
"""Pieces of 250,000 characters: more than 100 MB in all."""
MEMORY_MOST_BYTES = 64 * MIB
"""By how much the daemon's memory may grow, whatever a client leaves lying."""


@pytest.fixture
def daemon(tmp_path: Path) -> Generator[Daemon]:
    with running(tmp_path / "data") as daemon:
        yield daemon
        assert daemon.stop() == 0
        assert_no_fault(daemon)


class Follower:
    """What a follower has been told, each entry once."""

    def __init__(self, wire: Wire) -> None:
        self.wire = wire
        self.texts: dict[int, str] = {}
        self.cursor = 0
        self.epoch = ""
        self.lagged = 0

    def take(self, entry: dict[str, Any]) -> None:
        assert entry["seq"] == max(self.texts, default=0) + 1, "a gap or a repeat"
        assert entry["text_chars"] == len(entry["text"])
        self.texts[entry["seq"]] = entry["text"]

    async def sync(self) -> None:
        """From the cursor to the end, and on."""
        more = True
        while more:
            page = await self.wire.ask("sync", after=self.cursor, epoch=self.epoch, follow=True)
            assert page["type"] == "page", page
            for entry in page["entries"]:
                self.take(entry)
            self.cursor, self.epoch, more = page["next"], page["epoch"], page["more"]

    async def read_on(self, head: int) -> None:
        """Takes pushes until it has everything up to `head`; where it is told that it lags, it syncs."""
        while max(self.texts, default=0) < head:
            push = await self.wire.push()
            if push["type"] == "lagged":
                self.lagged += 1
                assert push["next"] == max(self.texts), "it lags from the last entry that it was sent"
                self.cursor = push["next"]
                await self.sync()
            else:
                self.take(push["entry"])


@pytest.mark.parametrize("codec", CODECS)
async def test_a_follower_that_stops_reading_while_100_mb_are_produced_costs_bounded_memory_and_misses_nothing(
    daemon: Daemon, codec: str
) -> None:
    account = new_account(daemon.data)
    async with greeted(daemon.url, account.token) as wire, slow_client(daemon.url, account.token, codec) as slow:
        await wire.ask("open", session="s", kind="agent")
        follower = Follower(slow)
        await follower.sync()
        await produce(wire, 0, 10)
        await follower.read_on(11)
        assert follower.lagged == 0
        await produce(wire, 10, 10)
        async with growing(daemon) as growth:
            # It stops reading here.
            await produce(wire, 20, PRODUCED - 20)
        print(f"\nslow follower, {codec}: {growth}")
        assert growth.most < MEMORY_MOST_BYTES
        # And goes on here.
        await follower.read_on(PRODUCED + 1)
        assert follower.lagged >= 1
        assert follower.texts == {1: "", **{number + 2: piece(number) for number in range(PRODUCED)}}
        # It is a follower again.
        await produce(wire, PRODUCED, 1)
        await follower.read_on(PRODUCED + 2)


async def ask_for_much(wire: Wire, recalls: int) -> None:
    """Sends requests whose answers are 800 KB each, and reads none of them."""
    await wire.ask("open", session="big", kind="agent")
    lines = "".join(f"{number:07}{'x' * 392}\n" for number in range(2000))
    await wire.ask("result", **text_result("big", "one", lines))
    for number in range(recalls):
        await wire.send("recall", session="big", key=f"again {number}", result="1")


async def test_a_client_that_asks_for_400_mb_and_never_reads_costs_bounded_memory_and_stops_nobody(
    daemon: Daemon,
) -> None:
    account = new_account(daemon.data)
    async with greeted(daemon.url, account.token) as wire, slow_client(daemon.url, account.token) as slow:
        await wire.ask("open", session="s", kind="agent")
        await produce(wire, 0, 10)
        async with growing(daemon) as growth, asyncio.timeout(60):
            await ask_for_much(slow, 500)
            # It does what it is asked for as far as it may, and then reads no more requests of this client.
            settled, head = False, -1
            while not settled:
                await asyncio.sleep(0.5)
                now = (await wire.ask("sync", after=0))["head"]
                settled, head = now == head, now
        print(f"\nnever reads: {growth}, {head} changes")
        assert growth.most < MEMORY_MOST_BYTES
        assert head < 500
        for number in range(20):
            answer = await wire.ask("result", **text_result("s", f"other {number}"))
            assert answer["result"] == f"#{number + 1:04x}"
        # What it asked for is all there once it reads.
        answers = [await slow.hear() for _ in range(500)]
        assert [answer["result"] for answer in answers] == [f"#{number:04x}" for number in range(2, 502)]
        assert len({len(answer["text"]) for answer in answers}) <= 3


async def test_a_client_that_never_reads_is_cut_with_4408_and_its_socket_and_memory_are_given_back(
    tmp_path: Path,
) -> None:
    with running_hastily(tmp_path / "data", SEND_TIMEOUT_S=1, _CHECK_INTERVAL_S=0.2) as daemon:
        account = new_account(daemon.data)
        before = open_sockets(daemon)
        async with slow_client(daemon.url, account.token) as slow:
            await ask_for_much(slow, 60)
            await until(lambda: open_sockets(daemon) == before, 20)
        assert {"event": "link_ended", "code": 4408, "why": "too slow to take what it is sent"}.items() <= next(
            line for line in log_lines(daemon) if line["event"] == "link_ended"
        ).items()
        assert daemon.stop() == 0
        assert_no_fault(daemon)
