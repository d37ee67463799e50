"""Sockets before they are links: counted from the first moment on, encrypted, and cut off when nothing comes of them.

Each is tried in asyncio's own loop and in uvloop, in which the daemon runs: they begin TLS in their own ways.
"""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import asyncio
import contextlib
import resource
import socket
import ssl
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
import uvloop
from websockets.asyncio.client import connect
from websockets.typing import Subprotocol

from tests.daemon.secured import Authority
from tests.daemon.served import Served, serving
from tests.daemon.waiting import until
from tests.daemon.wire import MSGPACK, Wire, greeted, text_result
from waybread_daemon.link import sockets
from waybread_daemon.link.guard import SPARE_SOCKETS
from waybread_daemon.link.sockets import raise_descriptors

GET = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
LOOPS: list[Callable[[], asyncio.AbstractEventLoop]] = [asyncio.new_event_loop, uvloop.new_event_loop]

both_loops = pytest.mark.parametrize("loop", LOOPS, ids=["asyncio", "uvloop"])


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority()


def run(loop: Callable[[], asyncio.AbstractEventLoop], story: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Runs it to its end. What fails where nobody waits for it fails the test."""
    faults: list[object] = []
    with asyncio.Runner(loop_factory=loop) as runner:
        runner.get_loop().set_exception_handler(lambda _, context: faults.append(context))
        runner.run(story())
    assert faults == []


async def get(port: int, context: ssl.SSLContext | None, request: bytes = GET, *, host: str = "127.0.0.1") -> bytes:
    """What a plain request gets."""
    reader, writer = await asyncio.open_connection(host, port, ssl=context)
    writer.write(request)
    try:
        async with asyncio.timeout(5):
            return await reader.read()
    finally:
        writer.transport.abort()


async def idle(port: int, count: int, address: str = "127.0.0.1") -> list[socket.socket]:
    """Sockets from an address on which nothing is said."""
    made: list[socket.socket] = []
    for _ in range(count):
        plain = socket.socket()
        plain.setblocking(False)
        plain.bind((address, 0))
        await asyncio.get_running_loop().sock_connect(plain, ("127.0.0.1", port))
        made.append(plain)
    return made


def unopened(served: Served) -> int:
    return len(served.server.guard._unopened)


@both_loops
def test_a_link_over_tls_is_a_link_and_large_messages_go_through_it(
    loop: Callable[[], asyncio.AbstractEventLoop], tmp_path: Path, authority: Authority
) -> None:
    async def story() -> None:
        async with serving(tmp_path, **authority.issue(tmp_path).settings()) as served:
            url = served.url.replace("ws://127.0.0.1", "wss://localhost")
            async with connect(
                url,
                ssl=authority.client(),
                subprotocols=[Subprotocol(MSGPACK)],
                compression=None,
                max_size=None,
                proxy=None,
            ) as link:
                wire = Wire(link)
                assert (await wire.ask("hello", token=await served.new_token(), client="c"))["type"] == "welcome"
                await wire.ask("open", session="s", kind="agent")
                text = "".join(f"{number}\n" for number in range(100_000))
                await wire.say_in_parts(
                    {"type": "result", "id": 100, **text_result("s", "k", text)}, piece_bytes=400_000
                )
                assert (await wire.hear())["capped"] is True
                assert link.transport.get_extra_info("ssl_object").version() == "TLSv1.3"

    run(loop, story)


@both_loops
def test_a_request_that_comes_with_the_end_of_the_handshake_is_not_lost(
    loop: Callable[[], asyncio.AbstractEventLoop], tmp_path: Path, authority: Authority
) -> None:
    context = authority.client()

    def at_once(port: int) -> bytes:
        """Sends its last message of the handshake and the request in one piece."""
        inside, outside = ssl.MemoryBIO(), ssl.MemoryBIO()
        tls = context.wrap_bio(inside, outside, server_hostname="localhost")
        with socket.create_connection(("127.0.0.1", port), 5) as plain:
            while True:
                try:
                    tls.do_handshake()
                    break
                except ssl.SSLWantReadError:
                    plain.sendall(outside.read())
                    inside.write(plain.recv(65536))
            tls.write(GET)
            plain.sendall(outside.read())
            answer = b""
            while True:
                inside.write(plain.recv(65536))
                with contextlib.suppress(ssl.SSLWantReadError):
                    while piece := tls.read(65536):
                        answer += piece
                    return answer

    async def story() -> None:
        async with serving(tmp_path, **authority.issue(tmp_path).settings()) as served:
            answers = await asyncio.gather(*(asyncio.to_thread(at_once, served.port) for _ in range(20)))
            assert {answer[:15] for answer in answers} == {b"HTTP/1.1 200 OK"}
            await until(lambda: not unopened(served), 3)

    run(loop, story)


@both_loops
def test_plain_http_rubbish_and_clients_that_go_away_are_no_fault_where_tls_is_spoken(
    loop: Callable[[], asyncio.AbstractEventLoop], tmp_path: Path, authority: Authority
) -> None:
    async def story() -> None:
        async with serving(tmp_path, **authority.issue(tmp_path).settings()) as served:
            for said in (GET, b"\x00" * 300, b"\x16\x03\x01\x00\x05hello", b"x"):
                reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
                writer.write(said)
                if said == b"x":
                    writer.write_eof()
                answer = b""
                async with asyncio.timeout(5):
                    with contextlib.suppress(ConnectionError):
                        answer = await reader.read()
                if said == GET:
                    assert answer.startswith(b"HTTP/1.1 400 Bad Request\r\n")
                    assert answer.endswith(b"this port speaks TLS: use https:// or wss://\n")
                writer.transport.abort()
            for _ in range(5):
                _, writer = await asyncio.open_connection("127.0.0.1", served.port)
                writer.transport.abort()
            with pytest.raises(ssl.SSLCertVerificationError):
                await get(served.port, ssl.create_default_context(), host="localhost")
            assert (await get(served.port, authority.client())).startswith(b"HTTP/1.1 200")
            await until(lambda: not unopened(served), 3)
            assert {event for event, _ in served.log} - {"certificate_warning"} == {"not_encrypted"}

    run(loop, story)


@both_loops
def test_tls_1_1_is_refused(
    loop: Callable[[], asyncio.AbstractEventLoop], tmp_path: Path, authority: Authority
) -> None:
    context = authority.client()
    context.set_ciphers("ALL:@SECLEVEL=0")
    # Python warns of versions that are as old as this.
    with pytest.warns(DeprecationWarning, match="TLSv1"):
        context.minimum_version = ssl.TLSVersion.TLSv1
    with pytest.warns(DeprecationWarning, match="TLSv1_1"):
        context.maximum_version = ssl.TLSVersion.TLSv1_1

    async def story() -> None:
        async with serving(tmp_path, **authority.issue(tmp_path).settings()) as served:
            with pytest.raises((ssl.SSLError, ConnectionError)):
                await get(served.port, context, host="localhost")

    run(loop, story)


@both_loops
@pytest.mark.parametrize("encrypted", [False, True], ids=["plain", "tls"])
def test_thousands_of_sockets_that_say_nothing_cost_few_descriptors_and_lock_nobody_out(
    loop: Callable[[], asyncio.AbstractEventLoop], tmp_path: Path, authority: Authority, encrypted: bool
) -> None:
    async def story() -> None:
        settings = authority.issue(tmp_path).settings() if encrypted else {}
        async with serving(tmp_path, max_connections=50, **settings) as served:
            crowd = await idle(served.port, 1500)
            most = 50 + SPARE_SOCKETS
            await until(lambda: unopened(served) == most, 5)
            # Another address has room at once; those that were too many are closed.
            context = authority.client() if encrypted else None
            guest = await asyncio.to_thread(_get_from, "127.0.0.2", served.port, context)
            assert guest.startswith(b"HTTP/1.1 200")
            closed = 0
            for plain in crowd:
                with contextlib.suppress(BlockingIOError):
                    try:
                        closed += plain.recv(1) == b""
                    except ConnectionResetError:
                        closed += 1
                plain.close()
            assert closed >= 1500 - most
            await until(lambda: not unopened(served), 5)

    run(loop, story)


def _get_from(address: str, port: int, context: ssl.SSLContext | None) -> bytes:
    plain = socket.create_connection(("127.0.0.1", port), 5, source_address=(address, 0))
    with plain if context is None else context.wrap_socket(plain, server_hostname="localhost") as spoken:
        spoken.sendall(GET)
        answer = b""
        while piece := spoken.recv(65536):
            answer += piece
        return answer


@both_loops
@pytest.mark.parametrize("encrypted", [False, True], ids=["plain", "tls"])
def test_a_socket_that_says_nothing_is_closed_after_the_time_for_a_handshake(
    loop: Callable[[], asyncio.AbstractEventLoop],
    tmp_path: Path,
    authority: Authority,
    encrypted: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sockets, "HANDSHAKE_TIMEOUT_S", 0.3)
    monkeypatch.setattr("waybread_daemon.link.server.HANDSHAKE_TIMEOUT_S", 0.3)

    async def story() -> None:
        settings = authority.issue(tmp_path).settings() if encrypted else {}
        async with serving(tmp_path, **settings) as served:
            (plain,) = await idle(served.port, 1)
            await until(lambda: unopened(served) == 1, 3)
            async with asyncio.timeout(3):
                with contextlib.suppress(ConnectionResetError):
                    assert await asyncio.get_running_loop().sock_recv(plain, 1) == b""
            plain.close()
            await until(lambda: not unopened(served), 3)

    run(loop, story)


@both_loops
def test_stopping_does_not_wait_for_sockets_that_say_nothing(
    loop: Callable[[], asyncio.AbstractEventLoop], tmp_path: Path, authority: Authority
) -> None:
    async def story() -> None:
        async with serving(tmp_path, **authority.issue(tmp_path).settings()) as served:
            crowd = await idle(served.port, 20)
            await until(lambda: unopened(served) == 20, 3)
            async with asyncio.timeout(3):
                await served.server.drain()
            for plain in crowd:
                plain.close()

    run(loop, story)


async def test_small_answers_are_not_held_back(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, greeted(served.url, await served.new_token()):
        (link,) = served.server._connections
        plain = link.socket.transport.get_extra_info("socket")
        assert plain.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 1


def test_as_many_descriptors_as_the_links_need_are_allowed_where_they_may_be() -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (512, before[1]))
        assert raise_descriptors(512) == ""
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == 832
        resource.setrlimit(resource.RLIMIT_NOFILE, (before[1], before[1]))
        assert raise_descriptors(10) == ""
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == before[1]
        sentence = raise_descriptors(1_000_000)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert f"may open {before[1]} files and sockets, and 1000000 links (max_connections) need 1000320" in sentence
