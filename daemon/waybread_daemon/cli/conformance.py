"""`waybread conformance`: runs the cases against this package, a running daemon, or another implementation."""

from __future__ import annotations

import argparse
import importlib
import itertools
import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from waybread_daemon.cli.faults import CommandFault
from waybread_daemon.cli.options import parser_for
from waybread_daemon.cli.title import scrub
from waybread_daemon.config import TOKENS

_PACKAGE = "waybread_conformance.targets.package"
"""The module whose `PackageTarget` is this package as a target."""
_ROLES = ("agent", "viewer", "other")
_REACH_TIMEOUT_S = 10


def main(words: list[str], environment: Mapping[str, str]) -> int:
    """Prints each case that differs and the counts."""
    scrub(_given(words))
    parser = parser_for(
        "conformance",
        "Runs the cases for the rules, and against a daemon those for the link. Each case that differs is printed,\n"
        "expected and got side by side. Without --url and --exec, this package is tried in this process.\n"
        "Anybody on this machine may see a command's words for a moment, so give tokens in WAYBREAD_TOKEN,\n"
        "WAYBREAD_AGENT_TOKEN, WAYBREAD_VIEWER_TOKEN and WAYBREAD_OTHER_TOKEN, or as @FILE, or as - for standard input.",
        "waybread conformance",
        "WAYBREAD_TOKEN=... waybread conformance --url ws://127.0.0.1:8787/link",
        "waybread conformance --url ws://127.0.0.1:8787/link --token @token.txt",
        "waybread conformance --exec 'node my-implementation.js'",
    )
    parser.add_argument("--url", type=_daemon_url, help="a running daemon")
    parser.add_argument(
        "--token", type=_token, help="a token of the role `device` there (`waybread device add NAME` makes one)"
    )
    for role in _ROLES:
        whose = "of another device" if role == "other" else f"of the role `{role}`"
        parser.add_argument(
            f"--{role}-token", metavar="T", type=_token, help=f"a token {whose}, for the cases that need one"
        )
    parser.add_argument("--exec", metavar="COMMAND", dest="exec_command", help="a program that speaks JSON lines")
    parser.add_argument("--only", metavar="TEXT", default="", help="only the cases whose name holds this")
    options = parser.parse_args(words)
    if options.url is not None:
        for variable, name in TOKENS.items():
            if getattr(options, name) is None and variable in environment:
                setattr(options, name, environment[variable])
    if (options.url is None) != (not options.token):
        parser.error("--url and --token (or WAYBREAD_TOKEN) go together: `waybread device add NAME` makes a token")
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


def _given(words: list[str]) -> list[str]:
    """The values of all flags that take a token, as they stand on the command line."""
    flags = {f"--{name.replace('_', '-')}" for name in TOKENS.values()}
    apart = [value for flag, value in itertools.pairwise(words) if flag in flags]
    return apart + [value for flag, _, value in (word.partition("=") for word in words) if flag in flags]


def _token(text: str) -> str:
    """The type of an argument that is a token, or says where one is."""
    if text == "-":
        return sys.stdin.readline().strip()
    if not text.startswith("@"):
        return text
    try:
        return Path(text[1:]).read_text("utf-8").strip()
    except (OSError, ValueError) as fault:
        raise argparse.ArgumentTypeError(
            f"{text[1:]} cannot be read ({fault}): name a file that holds the token"
        ) from fault


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
