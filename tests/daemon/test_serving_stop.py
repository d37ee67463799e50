"""SIGTERM and SIGINT at every moment of a daemon's life, with clients that do as they like."""

from __future__ import annotations

import asyncio
import signal
import socket
import time
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from tests.daemon.cli.support import serving, waybread
from tests.daemon.life.hanging import DISK, HEAVY
from tests.daemon.life.manager import managing
from tests.daemon.life.processes import Process, started
from tests.daemon.secured import Authority
from tests.daemon.wire import CODECS, Map, Wire, greeted, linked, text_result

RESULTS = 500
LONG_LINES = "\n".join("x" * 250 for _ in range(2000))
"""Read in full, it makes an answer that is put into its form beside the loop."""
TOLD = [signal.SIGTERM, signal.SIGINT]


def check_log(log: str) -> None:
    assert [word for word in ("Traceback", '"fault"', "loop_fault", "Error") if word in log] == [], log


async def rest(wire: Wire) -> list[Map]:
    """All that the daemon says until it closes."""
    said: list[Map] = []
    try:
        while True:
            said.append(await wire.hear())
    except ConnectionClosed:
        return said


@pytest.mark.parametrize("number", TOLD)
async def test_what_was_not_acknowledged_is_there_once_when_it_is_sent_again(
    tmp_path: Path, number: signal.Signals
) -> None:
    requests: list[Map] = [
        {"type": "result", "id": at + 1, **text_result("s", f"k{at}", f"n{at}")} for at in range(RESULTS)
    ]
    answered: dict[int, str] = {}
    with serving(tmp_path / "data") as daemon:
        token = daemon.device()["token"]
        async with greeted(daemon.url, token) as wire:
            await wire.ask("open", session="s", kind="agent")
            for request in requests:
                await wire.say({**request, "id": request["id"] + 1000})
            said = [await wire.hear()]
            daemon.process.send_signal(number)
            said += await rest(wire)
            assert wire.socket.close_code == 1012
        assert await asyncio.to_thread(daemon.process.wait, 20) == 0
        check_log(daemon.log())
        answered = {answer["re"] - 1001: answer["result"] for answer in said if answer["type"] == "inserted"}
    with serving(tmp_path / "data") as daemon:
        async with greeted(daemon.url, token) as wire:
            for request in requests:
                await wire.say({**request, "id": request["id"] + 1000})
            again = await wire.answers_to([request["id"] + 1000 for request in requests])
    assert answered
    assert {at: again[at + 1001]["result"] for at in answered} == answered
    assert all(again[at + 1001]["repeated"] for at in answered)
    assert sorted(answer["result"] for answer in again.values()) == [f"#{at:04x}" for at in range(1, RESULTS + 1)]
    (session,) = waybread("sessions", "--data", tmp_path / "data", "--json").objects()
    assert session["results"] == RESULTS


async def test_a_large_answer_that_is_still_being_made_is_sent(tmp_path: Path) -> None:
    read = {"kind": "read", "path": "f", "absolute": "/f", "content": {"text": LONG_LINES}}
    with serving(tmp_path / "data") as daemon:
        token = daemon.device()["token"]
        async with greeted(daemon.url, token) as wire:
            await wire.ask("open", session="s", kind="agent")
            for at in range(6):
                body = {**read, "absolute": f"/{at}"}
                await wire.say(
                    {"type": "result", "id": at + 100, "session": "s", "key": f"k{at}", "tool": "r", "body": body}
                )
            ping = await wire.send("ping")
            answers = await wire.answers_to([ping, *range(100, 106)][:1])
            daemon.process.send_signal(signal.SIGTERM)
            answers |= await wire.answers_to(range(100, 106))
            assert await wire.close_code() == 1012
        assert await asyncio.to_thread(daemon.process.wait, 20) == 0
    assert [len(answers[at]["text"]) > 500_000 for at in range(100, 106)] == [True] * 6


@pytest.mark.parametrize("pause_s", [0.01, 0.05])
async def test_a_second_signal_under_load_ends_it_at_once_and_without_a_fault(tmp_path: Path, pause_s: float) -> None:
    with serving(tmp_path / "data") as daemon:
        token = daemon.device()["token"]
        async with AsyncExitStack() as clients:
            wires = [await clients.enter_async_context(greeted(daemon.url, token)) for _ in range(12)]
            for wire in wires:
                session = f"s{wires.index(wire)}"
                await wire.ask("open", session=session, kind="agent")
                for at in range(20):
                    await wire.ask("result", **text_result(session, f"k{at:02}", LONG_LINES[:20_000]))

            async def load(wire: Wire) -> list[Map]:
                session = f"s{wires.index(wire)}"
                for at in range(100):
                    # Each looks into the store, in its session's order.
                    await wire.say({"type": "history", "id": at + 2000, "session": session})
                return await rest(wire)

            loading = [asyncio.create_task(load(wire)) for wire in wires]
            await asyncio.sleep(0.2)
            daemon.process.send_signal(signal.SIGTERM)
            await asyncio.sleep(pause_s)
            daemon.process.send_signal(signal.SIGTERM)
            began = time.monotonic()
            assert await asyncio.to_thread(daemon.process.wait, 20) == 0
            assert time.monotonic() - began < 10
            said = await asyncio.gather(*loading, return_exceptions=True)
        check_log(daemon.log())
    assert any(isinstance(answers, list) for answers in said)


