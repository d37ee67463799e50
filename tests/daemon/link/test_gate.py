"""The opening handshake and plain HTTP, with real sockets and a client that writes its own headers."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.datastructures import Headers
from websockets.exceptions import InvalidStatus
from websockets.http11 import Request
from websockets.typing import Origin, Subprotocol

from tests.daemon.served import Served, serving
from tests.daemon.wire import JSON, MSGPACK
from waybread_daemon.config import Config
from waybread_daemon.link.gate import Gate, Health, choose_subprotocol

LOCAL = "waybread-nas-0a1b2c.local"
HEALTHY = Health(ready=True, why="")


def gate(**settings: Any) -> Gate:
    """A gate of these settings that counts nothing."""
    return Gate(Config(**settings), lambda _: None, LOCAL)


async def fetch(served: Served, path: str, *headers: str, host: str = "127.0.0.1") -> tuple[int, str]:
    """The status and the body of a plain GET."""
    head, body = await ask(served, "GET", path, *headers, host=host)
    return int(head.split(" ", 2)[1]), body


async def ask(served: Served, method: str, path: str, *headers: str, host: str = "127.0.0.1") -> tuple[str, str]:
    """The head and the body of the answer to a plain request."""
    reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host}", *headers, "", ""]
    writer.write("\r\n".join(lines).encode())
    async with asyncio.timeout(10):
        answer = (await reader.read()).decode()
    writer.close()
    head, _, body = answer.partition("\r\n\r\n")
    return head, body


def upgrade(*subprotocols: str) -> list[str]:
    """The headers of an opening handshake."""
    headers = ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"]
    headers.append("Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==")
    return headers + [f"Sec-WebSocket-Protocol: {name}" for name in subprotocols]


async def test_of_both_subprotocols_the_daemon_takes_msgpack_whatever_their_order(served: Served) -> None:
    for offered, chosen in (
        ([MSGPACK, JSON], MSGPACK),
        ([JSON, MSGPACK], MSGPACK),
        ([JSON], JSON),
        (["waybread.v9.msgpack", JSON], JSON),
    ):
        names = [Subprotocol(name) for name in offered]
        async with connect(served.url, subprotocols=names, proxy=None) as socket:
            assert socket.subprotocol == chosen


async def test_permessage_deflate_is_not_negotiated(served: Served) -> None:
    async with connect(served.url, subprotocols=[Subprotocol(JSON)], compression="deflate", proxy=None) as socket:
        assert socket.response is not None
        assert "Sec-WebSocket-Extensions" not in socket.response.headers


async def test_without_a_known_subprotocol_the_answer_is_400_and_names_both(served: Served) -> None:
    for offered in ([], ["waybread.v2.json"], ["WAYBREAD.V1.JSON"]):
        status, body = await fetch(served, "/link", *upgrade(*offered))
        assert status == 400
        assert MSGPACK in body
        assert JSON in body


async def test_a_plain_get_of_the_link_is_400_even_with_a_subprotocol(served: Served) -> None:
    status, body = await fetch(served, "/link", f"Sec-WebSocket-Protocol: {JSON}")
    assert status == 400
    assert JSON in body


async def test_subprotocols_may_stand_in_one_header_or_in_several(served: Served) -> None:
    for headers in (upgrade("x, " + JSON), upgrade("x", JSON)):
        reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
        writer.write("\r\n".join(["GET /link HTTP/1.1", "Host: localhost", *headers, "", ""]).encode())
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        assert "101 Switching Protocols" in head
        assert f"Sec-WebSocket-Protocol: {JSON}" in head
        writer.close()


async def test_another_path_is_404_for_a_handshake_too(served: Served) -> None:
    for path in ("/links", "/link/", "/LINK", "/link/x", "//link"):
        assert (await fetch(served, path, *upgrade(JSON)))[0] == 404, path
        assert (await fetch(served, path))[0] == 404, path


async def test_a_query_string_behind_the_path_is_passed_over(served: Served) -> None:
    async with connect(served.url + "?a=b", subprotocols=[Subprotocol(JSON)], proxy=None) as socket:
        assert socket.subprotocol == JSON


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "null",
        "http://127.0.0.1",
        "http://[",
        "file://",
        "",
        "http://localhost:1",
        "http://evil@127.0.0.1",
    ],
)
async def test_a_page_of_another_origin_is_403_and_cannot_link(served: Served, origin: str) -> None:
    port = served.port
    status, body = await fetch(served, "/link", *upgrade(JSON), f"Origin: {origin}", host=f"127.0.0.1:{port}")
    assert status == 403
    assert "Origin" in body
    with pytest.raises(InvalidStatus) as refusal:
        async with connect(served.url, origin=Origin(origin or "x"), subprotocols=[Subprotocol(JSON)], proxy=None):
            pass
    assert refusal.value.response.status_code == 403


async def test_the_daemons_own_page_and_allowed_origins_may_link(tmp_path: Path) -> None:
    async with serving(tmp_path, allowed_origins=("https://home.example/", "capacitor://localhost")) as served:
        for origin in (
            f"http://127.0.0.1:{served.port}",
            "https://home.example",
            "HTTPS://HOME.example",
            "capacitor://localhost",
        ):
            async with connect(
                served.url, origin=Origin(origin), subprotocols=[Subprotocol(JSON)], proxy=None
            ) as socket:
                assert socket.subprotocol == JSON


async def test_an_unknown_host_is_403_at_every_path(served: Served) -> None:
    for host in ("evil.example", "127.0.0.1.evil.example", "localhost.evil", "", "a b", "[", "[::1"):
        for path in ("/link", "/healthz", "/", "/x"):
            status, body = await fetch(served, path, *upgrade(JSON), host=host)
            assert status == 403, (host, path)
            assert "Host" in body


async def test_a_dot_at_the_end_of_a_known_name_changes_nothing(served: Served) -> None:
    assert (await fetch(served, "/healthz", host="localhost."))[0] == 200
    assert (await fetch(served, "/healthz", host=f"LocalHost.:{served.port}"))[0] == 200
    door = gate(allowed_hosts=("home.example.",))
    for host in ("home.example", "home.example.", LOCAL, f"{LOCAL}."):
        answer = door.answer(Request("/healthz", Headers({"Host": host})), HEALTHY)
        assert answer is not None
        assert answer.status_code == 200, host


async def test_two_host_headers_are_403(served: Served) -> None:
    assert (await fetch(served, "/healthz", "Host: localhost"))[0] == 403
    assert (await fetch(served, "/healthz", "Host: evil.example"))[0] == 403


@pytest.mark.parametrize(
    "host",
    [
        *("evil@localhost", "evil@127.0.0.1:1", "user:word@localhost", "@localhost", "localhost@"),
        *("localhost:", "localhost:x", "localhost:-1", "localhost:65536", "localhost:1:2", "localhost: 1", ":8787"),
        *("localhost/", "localhost/x", "localhost?x", "localhost#x", "http://localhost", "localhost\\x"),
        *("localhost,localhost", "localhost, evil.example", "localhost evil", "localhost\tevil", "local\xadhost"),
        *("127.0.0.1,127.0.0.2", "127.1", "2130706433", "0x7f.0.0.1", "127.0.0.01"),
        *("::1", "::1:8787", "[::1", "::1]", "[::1]x", "[::1]:", "[::1]:x", "x[::1]", "[127.0.0.1]", "[localhost]"),
        *("[fe80::1%eth0]", "[]", "[]:1", "", ".", "localhost.."),
    ],
)
def test_a_host_that_is_not_just_a_name_or_an_address_and_a_port_is_403(host: str) -> None:
    answer = gate().answer(Request("/healthz", Headers({"Host": host})), HEALTHY)
    assert answer is not None
    assert answer.status_code == 403


async def test_a_host_with_a_user_before_a_known_name_is_403_on_the_wire(served: Served) -> None:
    assert (await fetch(served, "/healthz", host="evil@localhost"))[0] == 403
    assert (await fetch(served, "/link", *upgrade(JSON), host="evil@localhost"))[0] == 403


async def test_a_head_gets_the_headers_of_a_get_and_no_body(served: Served) -> None:
    for path, status, length in (("/healthz", 200, 3), ("/readyz", 200, 6), ("/x", 404, 47)):
        head, body = await ask(served, "HEAD", path)
        assert (int(head.split(" ", 2)[1]), body) == (status, ""), path
        assert f"Content-Length: {length}" in head.split("\r\n"), path
    head, body = await ask(served, "HEAD", "/healthz", host="evil.example")
    assert (head.split(" ", 2)[1], body) == ("403", "")


async def test_a_head_never_opens_a_link(served: Served) -> None:
    head, body = await ask(served, "HEAD", "/link", *upgrade(JSON))
    assert (head.split(" ", 2)[1], body) == ("400", "")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "get"])
async def test_another_method_is_405_and_is_told_those_that_are_allowed(served: Served, method: str) -> None:
    for path in ("/healthz", "/link", "/x"):
        head, body = await ask(served, method, path, "Content-Length: 0", *upgrade(JSON))
        assert head.split(" ", 2)[1] == "405", path
        assert "Allow: GET, HEAD" in head.split("\r\n"), path
        assert "GET, HEAD" in body, path


async def test_another_method_of_an_unknown_host_is_403(served: Served) -> None:
    head, _ = await ask(served, "POST", "/healthz", host="evil.example")
    assert head.split(" ", 2)[1] == "403"


async def test_two_upgrade_headers_are_400(served: Served) -> None:
    assert (await fetch(served, "/link", "Upgrade: websocket", *upgrade(JSON)))[0] == 400


async def test_loopback_addresses_and_allowed_names_are_known_hosts(tmp_path: Path) -> None:
    async with serving(tmp_path, allowed_hosts=("Home.Example",)) as served:
        for host in (
            "localhost",
            "LOCALHOST:9",
            "127.0.0.1:1",
            "[::1]:8787",
            "192.168.1.5",
            "home.example",
            "HOME.example:1",
        ):
            assert await fetch(served, "/healthz", host=host) == (200, "ok\n"), host


async def test_health_readiness_and_the_page(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    assert await fetch(served, "/healthz") == (200, "ok\n")
    assert await fetch(served, "/readyz") == (200, "ready\n")
    assert (await fetch(served, "/"))[0] == 200
    served.desk.live.failing = "the disk is full"
    assert await fetch(served, "/healthz") == (200, "ok\n")
    assert await fetch(served, "/readyz") == (503, "not ready: the disk is full\n")
    served.desk.live.failing = ""
    monkeypatch.setattr(served.server, "draining", True)
    assert await fetch(served, "/readyz") == (503, "not ready: the daemon is stopping\n")


def test_the_host_it_listens_at_is_known_to_the_gate() -> None:
    door = gate(host="Server.lan")
    answer = door.answer(Request("/healthz", Headers({"Host": "server.LAN:8787"})), HEALTHY)
    assert answer is not None
    assert answer.status_code == 200


def test_a_request_without_host_is_403() -> None:
    answer = gate().answer(Request("/healthz", Headers()), HEALTHY)
    assert answer is not None
    assert answer.status_code == 403


def test_every_answer_forbids_caching_and_tells_its_length() -> None:
    answer = gate().answer(Request("/healthz", Headers({"Host": "localhost"})), HEALTHY)
    assert answer is not None
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["Content-Length"] == "3"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_no_subprotocol_is_chosen_where_none_is_known() -> None:
    assert choose_subprotocol([]) is None
    assert choose_subprotocol(["chat"]) is None
    assert choose_subprotocol([JSON, MSGPACK]) == MSGPACK


def opened(door: Gate, origin: str, host: str, *, secure: bool = False) -> bool:
    """Whether a page of this origin may link."""
    headers = Headers({"Host": host, "Origin": origin, "Upgrade": "websocket", "Sec-WebSocket-Protocol": JSON})
    answer = door.answer(Request("/link", headers), HEALTHY, secure=secure)
    assert answer is None or answer.status_code == 403
    return answer is None


@pytest.mark.parametrize(
    "origin, host, secure, own",
    [
        ("http://localhost:8787", "localhost:8787", False, True),
        ("http://LOCALHOST:8787", "localhost:8787", False, True),
        ("https://localhost:8787", "localhost:8787", False, False),
        ("https://localhost:8787", "localhost:8787", True, True),
        ("http://localhost:8787", "localhost:8787", True, False),
        ("https://localhost", "localhost:443", True, True),
        ("https://localhost", "localhost", True, True),
        ("http://localhost", "localhost:80", False, True),
        ("http://localhost", "localhost:443", False, False),
        ("https://localhost:443", "localhost", True, True),
        ("http://[::1]:8787", "[::1]:8787", False, True),
        ("http://10.0.0.2:8787", "10.0.0.3:8787", False, False),
    ],
)
def test_the_pages_own_origin_has_the_scheme_the_name_and_the_port_that_it_was_loaded_by(
    origin: str, host: str, secure: bool, own: bool
) -> None:
    assert opened(gate(), origin, host, secure=secure) is own


def test_the_public_url_names_a_host_and_an_origin() -> None:
    door = gate(public_url="https://waybread.example.org:8443")
    assert opened(door, "https://waybread.example.org:8443", "waybread.example.org:8443")
    assert opened(door, "https://waybread.example.org:8443", "127.0.0.1:8787")
    assert not opened(door, "https://waybread.example.org", "waybread.example.org:8443")
    assert not opened(door, "http://waybread.example.org:8443", "127.0.0.1:8787")
    assert not opened(door, "https://waybread.example.org:8443", "evil.example")
    assert opened(gate(public_url="wss://waybread.example.org"), "https://waybread.example.org", "waybread.example.org")


async def test_only_a_trusted_proxys_word_makes_an_encrypted_origin_the_pages_own(tmp_path: Path) -> None:
    for trusted, status in (((), 403), (("127.0.0.1",), 400)):
        folder = tmp_path / f"{len(trusted)}"
        folder.mkdir()
        async with serving(folder, trusted_proxies=trusted, allowed_hosts=("home.example",)) as served:
            headers = ("Origin: https://home.example", "X-Forwarded-Proto: https")
            # 400: the door is open, and what is wrong is only that no subprotocol is offered.
            assert (await fetch(served, "/link", *upgrade(), *headers, host="home.example"))[0] == status


async def test_the_page_comes_by_a_proxy_that_nobody_named_too_so_that_it_can_say_why_it_cannot_link(
    served: Served,
) -> None:
    own = "Origin: https://127.0.0.1:9443"
    for path in ("/", "/js/main.js", "/healthz"):
        assert (await fetch(served, path, own, host="127.0.0.1:9443"))[0] == 200
        for other in ("https://evil.example", "https://127.0.0.1:9444", "ftp://127.0.0.1:9443"):
            assert (await fetch(served, path, f"Origin: {other}", host="127.0.0.1:9443"))[0] == 403
    assert (await fetch(served, "/link", *upgrade(JSON), own, host="127.0.0.1:9443"))[0] == 403
    # By this request the page learns why.
    for origin, status in ((own, "403"), ("Origin: http://127.0.0.1:9443", "405")):
        head, _ = await ask(served, "POST", "/link", origin, "Content-Length: 0", host="127.0.0.1:9443")
        assert head.split(" ")[1] == status


def test_each_refusal_is_told_by_its_reason() -> None:
    told: list[str] = []
    door = Gate(Config(), told.append, LOCAL)
    for headers in (
        {"Host": "evil.example"},
        {"Host": "localhost", "Origin": "https://evil.example"},
        {"Host": "localhost"},
    ):
        assert door.answer(Request("/link", Headers(headers)), HEALTHY) is not None
    assert door.answer(Request("/healthz", Headers({"Host": "localhost"})), HEALTHY) is not None
    assert told == ["host", "origin", "subprotocol"]
