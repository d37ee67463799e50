"""Whose address counts, and whose word for it."""

from __future__ import annotations

import pytest
from websockets.datastructures import Headers

from waybread_daemon.link.proxies import Proxies

TRUSTED = ["127.0.0.1", "172.16.0.0/12", "fd00::/8"]


def forwarded(*values: str) -> Headers:
    headers = Headers()
    for value in values:
        headers["X-Forwarded-For"] = value
    return headers


@pytest.mark.parametrize(
    "peer, said, client",
    [
        ("203.0.113.9", (), "203.0.113.9"),
        ("203.0.113.9", ("198.51.100.1",), "203.0.113.9"),
        ("127.0.0.1", (), "127.0.0.1"),
        ("127.0.0.1", ("198.51.100.1",), "198.51.100.1"),
        ("::ffff:127.0.0.1", ("198.51.100.1",), "198.51.100.1"),
        ("127.0.0.1", ("198.51.100.1, 172.17.0.2",), "198.51.100.1"),
        ("127.0.0.1", ("198.51.100.1", "172.17.0.2"), "198.51.100.1"),
        # What the client itself has put there stands before what the first proxy adds.
        ("127.0.0.1", ("10.9.9.9, 198.51.100.1",), "198.51.100.1"),
        ("127.0.0.1", ("10.9.9.9", "198.51.100.1, 172.17.0.2"), "198.51.100.1"),
        ("127.0.0.1", ("172.17.0.9, 172.17.0.2",), "172.17.0.9"),
        ("127.0.0.1", ("198.51.100.1, nonsense",), "127.0.0.1"),
        ("127.0.0.1", ("",), "127.0.0.1"),
        ("127.0.0.1", ("unknown, 172.17.0.2",), "172.17.0.2"),
        ("127.0.0.1", ("198.51.100.1:55555",), "198.51.100.1"),
        ("127.0.0.1", ("[2001:db8:1:2::3]:443",), "2001:db8:1:2::/64"),
        ("fd00::1", ("2001:db8:1:2:ffff::3",), "2001:db8:1:2::/64"),
        ("fe80::1%eth0", (), "fe80::/64"),
        ("not an address", ("198.51.100.1",), "unknown"),
    ],
)
def test_the_client_is_the_last_one_before_the_trusted_proxies(peer: str, said: tuple[str, ...], client: str) -> None:
    assert Proxies(TRUSTED).client(peer, forwarded(*said)) == client


def test_without_trusted_proxies_the_header_is_nothing() -> None:
    assert Proxies([]).client("127.0.0.1", forwarded("198.51.100.1")) == "127.0.0.1"


def test_a_header_without_end_is_read_only_so_far() -> None:
    hops = ", ".join(["198.51.100.1"] + ["127.0.0.1"] * 100_000)
    assert Proxies(TRUSTED).client("127.0.0.1", forwarded(hops)) == "127.0.0.1"


@pytest.mark.parametrize(
    "peer, said, secure",
    [
        ("127.0.0.1", ["https"], True),
        ("127.0.0.1", ["WSS"], True),
        ("127.0.0.1", ["http"], False),
        ("127.0.0.1", [], False),
        ("127.0.0.1", ["https, http"], False),
        ("127.0.0.1", ["http", "https"], True),
        ("203.0.113.9", ["https"], False),
    ],
)
def test_only_a_trusted_proxy_says_that_the_client_is_encrypted(peer: str, said: list[str], secure: bool) -> None:
    headers = Headers([("X-Forwarded-Proto", value) for value in said])
    assert Proxies(TRUSTED).secure(peer, headers) is secure


def test_who_is_trusted() -> None:
    proxies = Proxies(TRUSTED)
    assert [proxies.trusts(peer) for peer in ("127.0.0.1", "127.0.0.2", "172.31.255.255", "fdff::1", "x")] == [
        *(True, False, True, True, False)
    ]
