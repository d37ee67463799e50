"""`waybread serve`: the daemon in the foreground."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Mapping
from typing import get_args

from waybread_daemon import VERSION
from waybread_daemon.cli.options import data_folder, filled, parser_for, take_data, whole_number
from waybread_daemon.config import STORE_NAME, Config, LogLevel, load_config, span
from waybread_daemon.life.early import end_at_once
from waybread_daemon.store.sqlite.place import examine_place


def main(words: list[str], environment: Mapping[str, str]) -> int:
    """Serves until SIGTERM or SIGINT. The first line on standard output says where."""
    # Before anything is under way a signal ends the process, whatever it waits for.
    end_at_once()
    parser = parser_for(
        "serve",
        "Runs the daemon in the foreground. When it takes connections, its first line on standard output is\n"
        "`waybread listening on ws://HOST:PORT/link`; its log goes to standard error. SIGTERM and Ctrl-C let it finish\n"
        "what is under way; SIGHUP makes it read its settings again.\n\n"
        "Settings in waybread.toml in the data folder, or in capitals behind WAYBREAD_ in the environment:\n"
        + _settings(),
        "waybread serve --port 8787",
        "waybread serve --host 0.0.0.0 --tls-cert fullchain.pem --tls-key privkey.pem",
        "waybread serve --data /srv/waybread --log-level debug",
    )
    take_data(parser)
    parser.add_argument("--host", type=filled, help="the address to listen on (127.0.0.1)")
    parser.add_argument("--port", type=whole_number(0, 65535), help="the port to listen on (8787; 0 takes a free one)")
    parser.add_argument(
        "--allow-plaintext",
        action="store_true",
        default=None,
        help="listen beyond this machine without encryption; better: --tls-cert and --tls-key, a reverse proxy or "
        "Tailscale in front",
    )
    parser.add_argument("--tls-cert", metavar="FILE", type=filled, help="encrypt: the certificate's chain, a PEM file")
    parser.add_argument(
        "--tls-key", metavar="FILE", type=filled, help="its private key, a PEM file without a passphrase"
    )
    parser.add_argument("--log-level", choices=get_args(LogLevel), help="what the log tells (info)")
    options = parser.parse_args(words)
    data = data_folder(options.data, environment)
    # Before the settings: of a folder that cannot be ours nothing is read, and where something is wrong nothing is made.
    examine_place(data / STORE_NAME)
    names = ("host", "port", "allow_plaintext", "tls_cert", "tls_key", "log_level")
    flags = {name: given for name in names if (given := getattr(options, name)) is not None}

    def read_settings() -> Config:
        return load_config(data, environment, flags)

    config = read_settings()

    # Late: a wrong setting is told at once.
    from waybread_daemon.cli.doctor.place import permission_findings
    from waybread_daemon.life.notify import Notifier
    from waybread_daemon.life.reports import report_crashes
    from waybread_daemon.life.signals import Signals
    from waybread_daemon.life.surroundings import Surroundings
    from waybread_daemon.logs import Level, make_log
    from waybread_daemon.serving import AddressRefusal, run

    level = Level(config.log_level)
    log = make_log(level, colors="NO_COLOR" not in environment)
    report_crashes(log)
    for finding in permission_findings(data / STORE_NAME):
        log.warning("open_to_others", why=finding.sentence, remedy=finding.remedy)
    signals = Signals()
    signals.install()
    around = Surroundings(signals, Notifier.take(os.environ), read_settings, level.set)
    status = 0
    try:
        run(data, config, f"waybread/{VERSION}", log, _announce, around=around)
    except AddressRefusal as refusal:
        print(f"waybread: {refusal}", file=sys.stderr)
        status = 1
    signals.shut()
    return status


def _settings() -> str:
    """All settings, with what each may be."""
    return "\n".join(f"  {name:<24}{span(name)}" for name in Config.__struct_fields__)


def _announce(address: str) -> None:
    # Nobody has to read it: a daemon whose standard output is closed serves all the same.
    with contextlib.suppress(OSError):
        print(f"waybread listening on {address}", flush=True)
