"""What addresses, names, origins and URLs may look like in the settings and in headers. Nothing is looked up."""

from __future__ import annotations

import ipaddress
import re
from typing import NamedTuple
from urllib.parse import urlsplit

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
IpNetwork = ipaddress.IPv4Network | ipaddress.IPv6Network

_NAME = re.compile(r"[0-9A-Za-z_](?:[0-9A-Za-z._-]{0,251}[0-9A-Za-z_])?")
_ORIGIN = re.compile(
    r"(?P<scheme>[a-z][a-z0-9+.-]*)://(?P<host>\[[0-9a-f:.]+\]|[0-9a-z._-]+)(?::(?P<port>[0-9]{1,5}))?"
)
_DEFAULT_PORTS = {"http": "80", "https": "443"}
_WEB_SCHEMES = {"http": "http", "https": "https", "ws": "http", "wss": "https"}


class Url(NamedTuple):
    """A URL of the daemon: `origin` is that of its page, `host` its name or bare address in lower case."""

    origin: str
    host: str


def address_of(text: str) -> IpAddress | None:
    """The address that a text is, without a zone; an IPv4 address that is written as an IPv6 one is an IPv4 address."""
    try:
        address = ipaddress.ip_address(text.strip().partition("%")[0])
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return address


def network_of(text: str) -> IpNetwork | None:
    """The network that a text is; an address is a network of one."""
    try:
        return ipaddress.ip_network(text)
    except ValueError:
        return None


def origin_of(text: str) -> str | None:
    """An origin in the form in which two of them are compared: lower case, no slash, no port that is its scheme's own."""
    parts = _ORIGIN.fullmatch(text.lower().removesuffix("/"))
    if parts is None:
        return None
    scheme, host, port = parts["scheme"], parts["host"], parts["port"]
    if port is None or port == _DEFAULT_PORTS.get(scheme):
        return f"{scheme}://{host}"
    return f"{scheme}://{host}:{port}" if 0 < int(port) <= 65535 else None


def url_of(text: str) -> Url | None:
    """The URL of a daemon, as a browser or as a client names it; None where it has a path, a query or credentials."""
    try:
        parts = urlsplit(text)
        origin = origin_of(f"{_WEB_SCHEMES[parts.scheme]}://{parts.netloc}")
        host = parts.hostname
    except (ValueError, KeyError):
        return None
    if origin is None or not host or parts.path not in ("", "/") or parts.query or parts.fragment:
        return None
    return Url(origin, host)


def public_url_fault(text: str) -> str | None:
    """Why a text is no `public_url`, as a sentence; None where it is one, or empty."""
    if not text or url_of(text) is not None:
        return None
    return (
        f"public_url is {shown(text)} and not where a browser finds the daemon: give a scheme, a host and at most a port, "
        "like https://waybread.example.org, without a path and without a name and password"
    )


def origin_fault(text: str) -> str | None:
    """Why a text is none of `allowed_origins`."""
    if origin_of(text) is not None and urlsplit(text.lower()).scheme not in ("ws", "wss"):
        return None
    return (
        f"allowed_origins has {shown(text)}, which is no origin of a page: give a scheme, a host and at most a port, "
        "like https://home.example.org"
    )


def link_origin_of(text: str) -> str | None:
    """The origin of another daemon's link, `ws(s)://host`, from its URL as a browser or as a client names it."""
    url = url_of(text)
    return None if url is None else url.origin.replace("http", "ws", 1)


def page_daemon_fault(text: str) -> str | None:
    """Why a text is none of `page_daemons`."""
    if link_origin_of(text) is not None:
        return None
    return (
        f"page_daemons has {shown(text)}, which is not where another daemon is found: give a scheme (wss or ws of its link, "
        "https or http of its page), a host and at most a port, like wss://other.example.org"
    )


def host_fault(text: str) -> str | None:
    """Why a text is none of `allowed_hosts`."""
    if _NAME.fullmatch(text) or address_of(text) is not None:
        return None
    return (
        f"allowed_hosts has {shown(text)}, which is no name and no address: give it as it stands in the page's address, "
        "like home.example.org, without a scheme and without a port"
    )


def listen_fault(text: str) -> str | None:
    """Why a text is no `host` to listen on."""
    if address_of(text) is not None or (_NAME.fullmatch(text) and not text.rpartition(".")[2].isdigit()):
        return None
    return (
        f"host is {shown(text)}, which is no address and no name: give one alone, like 127.0.0.1 or ::1; the port is the "
        "setting port"
    )


def proxy_fault(text: str) -> str | None:
    """Why a text is none of `trusted_proxies`."""
    if network_of(text) is not None:
        return None
    return (
        f"trusted_proxies has {shown(text)}, which is no address and no network: give the proxy's own address, like "
        "127.0.0.1, or a network whose last bits are 0, like 172.16.0.0/12"
    )


def in_url(host: str) -> str:
    """A name or an address as it stands in a URL: an IPv6 address in brackets."""
    return f"[{host}]" if ":" in host else host


def shown(text: str) -> str:
    """A setting's text in a sentence. What may be a password in it is not said again."""
    return repr(re.sub(r"//[^/@]*@", "//…@", text)[:200])
