"""`waybread pair`: a one-time code for a new device, as a QR code and as text, until somebody has taken it."""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import shutil
import ssl
import sys
import time
from collections.abc import Mapping
from urllib.parse import urlsplit

from waybread_daemon.cli.asking import Asking, asking
from waybread_daemon.cli.faults import CommandFault
from waybread_daemon.cli.options import data_folder, filled, parser_for, take_data, take_role
from waybread_daemon.cli.qr import qr_lines
from waybread_daemon.cli.screen import Screen, clock, legible
from waybread_daemon.forms import url_of
from waybread_daemon.link.control.addresses import link_address, pairing_page
from waybread_daemon.link.control.messages import AskPair, Offered, PairedWith, Void

_LOOK_TIMEOUT_S = 3.0


def main(words: list[str], environment: Mapping[str, str]) -> int:
    """Shows a code and waits until a device has it."""
    parser = _parser()
    options = parser.parse_args(words)
    screen = Screen(sys.stdout)
    with asking(data_folder(options.data, environment)) as daemon:
        request = AskPair(name=options.name or "", role=options.role, device=options.device or "")
        offer = daemon.ask(request, Offered)
        base = options.url or offer.bases[0]
        pin = _pin(offer, base)
        try:
            if options.json:
                screen.json(_as_data(offer, base, pin))
            else:
                _show(screen, offer, base, pin, chosen=options.url is not None, qr=options.qr)
            screen.flush()
        except BrokenPipeError as fault:
            raise CommandFault(
                "whoever read the output left before a device took the code, so it is void: let the output be read to its end"
            ) from fault
        return _wait(daemon, screen, as_json=options.json)


def _parser() -> argparse.ArgumentParser:
    from waybread_daemon.cli.device import good_name

    parser = parser_for(
        "pair",
        "Shows a one-time code for a new device, as a QR code and as text, and waits until the device has taken it. The\n"
        "code is good for five minutes and five wrong tries. Needs a daemon that runs. Ctrl-C withdraws the code.",
        "waybread pair phone",
        "waybread pair --device 1f0c9a5e77d1b2c3 --role viewer",
    )
    parser.add_argument(
        "name",
        metavar="NAME",
        nargs="?",
        type=good_name,
        help="what people call the device (what it calls itself); with --device the name of the new token",
    )
    take_role(parser)
    parser.add_argument("--device", metavar="ID", type=filled, help="make a further token of this device")
    parser.add_argument(
        "--url", type=_base, help="the address under which the device reaches the daemon (public_url, or its own)"
    )
    parser.add_argument("--qr", action="store_true", help="show the QR code where this is no terminal, too")
    parser.add_argument("--json", action="store_true", help="print JSON: the code in one line, who took it in a second")
    take_data(parser)
    return parser


def _base(text: str) -> str:
    """The type of an argument that is where a device reaches the daemon."""
    url = url_of(text.removesuffix("/link"))
    if url is None:
        raise argparse.ArgumentTypeError(f"{text!r:.80} is no address: give one like https://waybread.example.org")
    return url.origin


def _pin(offer: Offered, base: str) -> str:
    """The fingerprint of the certificate that a client meets there, where that is the daemon's own. Else empty.

    Raises `CommandFault` where the code would travel unencrypted although the daemon encrypts.
    """
    if not offer.fingerprint:
        return ""
    if not base.startswith("https://"):
        raise CommandFault(
            f"the daemon encrypts, and over {base} the code would go unencrypted, to whatever answers there: name an https:// "
            "address, in public_url or with --url"
        )
    if base in offer.bases and not offer.public:
        return offer.fingerprint
    return offer.fingerprint if _served(base) == offer.fingerprint else ""


def _served(base: str) -> str:
    """The fingerprint of the certificate at an address, which may be a proxy's. Empty where it cannot be told from here."""
    parts = urlsplit(base)
    try:
        pem = ssl.get_server_certificate((parts.hostname or "", parts.port or 443), timeout=_LOOK_TIMEOUT_S)
    except (OSError, ValueError):
        return ""
    return hashlib.sha256(ssl.PEM_cert_to_DER_cert(pem)).hexdigest()


def _as_data(offer: Offered, base: str, pin: str) -> dict[str, object]:
    return {
        "page": pairing_page(base, offer.code, pin),
        "link": link_address(base),
        "code": offer.code,
        "expires_ms": offer.expires_ms,
        "fingerprint": pin,
        "others": [link_address(other) for other in offer.bases if other != base],
    }


def _show(screen: Screen, offer: Offered, base: str, pin: str, *, chosen: bool, qr: bool) -> None:
    if qr or screen.is_terminal:
        _show_qr(screen, pairing_page(base, offer.code, pin))
    screen.line(f"link         {link_address(base)}")
    screen.line(f"code         {offer.code}")
    # Behind the link: whoever reads the first address of this, takes that one.
    screen.line(f"page         {base}/")
    if pin:
        screen.line(f"certificate  SHA-256 {':'.join(_pairs(pin.upper()))}")
    minutes = max(1, round((offer.expires_ms / 1000 - time.time()) / 60))
    screen.line(f"good until   {clock(offer.expires_ms)}, {minutes} minutes, for one device")
    if offer.local and not chosen:
        screen.line()
        screen.line(
            "The daemon listens on this machine alone, so a phone cannot reach it. Put a reverse proxy or Tailscale"
        )
        screen.line(
            "in front and set public_url to its address, or let the daemon listen on the network with --host and"
        )
        screen.line("with --tls-cert and --tls-key.")
    if offer.plaintext and base.startswith("http://"):
        screen.line()
        screen.line("The link is not encrypted: who listens in on the network reads the code and all that follows.")
    screen.line()
    screen.line("Waiting for a device. Ctrl-C withdraws the code.")


def _show_qr(screen: Screen, page: str) -> None:
    lines, columns = qr_lines(page)
    room = shutil.get_terminal_size().columns
    if screen.is_terminal and columns > room:
        screen.line(f"The QR code needs {columns} columns, and this terminal has {room}: widen it, or type the code.")
    else:
        screen.raw("".join(f"{line}\n" for line in lines))
    screen.line()


def _pairs(digits: str) -> list[str]:
    return [digits[at : at + 2] for at in range(0, len(digits), 2)]


def _wait(daemon: Asking, screen: Screen, *, as_json: bool) -> int:
    match daemon.next():
        case PairedWith(device=device, name=name, role=role, token=token, token_name=token_name):
            if as_json:
                paired = {"device": device, "name": name, "role": role, "token": token, "token_name": token_name}
                screen.json({"outcome": "paired", **paired})
            else:
                screen.line(f"{legible(name)} paired as device {device} ({role}).")
                called = f", called {legible(token_name)}" if token_name else ""
                screen.line(f"Its token is {token}{called}: `waybread device revoke {token}` ends it.")
            return 0
        case Void(why=why):
            if as_json:
                # That nobody reads makes no success of it.
                with contextlib.suppress(BrokenPipeError):
                    screen.json({"outcome": "void", "why": why})
            raise CommandFault(why)
        case told:
            raise CommandFault(f"the daemon answered with {type(told).__name__}: is it of this command's version?")
