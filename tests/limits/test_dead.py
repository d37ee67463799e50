"""Peers that are gone without a word: they are noticed, cut, and lock nobody out."""

from __future__ import annotations

import asyncio
import itertools
import time
from pathlib import Path

import pytest
from websockets.frames import Frame, Opcode

from tests.daemon.waiting import until
from tests.daemon.wire import Wire, greeted, text_result
from tests.limits.hasty import running_hastily
from tests.limits.relay import relaying
from tests.limits.watched import assert_no_fault, log_lines, new_account, open_sockets
from tests.running import Daemon, running
from waybread_client import wire as client_wire
from waybread_daemon.link import server


async def _cut_when_silent(daemon: Daemon, within_s: float) -> float:
    """How long it takes until the socket of a client that vanished is given back."""
    account = new_account(daemon.data)
    async with relaying(daemon.port) as relay, greeted(daemon.url, account.token) as alive:
        before = open_sockets(daemon)
        async with greeted(relay.url, account.token) as wire:
            await wire.ask("ping")
            assert open_sockets(daemon) == before + 1
            relay.die()
            died = time.monotonic()
            await until(lambda: open_sockets(daemon) == before, within_s)
            took_s = time.monotonic() - died
            wire.socket.transport.abort()
        # One that answers the daemon's pings is not cut, however little it says.
        assert (await alive.ask("ping"))["type"] == "done"
    return took_s


async def test_a_peer_that_vanishes_without_a_fin_is_cut_after_the_keepalive(tmp_path: Path) -> None:
    with running_hastily(tmp_path / "data", PING_INTERVAL_S=1, PING_TIMEOUT_S=1) as daemon:
        assert 1 <= await _cut_when_silent(daemon, 8) <= 8
        assert daemon.stop() == 0
        assert_no_fault(daemon)


@pytest.mark.long
async def test_a_peer_that_vanishes_without_a_fin_is_cut_within_50_s_with_the_numbers_in_force(tmp_path: Path) -> None:
    with running(tmp_path / "data") as daemon:
        assert 18 <= await _cut_when_silent(daemon, 50) <= 50
        assert daemon.stop() == 0
        assert_no_fault(daemon)


async def _work(wire: Wire, first: int, count: int) -> list[str]:
    """Results of one session, one after another."""
    answers = [
        await wire.ask("result", **text_result("s", f"k{n:04}", f"text {n}")) for n in range(first, first + count)
    ]
    assert all(answer["type"] == "inserted" for answer in answers)
    return [answer["result"] for answer in answers]


async def test_a_device_that_comes_back_while_its_old_socket_is_half_open_is_served_at_once_and_loses_nothing(
    tmp_path: Path,
) -> None:
    with running(tmp_path / "data") as daemon:
        account = new_account(daemon.data)
        async with relaying(daemon.port) as relay, greeted(relay.url, account.token) as old:
            await old.ask("sync", follow=True)
            await old.ask("open", session="s", kind="agent")
            ids = await _work(old, 0, 5)
            # The wire dies with ten requests on it: nobody knows which of them arrived.
            sent = [await old.send("result", **text_result("s", f"k{n:04}", f"text {n}")) for n in range(5, 15)]
            assert len(sent) == 10
            await asyncio.sleep(0.05)
            relay.die()
            sockets = open_sockets(daemon)
            began = time.monotonic()
            async with greeted(daemon.url, account.token) as new:
                opened = await new.ask("open", session="s", kind="agent")
                assert not opened["created"]
                # The same requests again, with their keys: the first answers for those that arrived.
                ids += await _work(new, 5, 10)
                page = await new.ask("sync", follow=True)
                ids += await _work(new, 15, 5)
                pushed = await new.pushes(5)
                assert time.monotonic() - began < 5
                assert open_sockets(daemon) == sockets + 1, "the old one is still there"
            assert ids == [f"#{number:04x}" for number in range(1, 21)]
            entries = page["entries"] + [push["entry"] for push in pushed]
            assert [entry["seq"] for entry in entries] == list(range(1, 22))
            assert [entry["text"] for entry in entries[1:]] == [f"[{ids[n]}]\ntext {n}" for n in range(20)]
            old.socket.transport.abort()
        assert daemon.stop() == 0
        assert_no_fault(daemon)


async def test_a_peer_that_vanishes_while_it_is_sent_pushes_does_not_stop_those_of_others(tmp_path: Path) -> None:
    # Where bytes wait to be taken no ping gets out, and the time that a frame may take is what counts.
    with running_hastily(tmp_path / "data", SEND_TIMEOUT_S=1.5, _CHECK_INTERVAL_S=0.2) as daemon:
        account = new_account(daemon.data)
        async with (
            relaying(daemon.port) as relay,
            greeted(relay.url, account.token) as dead,
            greeted(daemon.url, account.token) as follower,
            greeted(daemon.url, account.token) as wire,
        ):
            for one in (dead, follower):
                await one.ask("sync", follow=True)
            await wire.ask("open", session="s", kind="agent")
            relay.die()
            text = "x" * 30_000
            reading = asyncio.create_task(follower.pushes(301))
            for number in range(300):
                await wire.ask("result", **text_result("s", f"k{number}", f"{number} {text}"))
            pushed = await reading
            assert [push["entry"]["seq"] for push in pushed] == list(range(1, 302))
            await until(lambda: any(line["event"] == "link_closed" for line in log_lines(daemon)), 15)
            assert [line["code"] for line in log_lines(daemon) if line["event"] == "link_ended"] == [4408]
            dead.socket.transport.abort()
        assert daemon.stop() == 0
        assert_no_fault(daemon)


async def test_a_link_is_pinged_while_a_request_of_it_is_worked_on_and_far_more_often_than_proxies_ask(
    tmp_path: Path,
) -> None:
    assert server.PING_INTERVAL_S <= 30, "proxies drop what is idle for 60 s"
    assert client_wire.PING_INTERVAL_S <= 30
    with running_hastily(tmp_path / "data", PING_INTERVAL_S=0.3, PING_TIMEOUT_S=20) as daemon:
        account = new_account(daemon.data)
        async with greeted(daemon.url, account.token) as wire:
            await wire.ask("open", session="s", kind="agent")
            pings: list[float] = []
            answer_ping = wire.socket.protocol.recv_frame

            def seen(frame: Frame) -> None:
                if frame.opcode is Opcode.PING:
                    pings.append(time.monotonic())
                answer_ping(frame)

            wire.socket.protocol.recv_frame = seen  # type: ignore[method-assign]  # pings are not told of otherwise
            # Two files with nothing in common take the rules a while.
            before, after = ("".join(f"{mark}{n}\n" for n in range(30_000)) for mark in "ab")
            change = {"path": "a", "absolute": "/a", "before": {"text": before}, "after": {"text": after}}
            began = time.monotonic()
            for number in range(8):
                body = {"kind": "change", "changes": [change]}
                await wire.send("result", session="s", key=f"k{number}", tool="edit", body=body)
            await asyncio.sleep(2.5)
            gaps = [later - earlier for earlier, later in itertools.pairwise([began, *pings, time.monotonic()])]
            assert len(pings) >= 3
            assert max(gaps) < 2
        assert daemon.stop() == 0
        assert_no_fault(daemon)
