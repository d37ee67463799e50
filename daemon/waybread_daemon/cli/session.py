"""`waybread session delete`: a session and all that it stored, gone for good."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping

from waybread_daemon.cli.deletion import confirm, delete, outcome, take_deletion
from waybread_daemon.cli.looks import find_session
from waybread_daemon.cli.options import (
    add_action,
    data_folder,
    parser_for,
    take_data,
    take_device,
    take_json,
    take_session,
)
from waybread_daemon.cli.screen import Screen, legible
from waybread_daemon.config import STORE_NAME
from waybread_daemon.link.control.deleting import delete_session
from waybread_daemon.link.control.messages import DeleteSession
from waybread_daemon.store.sqlite import open_reader


def main(words: list[str], environment: Mapping[str, str]) -> int:
    """Carries out `session delete`."""
    options = _options(words)
    folder = data_folder(options.data, environment)
    with open_reader(folder / STORE_NAME) as reader:
        device, session = find_session(reader, options.session, options.device)
    if not options.yes:
        confirm(
            f"Delete the session {session.session!r} of {legible(device.name)}, with its {session.results} results?"
        )
    freed = delete(
        folder,
        DeleteSession(device=device.device, session=session.session, wait=options.wait),
        lambda desk: delete_session(desk, device, session.session),
    )
    screen = Screen(sys.stdout)
    if options.json:
        screen.json({"device": device.device, "session": session.session, "freed_bytes": freed})
    else:
        screen.line(f"The session {session.session!r} of {legible(device.name)} is deleted. {outcome(freed)}")
    return 0


def _options(words: list[str]) -> argparse.Namespace:
    parser = parser_for(
        "session",
        "Deletes a session with all that it stored. `waybread sessions` lists them, `waybread transcript` shows one.",
        "waybread session delete my-session",
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    deletion = add_action(
        actions,
        "session",
        "delete",
        "Deletes a session with all that it stored, so that the store's file shrinks. Works while a daemon runs, too.",
        "waybread session delete my-session",
        "waybread session delete my-session --device 1f0c9a5e77d1b2c3 --yes",
    )
    take_session(deletion)
    take_device(deletion)
    take_deletion(deletion)
    take_data(deletion)
    take_json(deletion)
    options = parser.parse_args(words)
    if options.action is None:
        parser.error("say what to do: `delete SESSION` is all there is here; `waybread sessions` lists sessions")
    return options
