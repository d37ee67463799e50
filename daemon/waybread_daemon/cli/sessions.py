"""`waybread sessions`: the sessions in the store, the last changed first."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from waybread_daemon.cli.looks import Found, all_sessions, chosen_devices, session_fields
from waybread_daemon.cli.options import data_folder, parser_for, take_data, take_device, take_json
from waybread_daemon.cli.screen import Screen, clock, legible
from waybread_daemon.config import STORE_NAME
from waybread_daemon.store.sqlite import open_reader

HEAD = ["CHANGED", "DEVICE", "SESSION", "KIND", "RESULTS", "TITLE"]


def main(words: list[str], environment: Mapping[str, str]) -> int:
    """Prints a line for each session."""
    parser = parser_for(
        "sessions", "Lists sessions, the last changed first.", "waybread sessions", "waybread sessions --json"
    )
    take_data(parser)
    take_device(parser)
    take_json(parser)
    options = parser.parse_args(words)
    with open_reader(data_folder(options.data, environment) / STORE_NAME) as reader:
        devices = chosen_devices(reader, options.device)
        found = [Found(device, session) for device in devices for session in all_sessions(reader, device)]
    found.sort(key=lambda one: one.session.changed_ms, reverse=True)
    screen = Screen(sys.stdout)
    if options.json:
        for one in found:
            screen.json(_as_data(one))
    elif found:
        screen.table([HEAD, *map(_as_cells, found)])
    else:
        screen.line("There are no sessions yet.")
    return 0


def _as_data(found: Found) -> dict[str, object]:
    device, session = found
    return {
        "session": session.session,
        "device": device.device,
        "device_name": device.name,
        **session_fields(session),
    }


def _as_cells(found: Found) -> list[str]:
    device, session = found
    return [
        clock(session.changed_ms),
        legible(f"{device.name} {device.device}"),
        legible(session.session),
        session.kind,
        str(session.results),
        legible(session.title),
    ]
