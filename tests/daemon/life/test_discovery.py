import asyncio
import ipaddress
import json
import socket
import urllib.request
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import ifaddr
import pytest
import structlog
import trustme
from zeroconf import DNSQuestionType, IPVersion, ServiceStateChange, Zeroconf
from zeroconf.asyncio import AsyncServiceBrowser, AsyncServiceInfo, AsyncZeroconf

from tests.daemon.cli.support import Daemon, serving
from tests.daemon.waiting import until
from tests.daemon.wire import greeted
from waybread_daemon import VERSION
from waybread_daemon.certificates import read_certificate
from waybread_daemon.life.discovery import SERVICE, Discovery, host_name, properties
from waybread_daemon.link.control.addresses import multicast_name

WITHIN_S = 15


def own_addresses() -> list[str]:
    """This machine's, as others reach it."""
    addresses = [str(ip.ip) for adapter in ifaddr.get_adapters() for ip in adapter.ips if ip.is_IPv4]
    return [each for each in addresses if not ipaddress.ip_address(each).is_loopback]


needs_multicast = pytest.mark.skipif(not own_addresses(), reason="this machine has no address beyond loopback")


class Seen:
    """What a browser of the local network sees of services of this type."""

    def __init__(self, browsing: AsyncZeroconf) -> None:
        self._browsing = browsing
        self._changed = asyncio.Event()
        self.zeroconf = browsing.zeroconf
        self.names: set[str] = set()

    def change(self, zeroconf: Zeroconf, service_type: str, name: str, state_change: ServiceStateChange) -> None:
        assert (zeroconf, service_type) == (self._browsing.zeroconf, SERVICE)
        if state_change is ServiceStateChange.Removed:
            self.names.discard(name)
        else:
            self.names.add(name)
        self._changed.set()

    async def found(self, port: int) -> AsyncServiceInfo:
        """Waits for the service at that port."""
        async with asyncio.timeout(WITHIN_S):
            while True:
                for name in list(self.names):
                    info = AsyncServiceInfo(SERVICE, name)
                    if await info.async_request(self._browsing.zeroconf, 3000) and info.port == port:
                        return info
                self._changed.clear()
                await self._changed.wait()

    async def gone(self, name: str) -> None:
        async with asyncio.timeout(WITHIN_S):
            while name in self.names:
                self._changed.clear()
                await self._changed.wait()


def port_of(daemon: Daemon) -> int:
    return int(daemon.url.rpartition(":")[2].partition("/")[0])


@asynccontextmanager
async def browsing() -> AsyncGenerator[Seen, None]:
    zeroconf = AsyncZeroconf(interfaces=own_addresses(), ip_version=IPVersion.V4Only)
    seen = Seen(zeroconf)
    browser = AsyncServiceBrowser(zeroconf.zeroconf, [SERVICE], handlers=[seen.change])
    try:
        yield seen
    finally:
        await browser.async_cancel()
        await zeroconf.async_close()


def health(address: str, port: int, name: str) -> int:
    """What HTTP answers to who comes by the name that was told."""
    request = urllib.request.Request(f"http://{address}:{port}/healthz", headers={"Host": f"{name}:{port}"})
    with urllib.request.urlopen(request) as answer:
        return int(answer.status)


@needs_multicast
async def test_a_browser_finds_a_real_daemon_links_to_it_and_sees_it_go(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data/waybread.toml").write_text("discovery = true\nallow_plaintext = true\n")
    async with browsing() as seen:
        with serving(tmp_path / "data", "--host", "0.0.0.0") as daemon:
            token = daemon.device()["token"]
            port = port_of(daemon)
            info = await seen.found(port)
            assert set(info.parsed_addresses(IPVersion.V4Only)) == set(own_addresses())
            told = {key.decode(): (text or b"").decode() for key, text in info.properties.items()}
            assert told == {"path": "/link", "protocol": "1", "version": VERSION, "tls": "0"}
            address = info.parsed_addresses(IPVersion.V4Only)[0]
            assert info.server is not None
            assert await asyncio.to_thread(health, address, port, info.server.rstrip(".")) == 200
            async with greeted(f"ws://{address}:{info.port}{told['path']}", token) as wire:
                assert (await wire.ask("ping"))["type"] == "done"
            assert await asyncio.to_thread(daemon.stop) == 0
            assert '"announced"' in daemon.log()
        await seen.gone(info.name)


@needs_multicast
async def test_two_daemons_on_one_machine_have_two_names_and_the_goodbye_of_one_leaves_the_other(
    tmp_path: Path,
) -> None:
    settings = "discovery = true\nallow_plaintext = true\n"
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "waybread.toml").write_text(settings)
    async with browsing() as seen:
        with serving(tmp_path / "one", "--host", "0.0.0.0") as one:
            first = await seen.found(port_of(one))
            with serving(tmp_path / "two", "--host", "0.0.0.0") as two:
                second = await seen.found(port_of(two))
                assert second.name.endswith(f"-2.{SERVICE}")
                assert second.name != first.name
                assert second.server != first.server
                announced = [line for line in map(json.loads, two.log().splitlines()) if line["event"] == "announced"]
                assert [line["service"] for line in announced] == [second.name]
                assert await asyncio.to_thread(two.stop) == 0
            await seen.gone(second.name)
            still = await seen.found(port_of(one))
            assert still.name == first.name
            assert set(still.parsed_addresses(IPVersion.V4Only)) == set(own_addresses())
            address, server = still.parsed_addresses(IPVersion.V4Only)[0], str(still.server).rstrip(".")
            assert await asyncio.to_thread(health, address, port_of(one), server) == 200


