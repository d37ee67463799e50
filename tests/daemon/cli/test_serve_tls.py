"""`waybread serve` with a certificate of its own, as a person starts it."""

from __future__ import annotations

import contextlib
import socket
import ssl
from pathlib import Path

import pytest

from tests.daemon.cli.support import serving, waybread
from tests.daemon.secured import Authority, Pair, leaf_of
from tests.daemon.waiting import until
from waybread_client import Link


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority()


def flags(pair: Pair) -> list[str]:
    return ["--tls-cert", str(pair.cert), "--tls-key", str(pair.key)]


def port_of(url: str) -> int:
    return int(url.rpartition(":")[2].partition("/")[0])


def certificate(port: int) -> bytes:
    """What a new connection is shown, whoever made it."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with (
        socket.create_connection(("127.0.0.1", port), 5) as plain,
        context.wrap_socket(plain, server_hostname="localhost") as secured,
    ):
        return secured.getpeercert(binary_form=True) or b""


async def test_a_daemon_with_a_certificate_says_wss_and_a_client_links(tmp_path: Path, authority: Authority) -> None:
    with serving(tmp_path / "data", *flags(authority.issue(tmp_path))) as daemon:
        assert daemon.url.startswith("wss://127.0.0.1:")
        async with Link(daemon.url, daemon.device()["token"], ssl=authority.client()) as link:
            assert (await link.connect(10)).name == "phone"
            await link.ping()


def test_with_a_certificate_another_host_needs_no_word_for_it(tmp_path: Path, authority: Authority) -> None:
    with serving(tmp_path / "data", "--host", "0.0.0.0", *flags(authority.issue(tmp_path))) as daemon:
        assert daemon.url.startswith("wss://0.0.0.0:")


def test_plain_http_rubbish_and_mistrust_leave_no_traceback_in_the_log(tmp_path: Path, authority: Authority) -> None:
    with serving(tmp_path / "data", "--log-level", "debug", *flags(authority.issue(tmp_path))) as daemon:
        port = port_of(daemon.url)
        for said in (b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", b"\x16\x03\x01\x00\x02ab", b"\xff" * 2000, b""):
            with socket.create_connection(("127.0.0.1", port), 5) as plain:
                plain.sendall(said)
                plain.shutdown(socket.SHUT_WR)
                answer = b""
                with contextlib.suppress(ConnectionError):
                    while piece := plain.recv(4096):
                        answer += piece
                assert answer.startswith(b"HTTP/1.1 400 Bad Request") == said.startswith(b"GET"), answer
        with (
            socket.create_connection(("127.0.0.1", port), 5) as plain,
            pytest.raises(ssl.SSLCertVerificationError),
        ):
            ssl.create_default_context().wrap_socket(plain, server_hostname="localhost")
        assert certificate(port)
        assert daemon.stop() == 0
        log = daemon.log()
        assert "not_encrypted" in log
        for bad in ("Traceback", '"level": "error"', "loop_fault"):
            assert bad not in log


async def test_a_renewed_certificate_is_shown_without_a_restart(tmp_path: Path, authority: Authority) -> None:
    pair = authority.issue(tmp_path)
    with serving(tmp_path / "data", *flags(pair)) as daemon:
        port = port_of(daemon.url)
        assert certificate(port) == leaf_of(pair)
        renewed = authority.issue(tmp_path, "renewed")
        renewed.cert.replace(pair.cert)
        renewed.key.replace(pair.key)
        await until(lambda: certificate(port) == leaf_of(pair), 10)
        assert daemon.stop() == 0
        assert "certificate_renewed" in daemon.log()


def test_an_expired_certificate_is_served_with_a_warning(tmp_path: Path, authority: Authority) -> None:
    with serving(tmp_path / "data", *flags(authority.issue(tmp_path, days=-1))) as daemon:
        assert certificate(port_of(daemon.url))
        assert daemon.stop() == 0
        assert "the certificate expired on " in daemon.log()


def test_files_that_cannot_be_used_are_refused_in_a_sentence(tmp_path: Path, authority: Authority) -> None:
    one, other = authority.issue(tmp_path, "one"), authority.issue(tmp_path, "other")
    for words, sentence in (
        (flags(Pair(one.cert, other.key)), "is not the key of the certificate in tls_cert"),
        (flags(Pair(tmp_path / "gone", one.key)), "is not there: name a file that is"),
        (["--tls-cert", str(one.cert)], "tls_cert is set and tls_key is not"),
    ):
        ran = waybread("serve", "--data", tmp_path / "data", "--port", "0", *words)
        assert (ran.status, ran.out, ran.err.count("\n")) == (1, "", 1)
        assert sentence in ran.err
