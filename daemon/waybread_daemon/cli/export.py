"""`waybread export`: a session as JSON Lines, with every text, every body in full, and the contents of its files."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from waybread_daemon.cli.exporting import Exporter
from waybread_daemon.cli.looks import find_session
from waybread_daemon.cli.options import data_folder, parser_for, take_data, take_device, take_session
from waybread_daemon.cli.screen import Screen
from waybread_daemon.clock import now_ms
from waybread_daemon.config import STORE_NAME
from waybread_daemon.store.sqlite.blocking import open_looks


def main(words: list[str], environment: Mapping[str, str]) -> int:
    """Prints the session's lines. The last one says that it is all."""
    parser = parser_for(
        "export",
        "Prints a session as JSON Lines: a head, each entry of the transcript with its whole text, behind each result its\n"
        "body in full, then the contents of files that the session holds, and an end. README.md describes the lines.",
        "waybread export my-session > my-session.jsonl",
    )
    take_session(parser)
    take_device(parser)
    take_data(parser)
    options = parser.parse_args(words)
    screen = Screen(sys.stdout)
    with open_looks(data_folder(options.data, environment) / STORE_NAME) as looks:
        with looks.snapshot() as reader:
            found = find_session(reader, options.session, options.device)
        for piece in Exporter(looks, found, now_ms()).pieces():
            screen.text(piece)
    screen.flush()
    return 0
