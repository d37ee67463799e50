"""Whether an address can be listened on, asked before anything is made for a daemon that could not."""

from __future__ import annotations

import socket

from waybread_daemon.life.refusal import AddressRefusal


def refuse_taken(host: str, port: int) -> None:
    """Raises `AddressRefusal` where nobody could listen there now. Blocks, where `host` is a name to look up."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        for family, kind, protocol, _, address in found:
            _bind(family, kind, protocol, address)
    except OSError as fault:
        raise AddressRefusal(host, port, fault) from fault


def _bind(family: int, kind: int, protocol: int, address: tuple[object, ...]) -> None:
    """Takes the address as the listening side does, and gives it back."""
    try:
        probe = socket.socket(family, kind, protocol)
    except OSError:
        # A family that this system has not: the listening side leaves it out, too.
        return
    with probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        probe.bind(address)
