"""`waybread serve`: the daemon in the foreground."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Mapping
from typing import get_args

from waybread_daemon import VERSION
from waybread_daemon.cli.options import filled, made_folder, parser_for, take_data, whole_number
from waybread_daemon.config import LogLevel, load_config


def main(words: list[str], environment: Mapping[str, str]) -> int:
    """Serves until SIGTERM or SIGINT. The first line on standard output says where."""
    parser = parser_for(
        "serve",
        "Runs the daemon in the foreground. When it takes connections, its first line on standard output is\n"
        "`waybread listening on ws://HOST:PORT/link`; its log goes to standard error. SIGTERM and Ctrl-C let it finish\n"
        "what is under way.",
        "waybread serve --port 8787",
        "waybread serve --data /srv/waybread --log-level debug",
    )
    take_data(parser)
    parser.add_argument("--host", type=filled, help="the address to listen on (127.0.0.1)")
    parser.add_argument("--port", type=whole_number(0, 65535), help="the port to listen on (8787; 0 takes a free one)")
    parser.add_argument(
        "--allow-plaintext",
        action="store_true",
        default=None,
        help="listen beyond this machine although the daemon does not encrypt by itself yet; "
        "without it, put a reverse proxy or Tailscale in front",
    )
    parser.add_argument("--log-level", choices=get_args(LogLevel), help="what the log tells (info)")
    options = parser.parse_args(words)
    data = made_folder(options.data, environment)
    names = ("host", "port", "allow_plaintext", "log_level")
    flags = {name: given for name in names if (given := getattr(options, name)) is not None}
    config = load_config(data, environment, flags)

    # Late: a wrong setting is told at once.
    from waybread_daemon.logs import make_log
    from waybread_daemon.serving import AddressRefusal, run

    log = make_log(config.log_level, colors="NO_COLOR" not in environment)
    try:
        run(data, config, f"waybread/{VERSION}", log, _announce)
    except AddressRefusal as refusal:
        print(f"waybread: {refusal}", file=sys.stderr)
        return 1
    return 0


def _announce(address: str) -> None:
    # Nobody has to read it: a daemon whose standard output is closed serves all the same.
    with contextlib.suppress(OSError):
        print(f"waybread listening on {address}", flush=True)
