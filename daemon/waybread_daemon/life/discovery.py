"""Where the daemon is, told to the local network by multicast DNS: a service of the type `_waybread._tcp`.

Nothing secret is told: the address, the port, the path and whether there is TLS. A phone that finds it still has to be
paired. Nothing depends on it either: where there is no multicast the log says so, and that is all.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import logging
import socket
from typing import TYPE_CHECKING, Any

from structlog.typing import FilteringBoundLogger

from waybread_daemon import VERSION
from waybread_daemon.config import is_loopback
from waybread_daemon.link.control.addresses import machine_addresses
from waybread_protocol.limits import PATH, PROTOCOL

if TYPE_CHECKING:
    from zeroconf import IPVersion
    from zeroconf.asyncio import AsyncServiceInfo, AsyncZeroconf

SERVICE = "_waybread._tcp.local."
WITHDRAW_TIMEOUT_S = 2.0
_NAME_MOST_BYTES = 63


def host_name() -> str:
    """This machine's name without its domain, as it fits into one label."""
    name = socket.gethostname().partition(".")[0] or "waybread"
    return name.encode()[: _NAME_MOST_BYTES - len("waybread-")].decode(errors="ignore")


def properties(fingerprint: str) -> dict[str, str]:
    """What stands in the TXT record. `fingerprint` is the certificate's, empty without TLS."""
    told = {"path": PATH, "protocol": str(PROTOCOL), "version": VERSION, "tls": "1" if fingerprint else "0"}
    return told | ({"fingerprint": fingerprint} if fingerprint else {})


class Discovery:
    """One announcement: `start` begins it, `stop` takes it back. Neither raises, and neither makes the daemon wait long."""

    def __init__(self, host: str, port: int, fingerprint: str, log: FilteringBoundLogger) -> None:
        self._host = host
        self._port = port
        self._fingerprint = fingerprint
        self._log = log
        self._zeroconf: AsyncZeroconf | None = None
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Announces the daemon in the background: to ask whether its name is free takes most of a second."""
        if is_loopback(self._host):
            self._log.warning(
                "discovery_off", why=f"the daemon listens on {self._host}, which nobody else reaches: set another host"
            )
            return
        self._task = asyncio.get_running_loop().create_task(self._announce())

    async def stop(self) -> None:
        """Says goodbye, so that nobody goes on looking for the daemon here."""
        if self._task is None:
            return
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        if self._zeroconf is not None:
            # Whatever comes of it: nobody can act on it any more.
            with contextlib.suppress(Exception):
                async with asyncio.timeout(WITHDRAW_TIMEOUT_S):
                    await self._zeroconf.async_close()

    async def _announce(self) -> None:
        try:
            await self._announced()
        except Exception as fault:  # noqa: BLE001  # the package raises what it likes, and the daemon serves all the same
            self._log.warning("discovery_failed", why=str(fault) or type(fault).__name__)

    async def _announced(self) -> None:
        interfaces, version, service = await asyncio.to_thread(self._prepared)
        from zeroconf.asyncio import AsyncZeroconf  # noqa: PLC0415  # imported by now, in that thread

        self._zeroconf = AsyncZeroconf(interfaces=interfaces, ip_version=version)
        # The package does not say of what its awaitables are.
        zeroconf: Any = self._zeroconf
        announcing = await zeroconf.async_register_service(service, allow_name_change=True)
        self._log.info("announced", service=service.name, addresses=interfaces)
        await announcing

    def _prepared(self) -> tuple[list[str], IPVersion, AsyncServiceInfo]:
        """Which interfaces, which versions of IP, and what to say there. Blocks."""
        # Late and in a thread: most daemons need none of it, and the import takes a fifth of a second.
        from zeroconf import IPVersion  # noqa: PLC0415
        from zeroconf.asyncio import AsyncServiceInfo  # noqa: PLC0415

        # Without a handler its warnings would stand on standard error, between lines of JSON.
        logging.getLogger("zeroconf").setLevel(logging.CRITICAL)
        addresses = _addresses(self._host)
        if not addresses:
            raise OSError("this machine has no address that others reach")
        versions = {ipaddress.ip_address(address).version for address in addresses}
        version = IPVersion.All if len(versions) > 1 else IPVersion.V4Only if versions == {4} else IPVersion.V6Only
        name = host_name()
        service = AsyncServiceInfo(
            SERVICE,
            f"{name}.{SERVICE}",
            port=self._port,
            properties=properties(self._fingerprint),
            # Not the machine's own name: another responder here may tell that with other addresses.
            server=f"waybread-{name}.local.",
            parsed_addresses=addresses,
        )
        return addresses, version, service


def _addresses(host: str) -> list[str]:
    """The addresses that others reach and at which the daemon listens."""
    listening = {
        str(ipaddress.ip_address(str(info[4][0]))) for info in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    }
    all_of = {4: "0.0.0.0", 6: "::"}  # noqa: S104  # compared
    return [
        address
        for address in machine_addresses()
        if address in listening or all_of[ipaddress.ip_address(address).version] in listening
    ]