@needs_multicast
async def test_when_the_certificate_is_renewed_the_network_is_told_the_new_fingerprint(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    (data / "waybread.toml").write_text(f'discovery = true\ntls_cert = "{cert}"\ntls_key = "{key}"\n')

    def issue() -> str:
        issued = trustme.CA().issue_cert("localhost")
        issued.cert_chain_pems[0].write_to_path(cert)
        issued.private_key_pem.write_to_path(key)
        return read_certificate(str(cert), str(key)).fingerprint

    async def told(name: str, fingerprint: str) -> None:
        async with asyncio.timeout(WITHIN_S):
            while True:
                info = AsyncServiceInfo(SERVICE, name)
                await info.async_request(seen.zeroconf, 1000, question_type=DNSQuestionType.QM)
                if (info.properties.get(b"fingerprint") or b"").decode() == fingerprint:
                    return
                await asyncio.sleep(0.3)

    first = issue()
    async with browsing() as seen:
        with serving(data, "--host", "0.0.0.0") as daemon:
            name = (await seen.found(port_of(daemon))).name
            await told(name, first)
            await told(name, issue())


class Lines:
    """What was logged."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.log = structlog.wrap_logger(
            None, processors=[self._note], wrapper_class=structlog.make_filtering_bound_logger(0)
        )

    def _note(self, _: object, method: str, event: Any) -> str:
        self.events.append({**event, "level": method})
        raise structlog.DropEvent


async def test_a_daemon_that_nobody_else_reaches_is_not_announced_and_the_log_says_why() -> None:
    lines = Lines()
    discovery = Discovery("127.0.0.1", 1, "an epoch", str, lines.log)
    discovery.start()
    await discovery.stop()
    assert lines.events == [
        {
            "event": "discovery_off",
            "level": "warning",
            "why": "the daemon listens on 127.0.0.1, which nobody else reaches: set another host",
        }
    ]


async def test_a_network_without_multicast_is_a_warning_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    import zeroconf.asyncio

    def refuse(**_: object) -> None:
        raise OSError(101, "Network is unreachable")

    monkeypatch.setattr(zeroconf.asyncio, "AsyncZeroconf", refuse)
    lines = Lines()
    discovery = Discovery("0.0.0.0" if own_addresses() else "::", 1, "an epoch", str, lines.log)
    discovery.start()
    await until(lambda: lines.events)
    await discovery.stop()
    (event,) = lines.events
    assert (event["event"], event["level"]) == ("discovery_failed", "warning")
    assert event["why"]


async def test_an_address_that_this_machine_has_not_is_a_warning() -> None:
    lines = Lines()
    discovery = Discovery("198.51.100.7", 1, "an epoch", str, lines.log)
    discovery.start()
    await until(lambda: lines.events)
    await discovery.stop()
    assert [event["why"] for event in lines.events] == ["this machine has no address that others reach"]


async def test_a_stop_in_the_middle_of_the_announcement_is_quick() -> None:
    lines = Lines()
    discovery = Discovery("0.0.0.0", 1, "an epoch", str, lines.log)
    discovery.start()
    await asyncio.sleep(0.2)
    async with asyncio.timeout(4):
        await discovery.stop()
    assert [event for event in lines.events if event["event"] == "announced"] == []


def test_with_tls_the_fingerprint_is_told() -> None:
    assert properties("ab12") == {
        "path": "/link",
        "protocol": "1",
        "version": VERSION,
        "tls": "1",
        "fingerprint": "ab12",
    }


@pytest.mark.parametrize(
    "name,label", [("nas.home.example", "nas"), ("x" * 80, "x" * 59), ("", "waybread"), ("ü" * 40, "ü" * 29)]
)
def test_the_machines_name_fits_into_one_label(name: str, label: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: name)
    assert host_name() == label
    assert len(f"{label}-100".encode()) <= 63
    assert len(multicast_name("an epoch").removesuffix(".local").encode()) <= 63