async def readiness(url: str) -> int:
    address = urlsplit(url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    writer.write(f"GET /readyz HTTP/1.1\r\nHost: {address.netloc}\r\n\r\n".encode())
    head = await reader.read()
    writer.close()
    return int(head.split()[1])


@asynccontextmanager
async def unruly(daemon: Process, url: str, token: str) -> AsyncGenerator[Wire, None]:
    """Clients that hold a daemon up in every way they can, and gives one that behaves."""
    address = urlsplit(url)
    assert address.hostname is not None
    assert address.port is not None
    async with AsyncExitStack() as clients:
        silent = clients.enter_context(socket.create_connection((address.hostname, address.port)))
        half = clients.enter_context(socket.create_connection((address.hostname, address.port)))
        half.sendall(b"GET /link HTTP/1.1\r\nHost: 127.")
        assert silent.fileno() != half.fileno()
        await clients.enter_async_context(linked(url))
        in_parts = await clients.enter_async_context(greeted(url, token))
        await in_parts.say({"type": "part", "index": 0, "last": False, "data": b"\x81"})
        stuck = await clients.enter_async_context(greeted(url, token))
        await stuck.ask("open", session="stuck", kind="agent")
        await stuck.send("reads", session="stuck")
        heavy = await clients.enter_async_context(greeted(url, token))
        await heavy.ask("open", session="heavy", kind="agent")
        daemon.hang(HEAVY)
        await heavy.send("result", **text_result("heavy", "k", "x" * 300_000))
        slow = await clients.enter_async_context(greeted(url, token))
        await slow.ask("open", session="slow", kind="agent")
        for at in range(40):
            body = {"kind": "read", "path": "f", "absolute": f"/{at}", "content": {"text": LONG_LINES[:200_000]}}
            await slow.send("result", session="slow", key=f"k{at}", tool="r", body=body)
        slow.socket.transport.pause_reading()
        good = await clients.enter_async_context(greeted(url, token))
        await good.ask("open", session="good", kind="agent")
        yield good


async def test_whatever_clients_do_it_ends_within_30_s_with_status_0_and_those_that_behave_are_answered(
    tmp_path: Path,
) -> None:
    with started(tmp_path / "data") as daemon:
        url = daemon.listening()
        token = daemon.device()
        async with unruly(daemon, url, token) as good:
            asked = [await good.send("result", **text_result("good", f"k{at}")) for at in range(20)]
            assert await readiness(url) == 200
            ping = await good.send("ping")
            answers = await good.answers_to([*asked, ping])
            began = time.monotonic()
            daemon.signal(signal.SIGTERM)
            assert await readiness(url) == 503
            late = await good.ask("result", **text_result("good", "late"))
            with pytest.raises((InvalidHandshake, OSError, ConnectionClosed)):
                async with greeted(url, token):
                    pass
            assert (late["code"], late["retry"]) == ("busy", True)
            assert await good.close_code() == 1012
            assert await asyncio.to_thread(daemon.ended) == 0
            assert time.monotonic() - began < 30
        check_log(daemon.log())
    assert [answers[at]["result"] for at in asked] == [f"#{at:04x}" for at in range(1, 21)]
    sessions = waybread("sessions", "--data", tmp_path / "data", "--json").objects()
    assert {session["session"]: session["results"] for session in sessions if session["session"] != "slow"} == {
        "good": 20,
        "heavy": 0,
        "stuck": 0,
    }


async def test_a_second_signal_ends_it_in_seconds_and_loses_nothing_acknowledged(tmp_path: Path) -> None:
    with started(tmp_path / "data") as daemon:
        url = daemon.listening()
        token = daemon.device()
        async with unruly(daemon, url, token) as good:
            asked = [await good.send("result", **text_result("good", f"k{at}")) for at in range(20)]
            await good.answers_to(asked)
            daemon.signal(signal.SIGTERM)
            began = time.monotonic()
            daemon.signal(signal.SIGINT)
            assert await good.close_code() == 1012
            assert await asyncio.to_thread(daemon.ended) == 0
            assert time.monotonic() - began < 8
        check_log(daemon.log())
    sessions = waybread("sessions", "--data", tmp_path / "data", "--json").objects()
    assert {session["session"]: session["results"] for session in sessions}["good"] == 20


async def test_a_disk_that_hangs_for_good_does_not_keep_the_daemon_and_what_was_acknowledged_is_there(
    tmp_path: Path,
) -> None:
    with started(tmp_path / "data") as daemon:
        url = daemon.listening()
        async with greeted(url, daemon.device()) as wire:
            await wire.ask("open", session="s", kind="agent")
            assert (await wire.ask("result", **text_result("s", "k1")))["result"] == "#0001"
            daemon.hang(DISK)
            await wire.send("result", **text_result("s", "k2"))
            await wire.ask("ping")
            daemon.signal(signal.SIGTERM, signal.SIGTERM)
            assert await wire.close_code() == 1012
        assert await asyncio.to_thread(daemon.ended) == 0
        assert "stopped_unfinished" in daemon.log()
        check_log(daemon.log())
    (session,) = waybread("sessions", "--data", tmp_path / "data", "--json").objects()
    assert session["results"] == 1


def test_a_loop_that_hangs_does_not_keep_the_daemon(tmp_path: Path) -> None:
    with started(tmp_path / "data") as daemon:
        daemon.listening()
        daemon.signal(signal.SIGUSR1, signal.SIGTERM, signal.SIGINT)
        assert daemon.ended() == 0
        assert "stopped_unfinished" in daemon.log()


@pytest.mark.parametrize("number", TOLD)
def test_a_signal_while_the_store_is_opened_lets_that_finish_and_nothing_is_served(
    tmp_path: Path, number: signal.Signals
) -> None:
    with managing(tmp_path) as manager, started(tmp_path / "data", manager=manager, hang=DISK) as daemon:
        # More time is asked for while it goes on.
        assert manager.hear_until("EXTEND_TIMEOUT_USEC")[-1] == {"EXTEND_TIMEOUT_USEC": "30000000"}
        daemon.signal(number)
        assert daemon.process.poll() is None
        daemon.go_on(DISK)
        assert daemon.ended() == 0
        assert daemon.listening() == ""
        assert "READY" not in str(manager.drain())
        check_log(daemon.log())
    with serving(tmp_path / "data") as after:
        assert after.url


def test_a_store_that_cannot_even_be_opened_does_not_keep_the_daemon_and_the_next_start_is_well(
    tmp_path: Path,
) -> None:
    with managing(tmp_path) as manager, started(tmp_path / "data", manager=manager, hang=DISK) as daemon:
        manager.hear_until("EXTEND_TIMEOUT_USEC")
        daemon.signal(signal.SIGTERM, signal.SIGTERM)
        assert daemon.ended() == 0
        check_log(daemon.log())
        daemon.go_on(DISK)
    with serving(tmp_path / "data") as after:
        assert after.device()["token"]


def test_a_signal_at_any_moment_of_the_start_ends_it_without_a_traceback(tmp_path: Path) -> None:
    statuses: list[int] = []
    for at in range(14):
        with started(tmp_path / "data") as daemon:
            time.sleep(at * 0.05)
            daemon.process.send_signal(signal.SIGTERM)
            statuses.append(daemon.ended())
            check_log(daemon.log())
    # Before the program runs at all the system ends it; from then on it ends by itself.
    assert set(statuses) <= {0, -signal.SIGTERM}
    assert statuses[-1] == 0


@pytest.mark.parametrize("codec", CODECS)
async def test_a_signal_amid_handshakes_and_hellos_ends_it_without_a_fault(tmp_path: Path, codec: str) -> None:
    with serving(tmp_path / "data") as daemon:
        token = daemon.device()["token"]
        linked_often = 0

        async def link_again_and_again() -> None:
            nonlocal linked_often
            while True:
                try:
                    async with greeted(daemon.url, token, codec):
                        linked_often += 1
                except (ConnectionClosed, InvalidHandshake, OSError, EOFError):
                    return

        clients = [asyncio.create_task(link_again_and_again()) for _ in range(8)]
        await asyncio.sleep(0.5)
        daemon.process.send_signal(signal.SIGTERM)
        assert await asyncio.to_thread(daemon.process.wait, 20) == 0
        async with asyncio.timeout(10):
            await asyncio.gather(*clients)
        check_log(daemon.log())
    assert linked_often > 8


async def test_a_signal_amid_tls_handshakes_ends_it_without_a_fault(tmp_path: Path) -> None:
    authority = Authority()
    pair = authority.issue(tmp_path)
    flags = ("--tls-cert", str(pair.cert), "--tls-key", str(pair.key))
    with serving(tmp_path / "data", *flags) as daemon:
        port, context = int(daemon.url.rpartition(":")[2].partition("/")[0]), authority.client()
        assert daemon.url.startswith("wss://127.0.0.1:")

        async def secure_again_and_again() -> int:
            often = 0
            while True:
                try:
                    _, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context)
                except (OSError, EOFError):
                    return often
                often += 1
                writer.close()

        with socket.create_connection(("127.0.0.1", port)) as half:
            # The beginning of a client's first message.
            half.sendall(b"\x16\x03\x01\x02\x00\x01\x00")
            clients = [asyncio.create_task(secure_again_and_again()) for _ in range(4)]
            await asyncio.sleep(0.5)
            began = time.monotonic()
            daemon.process.send_signal(signal.SIGTERM)
            assert await asyncio.to_thread(daemon.process.wait, 20) == 0
            assert time.monotonic() - began < 10
            async with asyncio.timeout(10):
                assert sum(await asyncio.gather(*clients)) > 4
        check_log(daemon.log())
