"""Who a client is behind reverse proxies: their headers are believed only from those that the owner trusts."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable

from websockets.datastructures import Headers

from waybread_daemon.forms import IpAddress, IpNetwork, address_of, network_of

UNKNOWN = "unknown"
"""Stands for the address of a peer that has none."""
_PREFIX_BITS = 64
"""Of an IPv6 address: a home or a server has the rest to itself, and could take another address for every try."""
_HOPS_MOST = 32
_WITH_PORT = re.compile(r"(?:\[(?P<v6>[^\]]*)\](?::[0-9]+)?|(?P<v4>[0-9.]+):[0-9]+)")


class Proxies:
    """The proxies that are trusted: addresses or networks."""

    def __init__(self, trusted: Iterable[str]) -> None:
        self._networks: list[IpNetwork] = [network for text in trusted if (network := network_of(text)) is not None]

    def trusts(self, peer: str) -> bool:
        """Whether the headers of this peer are believed."""
        address = address_of(peer)
        return address is not None and self._has(address)

    def client(self, peer: str, headers: Headers) -> str:
        """The client's address by which it is counted: the last one before the trusted proxies.

        `X-Forwarded-For` is read from its end, where each proxy has added who spoke to it: what stands before the first
        one that is not trusted may have been made up.
        """
        address = address_of(peer)
        if address is None:
            return UNKNOWN
        said = [hop for value in headers.get_all("X-Forwarded-For") for hop in value.split(",")]
        for hop in reversed(said[-_HOPS_MOST:]):
            if not self._has(address):
                break
            before = _hop(hop)
            if before is None:
                break
            address = before
        return counted(address)

    def secure(self, peer: str, headers: Headers) -> bool:
        """Whether a trusted proxy says that the client's side of it is encrypted."""
        said = headers.get_all("X-Forwarded-Proto")
        return bool(said) and self.trusts(peer) and said[-1].rpartition(",")[2].strip().lower() in ("https", "wss")

    def _has(self, address: IpAddress) -> bool:
        return any(address.version == network.version and address in network for network in self._networks)


def counted(address: IpAddress) -> str:
    """What an address is counted as: an IPv6 one as its network of 64 bits."""
    if isinstance(address, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((address, _PREFIX_BITS), strict=False))
    return str(address)


def _hop(text: str) -> IpAddress | None:
    parts = _WITH_PORT.fullmatch(text.strip())
    return address_of(text if parts is None else parts["v6"] or parts["v4"] or "")
