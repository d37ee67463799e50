"""The certificate in force, and its renewal while the daemon runs."""

from __future__ import annotations

import asyncio
import hashlib
import ssl
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.daemon.secured import Authority, Pair, leaf_of
from tests.daemon.served import Served, serving
from tests.daemon.waiting import until
from waybread_daemon.certificates import CertificateFault
from waybread_daemon.config import Config
from waybread_daemon.link import tls
from waybread_daemon.link.tls import Encryption

NOW_MS = 1_900_000_000_000


class Log:
    """What was logged: the event and its fields."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, dict[str, object]]] = []

    def info(self, event: str, **fields: object) -> None:
        self.lines.append((event, fields))

    def warning(self, event: str, **fields: object) -> None:
        self.lines.append((event, fields))


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority()


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tls, "WATCH_INTERVAL_S", 0.02)


def print_of(pair: Pair) -> str:
    return hashlib.sha256(leaf_of(pair)).hexdigest()


def put(pair: Pair, other: Pair) -> None:
    """Renews a pair as a certificate client does it: each file is replaced, the key last."""
    other.cert.replace(pair.cert)
    other.key.replace(pair.key)


async def shown(served: Served, authority: Authority) -> str:
    """The fingerprint of the certificate that a new connection sees."""
    _, writer = await asyncio.open_connection("127.0.0.1", served.port, ssl=authority.client())
    der: bytes = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    writer.transport.abort()
    return hashlib.sha256(der).hexdigest()


def events(served: Served) -> list[str]:
    return [event for event, _ in served.log if event in ("certificate_renewed", "certificate_kept")]


async def test_a_renewed_certificate_is_used_from_the_next_connection_on_and_open_ones_stay(
    tmp_path: Path, authority: Authority
) -> None:
    pair = authority.issue(tmp_path)
    async with serving(tmp_path, **pair.settings()) as served:
        reader, writer = await asyncio.open_connection("127.0.0.1", served.port, ssl=authority.client())
        before = print_of(pair)
        assert await shown(served, authority) == before
        assert served.server.encryption is not None
        assert served.server.encryption.fingerprint == before
        other = authority.issue(tmp_path, "other")
        after = print_of(other)
        put(pair, other)
        await until(lambda: "certificate_renewed" in events(served), 3)
        assert await shown(served, authority) == after != before
        writer.write(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert (await reader.readline()) == b"HTTP/1.1 200 OK\r\n"
        writer.transport.abort()
        assert ("certificate_renewed", {"fingerprint": after}) in served.log


async def test_half_a_renewal_keeps_what_was_before_and_the_other_half_ends_it(
    tmp_path: Path, authority: Authority
) -> None:
    pair = authority.issue(tmp_path)
    async with serving(tmp_path, **pair.settings()) as served:
        before, other = print_of(pair), authority.issue(tmp_path, "other")
        after = print_of(other)
        other.cert.replace(pair.cert)
        await until(lambda: "certificate_kept" in events(served), 3)
        assert await shown(served, authority) == before
        (why,) = [str(fields["why"]) for event, fields in served.log if event == "certificate_kept"]
        assert "is not the key of the certificate" in why
        assert why.endswith("until then the one from before stays in force")
        await asyncio.sleep(0.1)
        assert events(served) == ["certificate_kept"], "it is told once"
        other.key.replace(pair.key)
        await until(lambda: "certificate_renewed" in events(served), 3)
        assert await shown(served, authority) == after


async def test_a_certificate_that_is_taken_away_stays_in_force(tmp_path: Path, authority: Authority) -> None:
    pair = authority.issue(tmp_path)
    async with serving(tmp_path, **pair.settings()) as served:
        before = print_of(pair)
        pair.cert.unlink()
        await until(lambda: "certificate_kept" in events(served), 3)
        assert await shown(served, authority) == before


async def test_a_link_in_a_folder_that_is_turned_to_another_pair_is_seen(tmp_path: Path, authority: Authority) -> None:
    # `certbot` renews so: what is named stays the same, and leads to other files.
    one, other = authority.issue(tmp_path, "one"), authority.issue(tmp_path, "other")
    live = Pair(tmp_path / "live.crt", tmp_path / "live.key")
    live.cert.symlink_to(one.cert)
    live.key.symlink_to(one.key)
    async with serving(tmp_path, **live.settings()) as served:
        for link, aim in zip(live, other, strict=True):
            link.unlink()
            link.symlink_to(aim)
        await until(lambda: "certificate_renewed" in events(served), 3)
        assert await shown(served, authority) == print_of(other)


async def test_other_files_are_taken_up_when_the_settings_name_them(tmp_path: Path, authority: Authority) -> None:
    pair, other = authority.issue(tmp_path), authority.issue(tmp_path, "other")
    async with serving(tmp_path, **pair.settings()) as served:
        settings: dict[str, Any] = dict(other.settings())
        served.server.reconfigure(msgspec.structs.replace(served.server.config, **settings))
        assert await shown(served, authority) == print_of(other)
        put(other, authority.issue(tmp_path, "third"))
        await until(lambda: events(served).count("certificate_renewed") == 2, 3)


async def test_settings_switch_encryption_neither_on_nor_off(tmp_path: Path, authority: Authority) -> None:
    pair = authority.issue(tmp_path)
    plain = Encryption(Config(), Log(), lambda: NOW_MS)
    plain.reconfigure(Config(tls_cert=str(pair.cert), tls_key=str(pair.key)))
    assert (plain.context, plain.fingerprint) == (None, "")
    secured = Encryption(Config(tls_cert=str(pair.cert), tls_key=str(pair.key)), Log(), lambda: NOW_MS)
    secured.reconfigure(Config())
    assert isinstance(secured.context, ssl.SSLContext)
    assert secured.fingerprint == print_of(pair)


async def test_an_expired_certificate_is_served_and_warned_of(tmp_path: Path, authority: Authority) -> None:
    pair, log = authority.issue(tmp_path, days=1), Log()
    encryption = Encryption(Config(tls_cert=str(pair.cert), tls_key=str(pair.key)), log, lambda: NOW_MS)
    assert encryption.context is not None
    ((event, fields),) = log.lines
    assert event == "certificate_warning"
    assert str(fields["why"]).startswith("the certificate expired on ")


async def test_one_that_expires_while_the_daemon_runs_is_warned_of_once_a_day(
    tmp_path: Path, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair, log, now = authority.issue(tmp_path, days=1), Log(), [0]
    read = Encryption(Config(tls_cert=str(pair.cert), tls_key=str(pair.key)), Log(), lambda: 0)
    assert read.certificate is not None
    now[0] = read.certificate.expires_ms - 1
    encryption = Encryption(Config(tls_cert=str(pair.cert), tls_key=str(pair.key)), log, lambda: now[0])
    watching = asyncio.create_task(encryption.watch())
    await asyncio.sleep(0.1)
    assert log.lines == []
    now[0] += 1
    monkeypatch.setattr(tls, "_WARN_INTERVAL_S", 0.3)
    await until(lambda: len(log.lines) == 1, 3)
    await until(lambda: len(log.lines) == 2, 3)
    watching.cancel()
    assert {event for event, _ in log.lines} == {"certificate_warning"}


async def test_a_pair_that_cannot_be_used_is_refused_at_the_start(tmp_path: Path, authority: Authority) -> None:
    one, other = authority.issue(tmp_path, "one"), authority.issue(tmp_path, "other")
    with pytest.raises(CertificateFault, match="is not the key"):
        Encryption(Config(tls_cert=str(one.cert), tls_key=str(other.key)), Log(), lambda: NOW_MS)
