"""nginx and Caddy in front of a daemon, with the examples as they stand in `deploy/`."""

from __future__ import annotations

import asyncio
import re
import socket
import ssl
import urllib.request
from collections.abc import Generator
from typing import Any

import msgspec
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Origin, Subprotocol

from tests.deploy.proxies import EXAMPLES, NAME, Front, found, fronted, settings
from tests.running import Daemon
from waybread_client import Link
from waybread_protocol.limits import SUBPROTOCOL_JSON
from waybread_protocol.messages import Entry

MIB = 1024 * 1024
IDLE_S = 70


@pytest.fixture(scope="module", params=sorted(EXAMPLES))
def front(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Generator[Front]:
    kind = str(request.param)
    place = tmp_path_factory.mktemp(kind)
    program = found(kind, place)
    if program is None:
        pytest.skip(f"{kind} is not installed, and this is no Debian where its package could be had")
    # Pages of more than a message's size, so that an answer is as large as what was sent.
    with fronted(kind, program, place / "it", f"page_bytes = {4 * MIB}") as started:
        yield started


@pytest.fixture(autouse=True)
def the_name_leads_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """The examples' name is looked up as if it was this machine's."""
    real = socket.getaddrinfo

    def here(host: Any, *rest: Any, **named: Any) -> Any:
        return real("127.0.0.1" if host in (NAME, NAME.encode()) else host, *rest, **named)

    monkeypatch.setattr(socket, "getaddrinfo", here)


def trusting(front: Front) -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.load_verify_locations(cadata=front.ca.cert_pem.bytes().decode())
    return context


def link(front: Front, token: str) -> Link:
    return Link(front.url, token, ssl=trusting(front))


def bare(front: Front, *, source: str = "127.0.0.1", origin: str = "", **headers: str) -> connect:
    return connect(
        front.url,
        ssl=trusting(front),
        proxy=None,
        local_addr=(source, 0),
        origin=Origin(origin) if origin else None,
        additional_headers=headers,
        subprotocols=[Subprotocol(SUBPROTOCOL_JSON)],
    )


async def hello(socket: ClientConnection, token: str) -> dict[str, Any]:
    await socket.send(msgspec.json.encode({"type": "hello", "id": 1, "token": token, "client": "test"}).decode())
    answer: dict[str, Any] = msgspec.json.decode(await socket.recv())
    return answer


async def test_messages_of_more_than_a_mebibyte_pass_both_ways(front: Front) -> None:
    text = f"{'0123456789abcde ' * 64}\n" * (MIB // 1024) + "the end\n"
    async with link(front, front.daemon.token()) as linked:
        session = await linked.open("large", "agent")
        await session.turn("turn")
        inserted = await session.result("bash", {"command": "print"}, text)
        shown = await session.show(inserted.result)
        assert len(shown.text) > MIB
        assert shown.text == text


async def test_a_followed_session_is_pushed_at_once(front: Front) -> None:
    token = front.daemon.token()
    async with link(front, token) as writer, link(front, token) as reader:
        session = await writer.open("followed", "agent")
        await session.turn("turn")
        async with reader.follow("followed") as follow:
            seen = [await anext(follow), await anext(follow)]
            assert [entry.kind for entry in seen if isinstance(entry, Entry)] == ["opened", "turn"]
            for number in range(5):
                await session.result("bash", {"number": number}, f"result {number}")
                # A proxy that collected bytes would hold a small push back until more of them come.
                async with asyncio.timeout(1):
                    pushed = await anext(follow)
                assert isinstance(pushed, Entry)
                assert pushed.text.endswith(f"result {number}")


async def test_a_page_of_the_public_name_may_open_a_link(front: Front) -> None:
    async with bare(front, origin=front.origin) as opened:
        assert (await hello(opened, front.daemon.token()))["type"] == "welcome"


@pytest.mark.parametrize("origin", ["https://elsewhere.example.net", f"http://{NAME}", "null"])
async def test_a_page_of_another_origin_gets_403(front: Front, origin: str) -> None:
    with pytest.raises(InvalidStatus) as refused:
        async with bare(front, origin=origin):
            pass
    assert refused.value.response.status_code == 403


async def test_the_page_and_the_health_are_reached_through_it(front: Front) -> None:
    def get(path: str) -> tuple[int, str]:
        opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=trusting(front))
        )
        with opener.open(f"{front.origin}{path}", timeout=10) as response:
            return response.status, response.read().decode()

    assert await asyncio.to_thread(get, "/readyz") == (200, "ready\n")
    assert (await asyncio.to_thread(get, "/"))[0] == 200


async def test_wrong_tokens_are_counted_by_the_clients_address_and_not_by_one_it_makes_up(front: Front) -> None:
    token = front.daemon.token()
    for number in range(10):
        # Each try names another address: only the one that the proxy sees counts.
        headers = {"X-Forwarded-For": f"192.0.2.{number}", "Forwarded": f"for=192.0.2.{number}"}
        async with bare(front, source="127.0.0.2", **headers) as guessing:
            assert (await hello(guessing, "none.none"))["code"] == "unauthenticated"
    with pytest.raises(InvalidStatus) as refused:
        async with bare(front, source="127.0.0.2", **{"X-Forwarded-For": "192.0.2.99"}):
            pass
    assert refused.value.response.status_code == 429
    async with bare(front, source="127.0.0.3") as neighbour:
        assert (await hello(neighbour, token))["type"] == "welcome"


async def test_a_link_comes_back_when_the_daemon_is_started_again(front: Front) -> None:
    async with link(front, front.daemon.token()) as linked:
        session = await linked.open("restarted", "agent")
        await session.turn("before")
        port, data = front.daemon.port, front.daemon.data
        assert await asyncio.to_thread(front.daemon.stop) == 0
        # While the proxy answers 502 the link goes on trying.
        asked = asyncio.create_task(session.turn("after"))
        await asyncio.sleep(0.5)
        assert not asked.done()
        front.daemon = await asyncio.to_thread(Daemon, data, port)
        async with asyncio.timeout(30):
            assert not (await asked).repeated


@pytest.mark.long
async def test_a_link_that_says_nothing_for_70_s_is_still_there(front: Front) -> None:
    async with bare(front) as idle:
        assert (await hello(idle, front.daemon.token()))["type"] == "welcome"
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(IDLE_S):
                await idle.recv()
        await idle.send('{"type": "ping", "id": 2}')
        assert msgspec.json.decode(await idle.recv())["type"] == "done"


@pytest.mark.long
async def test_a_link_that_does_not_answer_pings_is_ended_by_the_daemon(front: Front) -> None:
    async with bare(front) as dead:
        await hello(dead, front.daemon.token())
        dead.transport.pause_reading()
        await asyncio.sleep(IDLE_S)
        dead.transport.resume_reading()
        with pytest.raises(ConnectionClosed):
            await dead.recv()


def test_nginx_waits_for_longer_than_the_daemons_pings_are_apart() -> None:
    waits = dict(re.findall(r"(proxy_(?:read|send)_timeout) (\w+);", EXAMPLES["nginx"].read_text()))
    assert waits == {"proxy_read_timeout": "1h", "proxy_send_timeout": "1h"}


@pytest.mark.parametrize("kind", sorted(EXAMPLES))
def test_each_example_says_which_settings_of_the_daemon_belong_to_it(kind: str) -> None:
    assert settings(EXAMPLES[kind]) == [
        f'public_url = "https://{NAME}"',
        'trusted_proxies = ["127.0.0.1", "::1"]',
    ]
