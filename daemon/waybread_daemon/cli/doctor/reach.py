"""Whether the daemon answers where it should, or could listen there."""

from __future__ import annotations

import http.client
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from waybread_daemon.cli.asking import NotRunning, asking
from waybread_daemon.cli.doctor.findings import Finding, fault, ok, warning
from waybread_daemon.cli.doctor.surroundings import good_until
from waybread_daemon.cli.faults import CommandFault
from waybread_daemon.cli.screen import clock
from waybread_daemon.clock import now_ms
from waybread_daemon.config import Config
from waybread_daemon.forms import in_url
from waybread_daemon.life.refusal import AddressRefusal
from waybread_daemon.link.control.messages import AskStatus, Status
from waybread_daemon.store.sqlite.place import is_held
from waybread_protocol.limits import PATH

TIMEOUT_S = 5.0
_CHECK = "address"
_ANYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104  # not bound: what to call instead


def reach_findings(path: Path, config: Config) -> Iterator[Finding]:
    """What is to be said of the daemon of the store at `path`, or of the address that it would take."""
    try:
        with asking(path.parent) as daemon:
            status = daemon.ask(AskStatus(), Status)
    except NotRunning:
        yield _held(path) if is_held(path) else _free(config)
        return
    except CommandFault as stopped:
        yield fault(_CHECK, f"the daemon does not answer its commands ({stopped})", "look at its log, and restart it")
        return
    if status.ready:
        yield ok("daemon", f"a daemon runs ({status.server}, process {status.pid}) and takes writes")
    else:
        yield fault(
            "daemon", f"a daemon runs and takes no writes ({status.why})", "see to that: it goes on by itself then"
        )
    if status.certificate and status.certificate != config.tls_cert:
        # Given by flags: nobody else looks at it.
        yield _certificate(status)
    base = f"http{status.address.removeprefix('ws').removesuffix(PATH)}"
    if config.public_url:
        yield from _local(config)
    yield _answers(base, verified=bool(config.public_url))


def _certificate(status: Status) -> Finding:
    """Until when the certificate is good with which the daemon encrypts."""
    what = f"the daemon's certificate, from {status.certificate},"
    expires_ms, at_ms = status.certificate_expires_ms, now_ms()
    if expires_ms < at_ms:
        return fault("certificate", f"{what} expired at {clock(expires_ms)}, and clients refuse it", "renew it")
    return good_until(what, expires_ms, at_ms)


def _local(config: Config) -> Iterator[Finding]:
    """The daemon's own address, where the one that clients use is a proxy's."""
    if not config.port:
        return
    host = _ANYWHERE.get(config.host, config.host)
    yield _answers(f"{'https' if config.tls_cert else 'http'}://{in_url(host)}:{config.port}", verified=False)


def _held(path: Path) -> Finding:
    return warning(
        _CHECK,
        f"a process has the store at {path} and answers no commands: it is starting or stopping, or it is a restore",
        "try again in a moment",
    )


def _free(config: Config) -> Finding:
    """No daemon runs: whether one could listen."""
    where = f"{config.host} port {config.port}"
    if not config.port:
        return ok(_CHECK, f"no daemon runs; it would take a free port of {config.host}")
    try:
        family, _, _, _, address = socket.getaddrinfo(config.host, config.port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        sentence, _, remedy = str(AddressRefusal(config.host, config.port, error)).rpartition(": ")
        return fault(_CHECK, f"no daemon runs, and {sentence}", remedy)
    return ok(_CHECK, f"no daemon runs; {where} is free for one")


def _answers(base: str, *, verified: bool) -> Finding:
    """Whether a daemon answers at an address. `verified`: as a client sees it, with the certificate that it trusts."""
    try:
        statuses = [_get(base, name, verified=verified) for name in ("/healthz", "/readyz")]
    except ssl.SSLCertVerificationError as error:
        return warning(
            _CHECK,
            f"{base} has a certificate that this machine does not trust ({error.verify_message})",
            "phones trust what they pinned when they were paired; for everybody else use one of a known authority",
        )
    except (OSError, http.client.HTTPException) as error:
        return fault(
            _CHECK,
            f"nothing answers at {base} ({str(error) or type(error).__name__})",
            "compare host, port and public_url with what the daemon said when it started, and look at proxies and firewalls",
        )
    if statuses[0] != http.HTTPStatus.OK:
        return fault(
            _CHECK,
            f"{base}/healthz answers {statuses[0]}",
            "another program listens there, or a proxy does not pass it on: see deploy/README.md",
        )
    if statuses[1] != http.HTTPStatus.OK:
        return warning(_CHECK, f"{base} answers, and is not ready ({statuses[1]})", "see what is said of the daemon")
    return ok(_CHECK, f"{base} answers and is ready")


def _get(base: str, name: str, *, verified: bool) -> int:
    parts = urlsplit(base)
    host = parts.hostname or ""
    if parts.scheme == "https":
        context = ssl.create_default_context()
        if not verified:
            # The daemon's own certificate is looked at by itself.
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        connection: http.client.HTTPConnection = http.client.HTTPSConnection(
            host, parts.port, timeout=TIMEOUT_S, context=context
        )
    else:
        connection = http.client.HTTPConnection(host, parts.port, timeout=TIMEOUT_S)
    try:
        connection.request("GET", name)
        return connection.getresponse().status
    finally:
        connection.close()
