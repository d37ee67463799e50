import ipaddress
import socket

import ifaddr
import pytest

from waybread_daemon.config import Config
from waybread_daemon.link.control.addresses import bases, is_local, link_address, machine_addresses, pairing_page

MACHINE = ["192.168.1.5", "10.0.0.7", "fd00::5"]


@pytest.mark.parametrize(
    "settings,found",
    [
        ({}, ["http://127.0.0.1:4444"]),
        ({"host": "::1"}, ["http://[::1]:4444"]),
        ({"host": "192.168.1.9", "allow_plaintext": True}, ["http://192.168.1.9:4444"]),
        ({"host": "home.lan", "tls_cert": "/c", "tls_key": "/k"}, ["https://home.lan:4444"]),
        ({"host": "0.0.0.0"}, ["http://192.168.1.5:4444", "http://10.0.0.7:4444"]),
        ({"host": "::", "tls_cert": "/c"}, ["https://[fd00::5]:4444"]),
        ({"public_url": "https://waybread.example.org/"}, ["https://waybread.example.org"]),
        ({"public_url": "wss://Home.example.org:8443", "host": "0.0.0.0"}, ["https://home.example.org:8443"]),
    ],
)
def test_the_addresses_are_the_public_one_or_the_daemons_own(settings: dict[str, object], found: list[str]) -> None:
    assert bases(Config(**settings), 4444, lambda: MACHINE) == found  # type: ignore[arg-type]


def test_a_machine_without_any_address_is_told_by_its_name() -> None:
    assert bases(Config(host="0.0.0.0"), 1, list) == [f"http://{socket.gethostname()}:1"]


@pytest.mark.parametrize(
    "settings,local",
    [
        ({}, True),
        ({"host": "localhost"}, True),
        ({"host": "0.0.0.0"}, False),
        ({"public_url": "https://x.example"}, False),
    ],
)
def test_only_loopback_without_a_public_url_is_local(settings: dict[str, str], local: bool) -> None:
    assert is_local(Config(**settings)) is local  # type: ignore[arg-type]


def test_links_go_to_the_path_of_the_link_with_the_same_encryption() -> None:
    assert link_address("http://192.168.1.5:8787") == "ws://192.168.1.5:8787/link"
    assert link_address("https://waybread.example.org") == "wss://waybread.example.org/link"


def test_the_page_has_code_and_fingerprint_behind_the_hash() -> None:
    assert pairing_page("http://h:1", "ABCD-EFGH", "") == "http://h:1/#pair=ABCDEFGH"
    assert pairing_page("https://h", "AB-C", "00ff") == "https://h/#pair=ABC&fp=00ff"


def test_this_machines_addresses_reach_others_and_are_none_twice() -> None:
    found = machine_addresses()
    assert len(found) == len(set(found))
    assert not [
        one for one in found if ipaddress.ip_address(one).is_loopback or ipaddress.ip_address(one).is_link_local
    ]


class NoWayOut:
    """A socket of a machine without a route to anywhere."""

    def __init__(self, *_: object) -> None:
        raise OSError(97, "Address family not supported by protocol")


def test_without_a_way_out_the_adapters_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    ips = [
        ifaddr.IP("127.0.0.1", 8, "lo"),
        ifaddr.IP(("fe80::1", 0, 2), 64, "eth0"),
        ifaddr.IP("192.168.7.7", 24, "eth0"),
        ifaddr.IP(("fd00::7", 0, 0), 64, "eth0"),
    ]
    monkeypatch.setattr(socket, "socket", NoWayOut)
    monkeypatch.setattr(ifaddr, "get_adapters", lambda: [ifaddr.Adapter("eth0", "eth0", ips)])
    assert machine_addresses() == ["192.168.7.7", "fd00::7"]
