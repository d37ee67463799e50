"""The page over plain sockets: who gets it, who does not, and that nobody can hold it up."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Generator
from contextlib import contextmanager

import pytest
from prometheus_client import CollectorRegistry, Gauge

from tests.daemon.watching.scraped import open_metrics
from waybread_daemon.watching import listener
from waybread_daemon.watching.listener import CONNECTIONS_MOST, Listener


@contextmanager
def listening() -> Generator[Listener]:
    metrics = CollectorRegistry()
    Gauge("answer", "To everything.", registry=metrics).set(42)
    page = Listener(metrics, 0)
    page.start()
    try:
        yield page
    finally:
        page.stop()


def connected(page: Listener) -> socket.socket:
    return socket.create_connection(("127.0.0.1", page.port), timeout=10)


def said(connection: socket.socket) -> bytes:
    """All that comes until the other side closes."""
    heard = b""
    with connection:
        while True:
            try:
                data = connection.recv(65536)
            except ConnectionResetError:
                return heard
            if not data:
                return heard
            heard += data


def ask(page: Listener, head: str) -> tuple[int, dict[str, str], str]:
    """Status, headers and body for a request as it stands."""
    connection = connected(page)
    connection.sendall(head.replace("\n", "\r\n").encode())
    top, _, body = said(connection).decode().partition("\r\n\r\n")
    status, *lines = top.split("\r\n")
    return int(status.split()[1]), dict(line.split(": ", 1) for line in lines), body


def get(page: Listener, path: str = "/metrics", method: str = "GET", host: str = "127.0.0.1", more: str = "") -> int:
    return ask(page, f"{method} {path} HTTP/1.1\nHost: {host}\n{more}\n")[0]


def test_the_page_holds_the_numbers_and_is_kept_by_nobody() -> None:
    with listening() as page:
        status, headers, body = ask(page, "GET /metrics HTTP/1.1\nHost: localhost:8788\n\n")
    assert (status, body) == (200, "# HELP answer To everything.\n# TYPE answer gauge\nanswer 42.0\n")
    assert headers["Content-Type"].startswith("text/plain; version=")
    assert (headers["Cache-Control"], headers["X-Content-Type-Options"]) == ("no-store", "nosniff")
    assert headers["Server"] == "waybread"


def test_whoever_asks_for_open_metrics_gets_them() -> None:
    accept = "Accept: application/openmetrics-text; version=1.0.0"
    with listening() as page:
        status, headers, body = ask(page, f"GET /metrics HTTP/1.1\nHost: localhost\n{accept}\n\n")
    assert (status, headers["Content-Type"].split(";")[0]) == (200, "application/openmetrics-text")
    assert list(open_metrics(body)) == ["answer"]


def test_head_tells_the_length_alone() -> None:
    with listening() as page:
        status, headers, body = ask(page, "HEAD /metrics HTTP/1.1\nHost: 127.0.0.1\n\n")
    assert (status, body, headers["Content-Length"]) == (200, "", "61")


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:8788", "localhost", "LOCALHOST:1", "[::1]", "[::1]:8788"])
def test_this_machines_own_names_are_known(host: str) -> None:
    with listening() as page:
        assert get(page, host=host) == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "127.0.0.1:8788@evil", "192.168.1.2", ""],
)
def test_a_page_under_another_name_reads_nothing(host: str) -> None:
    with listening() as page:
        status, _, body = ask(page, f"GET /metrics HTTP/1.1\nHost: {host}\n\n")
    assert (status, body) == (403, "unknown Host: metrics are for this machine, at http://127.0.0.1/metrics\n")


@pytest.mark.parametrize("hosts", ["", "Host: localhost\nHost: evil.example\n"])
def test_no_host_and_two_hosts_read_nothing(hosts: str) -> None:
    with listening() as page:
        assert ask(page, f"GET /metrics HTTP/1.1\n{hosts}\n")[0] == 403


@pytest.mark.parametrize(
    "method,path,status",
    [
        ("GET", "/metrics?name[]=answer", 200),
        ("GET", "/", 404),
        ("GET", "/metrics/", 404),
        ("GET", "/../metrics", 404),
        ("GET", "/link", 404),
        ("POST", "/metrics", 405),
        ("PUT", "/metrics", 405),
        ("DELETE", "/metrics", 405),
        ("OPTIONS", "/metrics", 405),
        ("PATCH", "/metrics", 405),
        ("BREW", "/metrics", 501),
    ],
)
def test_nothing_is_there_but_the_page_and_nothing_can_be_done_but_reading(method: str, path: str, status: int) -> None:
    with listening() as page:
        assert get(page, path, method) == status


@pytest.mark.parametrize(
    "head",
    [
        "GARBAGE\n\n",
        "GET /metrics HTTP/9.9\n\n",
        "GET /metrics HTTP/1.1\nHost: " + "x" * 70_000 + "\n\n",
        "GET /metrics HTTP/1.1\n" + "".join(f"H{number}: x\n" for number in range(200)) + "\n",
        "GET /" + "x" * 70_000 + " HTTP/1.1\n\n",
    ],
    ids=["garbage", "version", "long-header", "many-headers", "long-path"],
)
def test_what_is_no_request_is_refused_and_the_next_one_is_answered(head: str) -> None:
    with listening() as page:
        connection = connected(page)
        connection.sendall(head.replace("\n", "\r\n").encode())
        assert not re.search(rb"answer 42|Traceback|Python", said(connection))
        assert get(page) == 200


def test_requests_after_the_first_on_a_connection_get_nothing() -> None:
    with listening() as page:
        connection = connected(page)
        connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n" * 2)
        assert said(connection).count(b"answer 42.0") == 1


def test_more_connections_than_a_few_are_closed_at_once_and_those_before_are_served() -> None:
    with listening() as page:
        held = [connected(page) for _ in range(CONNECTIONS_MOST)]
        # Accepted in the order in which they came: one more is seen after all of these.
        assert said(connected(page)) == b""
        for connection in held:
            connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert b"answer 42.0" in said(connection)


def test_who_sends_nothing_or_a_trickle_is_cut_off_and_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listener, "REQUEST_TIMEOUT_S", 0.3)
    with listening() as page:
        silent = [connected(page) for _ in range(CONNECTIONS_MOST - 1)]
        trickling = connected(page)
        begun_s = time.monotonic()
        with trickling:
            try:
                for letter in b"GET /metrics HTTP/1.1\r\nX: " + b"x" * 1000:
                    trickling.sendall(bytes([letter]))
                    time.sleep(0.02)
            except OSError:
                cut_after_s = time.monotonic() - begun_s
            else:
                cut_after_s = 1000.0
        assert [said(connection) for connection in silent] == [b""] * len(silent)
        assert 0.2 < cut_after_s < 5
        assert get(page) == 200


def test_after_the_stop_nobody_listens_and_it_does_not_wait_for_who_is_silent() -> None:
    with listening() as page:
        silent = connected(page)
        begun_s = time.monotonic()
    assert time.monotonic() - begun_s < 2
    silent.close()
    with pytest.raises(ConnectionRefusedError):
        connected(page)


def test_a_port_that_is_taken_is_told_at_once() -> None:
    with listening() as page, pytest.raises(OSError, match="in use"):
        Listener(CollectorRegistry(), page.port)
