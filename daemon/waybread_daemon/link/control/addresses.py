"""Under which addresses devices reach the daemon, as far as it can tell."""

from __future__ import annotations

import hashlib
import ipaddress
import socket
from collections.abc import Callable

import ifaddr

from waybread_daemon.config import Config, is_loopback
from waybread_daemon.forms import in_url, url_of
from waybread_protocol.limits import PATH

_ELSEWHERE = ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1"))
"""Addresses that nobody has: the way to them is the way out of this machine. Nothing is sent."""
_ANY_PORT = 9
_MARK_CHARS = 6
_MACHINE_BYTES = 63 - len("waybread--") - _MARK_CHARS
"""Of the machine's name: a label has 63 bytes."""


def bases(config: Config, port: int, machine: Callable[[], list[str]]) -> list[str]:
    """The addresses of the daemon's page without a slash at the end, the best one first.

    `port` is the one that it listens on; `machine` tells this machine's addresses, where it listens on all of them.
    """
    public = url_of(config.public_url)
    if public is not None:
        return [public.origin]
    scheme = "https" if config.tls_cert else "http"
    hosts = [config.host]
    if _is_every_address(config.host):
        # A socket on `::` takes no IPv4 here, and the other way round.
        hosts = [host for host in machine() if (":" in host) == (":" in config.host)]
    return [f"{scheme}://{in_url(host)}:{port}" for host in hosts or [socket.gethostname()]]


def link_address(base: str) -> str:
    """Where devices link, for the address of the daemon's page."""
    return f"ws{base.removeprefix('http')}{PATH}"


def pairing_page(base: str, code: str, certificate: str) -> str:
    """The address that a QR code holds. What is behind the `#` stays with the client: no server and no proxy logs it.

    `certificate` is the fingerprint, or empty.
    """
    pin = f"&fp={certificate}" if certificate else ""
    return f"{base}/#pair={code.replace('-', '')}{pin}"


def multicast_name(epoch: str) -> str:
    """The name under which the local network is told of the daemon, where that is set: one of its own.

    `epoch` is the store's: two daemons on one machine, or on two machines of one name, have two of them.
    """
    machine = socket.gethostname().partition(".")[0].lower() or "waybread"
    short = machine.encode()[:_MACHINE_BYTES].decode(errors="ignore")
    return f"waybread-{short}-{hashlib.sha256(epoch.encode()).hexdigest()[:_MARK_CHARS]}.local"


def is_local(config: Config) -> bool:
    """Whether only this machine reaches the daemon, as far as the settings tell."""
    return not config.public_url and is_loopback(config.host)


def machine_addresses() -> list[str]:
    """This machine's addresses that others may reach, the one on the way out first."""
    found: list[str] = []
    for family, elsewhere in _ELSEWHERE:
        try:
            with socket.socket(family, socket.SOCK_DGRAM) as way:
                way.connect((elsewhere, _ANY_PORT))
                found.append(str(way.getsockname()[0]))
        except OSError:
            # No way out of this kind: the adapters tell.
            continue
    for adapter in ifaddr.get_adapters():
        found += [ip.ip if isinstance(ip.ip, str) else ip.ip[0] for ip in adapter.ips]
    return list(dict.fromkeys(address for address in found if _reaches_others(address)))


def _is_every_address(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return False


def _reaches_others(address: str) -> bool:
    ip = ipaddress.ip_address(address)
    # An address of one link alone has to be given with an interface, which a phone cannot know.
    return not (ip.is_loopback or ip.is_link_local or ip.is_unspecified)
