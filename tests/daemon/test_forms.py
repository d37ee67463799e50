"""Addresses, names, origins and URLs: which texts are such, and what is said of others."""

from __future__ import annotations

import pytest

from waybread_daemon.forms import (
    address_of,
    host_fault,
    in_url,
    link_origin_of,
    network_of,
    origin_fault,
    origin_of,
    page_daemon_fault,
    proxy_fault,
    public_url_fault,
    shown,
    url_of,
)


@pytest.mark.parametrize(
    "text, origin",
    [
        ("https://home.example", "https://home.example"),
        ("HTTPS://Home.Example/", "https://home.example"),
        ("https://home.example:443", "https://home.example"),
        ("http://home.example:443", "http://home.example:443"),
        ("http://127.0.0.1:80", "http://127.0.0.1"),
        ("http://[::1]:8787", "http://[::1]:8787"),
        ("capacitor://localhost", "capacitor://localhost"),
        ("null", None),
        ("https://", None),
        ("home.example", None),
        ("https://home.example/page", None),
        ("https://user@home.example", None),
        ("https://home.example:0", None),
        ("https://home.example:70000", None),
        ("https://home.example?x", None),
        ("https://home .example", None),
    ],
)
def test_an_origin_is_compared_in_one_form(text: str, origin: str | None) -> None:
    assert origin_of(text) == origin


@pytest.mark.parametrize(
    "text, origin, host",
    [
        ("https://waybread.example.org", "https://waybread.example.org", "waybread.example.org"),
        ("wss://Waybread.example.org:8443/", "https://waybread.example.org:8443", "waybread.example.org"),
        ("ws://10.0.0.2:8787", "http://10.0.0.2:8787", "10.0.0.2"),
        ("http://[2001:db8::1]:8787", "http://[2001:db8::1]:8787", "2001:db8::1"),
    ],
)
def test_a_public_url_has_the_origin_of_its_page_and_a_host(text: str, origin: str, host: str) -> None:
    assert url_of(text) == (origin, host)
    assert public_url_fault(text) is None


@pytest.mark.parametrize(
    "text",
    [
        *("waybread.example.org", "ftp://waybread.example.org", "https://", "https:///x", "https://[::1", "//x"),
        *("https://waybread.example.org/link", "https://me:pass@waybread.example.org", "https://x?a=b", "https://x#a"),
    ],
)
def test_a_public_url_of_another_form_is_told_with_an_example(text: str) -> None:
    sentence = public_url_fault(text)
    assert sentence is not None
    assert sentence.startswith("public_url is ")
    assert "like https://waybread.example.org" in sentence
    assert "pass@" not in sentence


def test_no_public_url_is_no_fault() -> None:
    assert public_url_fault("") is None


def test_an_origin_that_is_none_is_told() -> None:
    assert origin_fault("https://home.example") is None
    assert origin_fault("capacitor://localhost") is None
    for text in ("home.example", "https://home.example/page", "*", "wss://home.example", ""):
        sentence = origin_fault(text)
        assert sentence is not None
        assert sentence.startswith(f"allowed_origins has {text!r}, which is no origin of a page")


@pytest.mark.parametrize(
    "text, origin",
    [
        ("wss://other.example", "wss://other.example"),
        ("https://Other.example:443/", "wss://other.example"),
        ("http://10.0.0.2:8787", "ws://10.0.0.2:8787"),
        ("ws://[::1]:8787", "ws://[::1]:8787"),
    ],
)
def test_another_daemon_is_named_by_its_page_or_its_link(text: str, origin: str) -> None:
    assert link_origin_of(text) == origin
    assert page_daemon_fault(text) is None


@pytest.mark.parametrize(
    "text", ["", "other.example", "wss://other.example/link", "ftp://other.example", "wss://a b", "*"]
)
def test_another_daemon_of_another_form_is_told_with_an_example(text: str) -> None:
    assert link_origin_of(text) is None
    fault = page_daemon_fault(text)
    assert fault is not None
    assert fault.startswith("page_daemons has ")
    assert "like wss://other.example.org" in fault


def test_a_host_that_is_none_is_told() -> None:
    for text in ("home.example", "HOME", "10.0.0.2", "::1", "a_b"):
        assert host_fault(text) is None
    for text in ("https://home.example", "home.example:8787", "*.example", "", "a b", "-a", "a."):
        sentence = host_fault(text)
        assert sentence is not None
        assert "without a scheme and without a port" in sentence


def test_a_proxy_is_an_address_or_a_network() -> None:
    for text in ("127.0.0.1", "::1", "172.16.0.0/12", "fd00::/8"):
        assert proxy_fault(text) is None
    for text in ("caddy", "172.16.0.1/12", "10.0.0.1:80", "", "10.0.0.0/33"):
        sentence = proxy_fault(text)
        assert sentence is not None
        assert "like 127.0.0.1, or a network" in sentence


def test_an_ipv4_address_written_as_an_ipv6_one_is_the_same() -> None:
    assert address_of("::ffff:10.0.0.2") == address_of("10.0.0.2")
    assert address_of("fe80::1%eth0") == address_of("fe80::1")
    assert address_of("home") is None
    assert network_of("10.0.0.2") == network_of("10.0.0.2/32")


def test_a_password_in_a_setting_is_not_said_again() -> None:
    assert shown("https://me:secret@host") == "'https://…@host'"


def test_in_a_url_an_ipv6_address_has_brackets_and_no_other_host() -> None:
    assert [in_url(host) for host in ("::1", "127.0.0.1", "home.example")] == ["[::1]", "127.0.0.1", "home.example"]
