"""`waybread conformance`: runs the cases against this package, a running daemon, or another implementation."""

from __future__ import annotations

import argparse
import importlib
import socket
from collections.abc import Mapping
from urllib.parse import urlsplit

from waybread_daemon.cli.faults import CommandFault
from waybread_daemon.cli.options import parser_for

_PACKAGE = "waybread_conformance.targets.package"
"""The module whose `PackageTarget` is this package as a target."""
_ROLES = ("agent", "viewer", "other")
_REACH_TIMEOUT_S = 10


def main(words: list[str], environment: Mapping[str, str]) -> int:  # noqa: ARG001  # it has no settings
    """Prints each case that differs and the counts."""
    parser = parser_for(
        "conformance",
        "Runs the cases for the rules, and against a daemon those for the link. Each case that differs is printed,\n"
        "expected and got side by side. Without --url and --exec, this package is tried in this process.",
        "waybread conformance",
        "waybread conformance --url ws://127.0.0.1:8787/link --token TOKEN",
        "waybread conformance --exec 'node my-implementation.js'",
    )
    parser.add_argument("--url", type=_daemon_url, help="a running daemon")
    parser.add_argument("--token", help="a token of the role `device` there (`waybread device add NAME` makes one)")
    for role in _ROLES:
        whose = "of another device" if role == "other" else f"of the role `{role}`"
        parser.add_argument(f"--{role}-token", metavar="T", help=f"a token {whose}, for the cases that need one")
    parser.add_argument("--exec", metavar="COMMAND", dest="exec_command", help="a program that speaks JSON lines")
    parser.add_argument("--only", metavar="TEXT", default="", help="only the cases whose name holds this")
    options = parser.parse_args(words)
    if (options.url is None) != (not options.token):
        parser.error("--url and --token go together: `waybread device add NAME` makes a token")
    if options.url is not None and options.exec_command is not None:
        parser.error("name one target: --url or --exec")
    tokens = {role: token for role in _ROLES if (token := getattr(options, f"{role}_token"))}
    if tokens and options.url is None:
        parser.error(f"--{next(iter(tokens))}-token is for a running daemon: name it with --url and --token")
    if options.url is not None:
        _reach(options.url)

    from waybread_conformance.run import run

    in_process = options.url is None and options.exec_command is None
    return run(
        url=options.url,
        token=options.token,
        tokens=tokens,
        exec_command=options.exec_command,
        package=importlib.import_module(_PACKAGE).PackageTarget() if in_process else None,
        only=options.only,
    )


def _daemon_url(text: str) -> str:
    try:
        parts = urlsplit(text)
        right = parts.scheme in ("ws", "wss") and parts.hostname and parts.port != 0
    except ValueError:
        right = False
    if not right:
        raise argparse.ArgumentTypeError(f"{text!r} is no daemon's URL: give one like ws://127.0.0.1:8787/link")
    return text


def _reach(url: str) -> None:
    """One sentence where nothing listens there, rather than a failure of every case. Raises `CommandFault`."""
    try:
        parts = urlsplit(url)
        place = (parts.hostname or "", parts.port or (443 if parts.scheme == "wss" else 80))
        socket.create_connection(place, _REACH_TIMEOUT_S).close()
    except (OSError, ValueError) as fault:
        raise CommandFault(f"nothing answers at {url} ({fault}): start the daemon there, or name its URL") from fault
