"""Where the daemon is, told to the local network by multicast DNS: a service of the type `_waybread._tcp`.

Nothing secret is told: the address, the port, the path and whether there is TLS. A phone that finds it still has to be
paired. Nothing depends on it either: where there is no multicast the log says so, and that is all.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import ipaddress
import logging
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from structlog.typing import FilteringBoundLogger

from waybread_daemon import VERSION
from waybread_daemon.config import is_loopback
from waybread_daemon.link.control.addresses import machine_addresses, multicast_name
from waybread_protocol.limits import PATH, PROTOCOL

if TYPE_CHECKING:
    from zeroconf import IPVersion
    from zeroconf.asyncio import AsyncServiceInfo, AsyncZeroconf

SERVICE = "_waybread._tcp.local."
WITHDRAW_TIMEOUT_S = 2.0
FOLLOW_INTERVAL_S = 2.0
"""How often it is looked whether the certificate is still the one that was told."""
_ASK_MS = 2500
"""An answer that was just given to all is given again a second later only."""
_NAMES_MOST = 100
_NAME_MOST_BYTES = 63


def host_name() -> str:
    """This machine's name without its domain, as it fits into one label."""
    name = socket.gethostname().partition(".")[0] or "waybread"
    return name.encode()[: _NAME_MOST_BYTES - len("-100")].decode(errors="ignore")


def properties(fingerprint: str) -> dict[str, str]:
    """What stands in the TXT record. `fingerprint` is the certificate's, empty without TLS."""
    told = {"path": PATH, "protocol": str(PROTOCOL), "version": VERSION, "tls": "1" if fingerprint else "0"}
    return told | ({"fingerprint": fingerprint} if fingerprint else {})


class Discovery:
    """One announcement: `start` begins it, `stop` takes it back. Neither raises, and neither makes the daemon wait long."""

    def __init__(
        self, host: str, port: int, epoch: str, fingerprint: Callable[[], str], log: FilteringBoundLogger
    ) -> None:
        """`epoch` is the store's, which no other daemon has; `fingerprint` tells that of the certificate in force."""
        self._host = host
        self._port = port
        self._epoch = epoch
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
        interfaces, version = await asyncio.to_thread(self._prepared)
        from zeroconf.asyncio import AsyncZeroconf  # noqa: PLC0415  # imported by now, in that thread

        self._zeroconf = AsyncZeroconf(interfaces=interfaces, ip_version=version)
        # The package does not say of what its awaitables are.
        zeroconf: Any = self._zeroconf
        name, told = await self._free_name(zeroconf), self._fingerprint()
        service = self._service(name, told, interfaces)
        announcing = await zeroconf.async_register_service(service, allow_name_change=True)
        self._log.info("announced", service=service.name, server=service.server, addresses=interfaces)
        await announcing
        while True:
            await asyncio.sleep(FOLLOW_INTERVAL_S)
            if (now := self._fingerprint()) != told:
                told = now
                await (await zeroconf.async_update_service(self._service(service.name, told, interfaces)))
                self._log.info("announced_again", service=service.name, fingerprint=told)

    async def _free_name(self, zeroconf: Any) -> str:
        """A name that no other daemon here answers to.

        The package asks by itself, but wants its answer from one socket: of two daemons on one machine the other gets it.
        """
        from zeroconf import DNSQuestionType  # noqa: PLC0415
        from zeroconf.asyncio import AsyncServiceInfo  # noqa: PLC0415

        await zeroconf.zeroconf.async_wait_for_start()
        own = host_name()
        for label in (own, *(f"{own}-{number}" for number in range(2, _NAMES_MOST + 1))):
            name = f"{label}.{SERVICE}"
            found = AsyncServiceInfo(SERVICE, name)
            if not await found.async_request(zeroconf.zeroconf, _ASK_MS, question_type=DNSQuestionType.QM):
                return name
        raise OSError(f"{_NAMES_MOST} daemons on this network are called {own}: give this machine another name")

    def _prepared(self) -> tuple[list[str], IPVersion]:
        """Which interfaces, and which versions of IP. Blocks."""
        # Late and in a thread: most daemons need none of it, and the import takes a fifth of a second.
        from zeroconf import IPVersion  # noqa: PLC0415

        importlib.import_module("zeroconf.asyncio")

        # Without a handler its warnings would stand on standard error, between lines of JSON.
        logging.getLogger("zeroconf").setLevel(logging.CRITICAL)
        addresses = _addresses(self._host)
        if not addresses:
            raise OSError("this machine has no address that others reach")
        versions = {ipaddress.ip_address(address).version for address in addresses}
        version = IPVersion.All if len(versions) > 1 else IPVersion.V4Only if versions == {4} else IPVersion.V6Only
        return addresses, version

    def _service(self, name: str, fingerprint: str, addresses: list[str]) -> AsyncServiceInfo:
        from zeroconf.asyncio import AsyncServiceInfo  # noqa: PLC0415

        return AsyncServiceInfo(
            SERVICE,
            name,
            port=self._port,
            properties=properties(fingerprint),
            # Not the machine's own name: another responder here may tell that with other addresses, and the goodbye of
            # a second daemon would take them back.
            server=f"{multicast_name(self._epoch)}.",
            parsed_addresses=addresses,
        )


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
