"""Very many clients, and clients that only take up room: those that work are served all the same."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from tests.daemon.waiting import until
from tests.daemon.wire import CODECS, greeted, linked, text_result
from tests.limits.watched import (
    MIB,
    Account,
    assert_no_fault,
    growing,
    log_lines,
    memory_bytes,
    new_account,
    open_sockets,
)
from tests.running import Daemon, running
from waybread_client import Link

CLIENTS = 500
DEVICES = 10
RECONNECTED_WITHIN_S = 60
"""All of them, on a machine that does other things, too. It is some seconds where it does not."""


@asynccontextmanager
async def serving(data: Path, port: int = 0) -> AsyncGenerator[Daemon]:
    """A daemon that has to end well."""
    with running(data, port) as daemon:
        yield daemon
        assert daemon.stop() == 0
        assert_no_fault(daemon)


async def at_work(daemon: Daemon, account: Account, stop: asyncio.Event) -> list[float]:
    """A client that works until it is told to stop: how long each request took, in seconds."""
    took_s: list[float] = []
    async with greeted(daemon.url, account.token) as wire:
        await wire.ask("open", session="work", kind="agent")
        while not stop.is_set():
            began = time.monotonic()
            answer = await wire.ask("result", **text_result("work", f"k{len(took_s)}"))
            took_s.append(time.monotonic() - began)
            assert answer["result"] == f"#{len(took_s):04x}"
            await asyncio.sleep(0.02)
    return took_s


async def _client(link: Link, number: int) -> tuple[str, int]:
    """What the client of that number does in each of its lives: the same request, by the same key."""
    session = await link.open(f"s{number}", "agent")
    answer = await session.result("bash", {"n": number}, f"text {number}")
    return answer.text, session.opened.results


async def test_500_clients_that_come_back_at_once_after_a_kill_are_all_served_and_nothing_is_twice(
    tmp_path: Path,
) -> None:
    data = tmp_path / "data"
    links: list[Link] = []
    with running(data) as daemon:
        port = daemon.port
        accounts = [new_account(data) for _ in range(DEVICES)]
        async with AsyncExitStack() as stack:
            for number in range(CLIENTS):
                link = Link(daemon.url, accounts[number % DEVICES].token)
                links.append(await stack.enter_async_context(link))
            first = await asyncio.gather(*(_client(link, number) for number, link in enumerate(links)))
            assert first == [(f"[#0001]\ntext {number}", 0) for number in range(CLIENTS)]
            # Each has a request under way when the daemon dies.
            waiting = [asyncio.create_task(_client(link, number)) for number, link in enumerate(links)]
            await asyncio.sleep(0.05)
            daemon.kill()
            began = time.monotonic()
            async with serving(data, port) as again:
                second = await asyncio.wait_for(asyncio.gather(*waiting), RECONNECTED_WITHIN_S)
                print(f"\n500 clients came back within {time.monotonic() - began:.1f} s")
                assert [text for text, _ in second] == [f"[#0002]\ntext {number}" for number in range(CLIENTS)]
                await asyncio.gather(*(link.ping() for link in links))
                assert all(link.is_connected for link in links)
                # Two results in each session, and each log without a gap.
                for account in accounts:
                    async with greeted(again.url, account.token) as wire:
                        page = await wire.ask("sync", after=0)
                        assert [entry["seq"] for entry in page["entries"]] == list(range(1, 3 * CLIENTS // DEVICES + 1))
                await asyncio.gather(*(link.close() for link in links))


async def test_500_sockets_that_say_hello_at_the_same_moment_are_all_welcomed_while_another_works(
    tmp_path: Path,
) -> None:
    async with serving(tmp_path / "data") as daemon:
        account, stop = new_account(daemon.data), asyncio.Event()
        working = asyncio.create_task(at_work(daemon, new_account(daemon.data), stop))
        before = memory_bytes(daemon)

        async def come(number: int) -> str:
            async with greeted(daemon.url, account.token, CODECS[number % 2]) as wire:
                return str((await wire.ask("ping"))["type"])

        async with asyncio.timeout(RECONNECTED_WITHIN_S):
            for _ in range(2):
                assert await asyncio.gather(*(come(number) for number in range(CLIENTS))) == ["done"] * CLIENTS
        stop.set()
        took_s = await working
        assert len(took_s) >= 3
        assert memory_bytes(daemon) - before < 64 * MIB
        await until(lambda: open_sockets(daemon) < 20, 15)


async def test_200_slow_handshakes_a_byte_at_a_time_are_cut_after_ten_seconds_and_stop_nobody(tmp_path: Path) -> None:
    async with serving(tmp_path / "data") as daemon:
        stop = asyncio.Event()
        working = asyncio.create_task(at_work(daemon, new_account(daemon.data), stop))
        await asyncio.sleep(0.2)
        before = open_sockets(daemon)
        request = b"GET /link HTTP/1.1\r\nHost: 127.0.0.1\r\n" + b"X-Slow: yes\r\n" * 20

        async def dribble() -> float:
            """How long the daemon puts up with it, in seconds."""
            reader, writer = await asyncio.open_connection("127.0.0.1", daemon.port)
            began = time.monotonic()
            closed = asyncio.create_task(reader.read())
            for byte in request:
                writer.write(bytes([byte]))
                await asyncio.wait([closed], timeout=0.25)
                if closed.done():
                    break
            closed.cancel()
            await asyncio.wait([closed])
            writer.transport.abort()
            return time.monotonic() - began

        async with asyncio.timeout(30):
            ages_s = await asyncio.gather(*(dribble() for _ in range(200)))
        stop.set()
        took_s = await working
        assert min(ages_s) > 8
        assert max(ages_s) < 20
        assert len(took_s) > 50
        await until(lambda: open_sockets(daemon) < before + 1, 10)


async def test_300_sockets_that_never_say_hello_are_closed_with_4401_at_the_deadline_and_stop_nobody(
    tmp_path: Path,
) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "waybread.toml").write_text("hello_timeout_s = 1.5\n", encoding="utf-8")
    async with serving(data) as daemon, AsyncExitStack() as stack:
        stop = asyncio.Event()
        working = asyncio.create_task(at_work(daemon, new_account(daemon.data), stop))
        async with growing(daemon) as growth:
            opening = [linked(daemon.url, CODECS[number % 2]) for number in range(300)]
            wires = [await stack.enter_async_context(link) for link in opening]
            answers = await asyncio.gather(*(wire.hear() for wire in wires))
            assert {(answer["code"], answer["re"]) for answer in answers} == {("unauthenticated", 0)}
            assert {await wire.close_code() for wire in wires} == {4401}
        stop.set()
        assert len(await working) >= 3
        print(f"\n300 sockets without hello: {growth}")
        assert growth.most < 32 * MIB
        assert sum(line["event"] == "hello_refused" for line in log_lines(daemon)) == 300
