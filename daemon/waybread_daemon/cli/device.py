"""`waybread device`: who may link. Works while a daemon runs; a revoked token's links are closed at once."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path

from waybread_daemon.cli.asking import NotRunning, asking
from waybread_daemon.cli.deletion import confirm, delete, outcome, take_deletion
from waybread_daemon.cli.faults import CommandFault
from waybread_daemon.cli.looks import find_device
from waybread_daemon.cli.options import (
    add_action,
    data_folder,
    made_folder,
    parser_for,
    take_data,
    take_json,
    take_role,
)
from waybread_daemon.cli.screen import Screen, clock, legible
from waybread_daemon.clock import now_ms
from waybread_daemon.config import STORE_NAME
from waybread_daemon.link.accounts import make_device_id, make_token, token_id
from waybread_daemon.link.control.deleting import delete_device
from waybread_daemon.link.control.messages import DeleteDevice, Noted, Revoking
from waybread_daemon.store.contract import Device, Reader, Token
from waybread_daemon.store.sqlite import open_accounts, open_reader

NAME_CHARS = 128
HEAD = ["DEVICE", "NAME", "TOKEN", "ROLE", "MADE", "LAST SEEN", "REVOKED", "TOKEN NAME"]


def main(words: list[str], environment: Mapping[str, str]) -> int:
    """Carries out `device add`, `list`, `rename`, `revoke` or `delete`."""
    options = _options(words)
    folder = made_folder if options.action == "add" else data_folder
    path = folder(options.data, environment) / STORE_NAME
    screen = Screen(sys.stdout)
    match options.action:
        case "add":
            _add(path, screen, options)
        case "list":
            _list(path, screen, options)
        case "rename":
            _rename(path, screen, options)
        case "delete":
            _delete(path, screen, options)
        case _:
            _revoke(path, screen, options)
    return 0


def _options(words: list[str]) -> argparse.Namespace:
    parser = parser_for(
        "device",
        "Makes, lists, renames, revokes and deletes devices and their tokens. Each works while the daemon runs.",
        "waybread device add phone",
        "waybread device list",
    )
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")

    def action(name: str, purpose: str, *examples: str) -> argparse.ArgumentParser:
        return add_action(actions, "device", name, purpose, *examples)

    add = action(
        "add",
        "Makes a device, or a further token of one, and prints the token. It is shown this once: only a hash is kept.",
        "waybread device add phone",
        "waybread device add --device 1f0c9a5e77d1b2c3 --role viewer",
    )
    add.add_argument(
        "name",
        metavar="NAME",
        nargs="?",
        type=good_name,
        help="what people call it; with --device the name of the new token",
    )
    take_role(add)
    add.add_argument("--device", metavar="ID", help="make a further token of this device")
    listing = action("list", "Lists devices and their tokens, by their public ids.", "waybread device list --json")
    rename = action("rename", "Gives a device another name.", "waybread device rename 1f0c9a5e77d1b2c3 'old phone'")
    rename.add_argument("device", metavar="DEVICE", help="the device's id")
    rename.add_argument("name", metavar="NAME", type=good_name, help="its new name")
    revoke = action(
        "revoke",
        "Revokes a token, or all tokens of a device. Live links of it are closed at once; what is stored stays.",
        "waybread device revoke 1f0c9a5e77d1b2c3",
    )
    revoke.add_argument("id", metavar="DEVICE|TOKEN", help="the id of a device or of a token")
    deletion = action(
        "delete",
        "Deletes a device: its tokens end, its links close, its sessions are gone, and the store's file shrinks.",
        "waybread device delete 1f0c9a5e77d1b2c3",
    )
    deletion.add_argument("device", metavar="DEVICE", help="the device's id")
    take_deletion(deletion)
    for subparser in (add, listing, rename, revoke, deletion):
        take_data(subparser)
        take_json(subparser)
    options = parser.parse_args(words)
    if options.action == "add" and options.name is None and options.device is None:
        add.error("a new device needs a NAME; a further token of one needs --device ID")
    return options


def _add(path: Path, screen: Screen, options: argparse.Namespace) -> None:
    if options.device is None:
        device, token = add_device(path, options.name, options.role)
    else:
        with open_reader(path) as reader:
            device = find_device(reader, options.device)
        token = _add_token(path, device, options.role, options.name or "")
    try:
        _show_token(screen, device, options, token)
        screen.flush()
    except OSError as fault:
        # Nobody knows it, and nobody can be told again.
        with open_accounts(path) as accounts:
            accounts.revoke([token_id(token)], now_ms())
        raise CommandFault(
            f"the token could not be shown ({fault.strerror}), so it is revoked: make another one with `waybread device add "
            f"--device {device.device}`"
        ) from fault


def _show_token(screen: Screen, device: Device, options: argparse.Namespace, token: str) -> None:
    if options.json:
        screen.json({"device": device.device, "name": device.name, "role": options.role, "token": token})
        return
    screen.line(f"device  {device.device}")
    screen.line(f"name    {legible(device.name)}")
    screen.line(f"role    {options.role}")
    screen.line(f"token   {token}")
    screen.line("Give the token to the device now: it is not shown again.")


def add_device(path: Path, name: str, role: str) -> tuple[Device, str]:
    """Makes a device in the store at `path`, and a token of it: the whole token, as it is shown once."""
    with open_accounts(path) as accounts:
        device = accounts.add_device(make_device_id(), name, now_ms())
    return device, _add_token(path, device, role, "")


def _add_token(path: Path, device: Device, role: str, name: str) -> str:
    fresh = make_token()
    with open_accounts(path) as accounts:
        accounts.add_token(fresh.token, device.number, role, fresh.secret_hash, now_ms(), name)
    return fresh.text


def _list(path: Path, screen: Screen, options: argparse.Namespace) -> None:
    with open_reader(path) as reader:
        devices, tokens = reader.devices(), reader.tokens()
    owned = {device.number: [token for token in tokens if token.device.number == device.number] for device in devices}
    if options.json:
        for device in devices:
            screen.json(_as_data(device, owned[device.number]))
    elif devices:
        screen.table([HEAD, *(row for device in devices for row in _as_rows(device, owned[device.number]))])
    else:
        screen.line("There are no devices yet: `waybread device add NAME` makes one.")


def _as_data(device: Device, tokens: list[Token]) -> dict[str, object]:
    return {
        "device": device.device,
        "name": device.name,
        "made_ms": device.made_ms,
        "tokens": [
            {
                "token": token.token,
                "role": token.role,
                "made_ms": token.made_ms,
                "seen_ms": token.seen_ms,
                "revoked_ms": token.revoked_ms,
                "name": token.name,
            }
            for token in tokens
        ],
    }


def _as_rows(device: Device, tokens: list[Token]) -> list[list[str]]:
    head = [device.device, legible(device.name)]
    if not tokens:
        return [[*head, "none", "", clock(device.made_ms), "", "", ""]]
    return [
        [
            *head,
            token.token,
            token.role,
            clock(token.made_ms),
            clock(token.seen_ms),
            clock(token.revoked_ms) if token.revoked_ms else "",
            legible(token.name),
        ]
        for token in tokens
    ]


def _rename(path: Path, screen: Screen, options: argparse.Namespace) -> None:
    name: str = options.name
    with open_reader(path) as reader:
        device = find_device(reader, options.device)
    with open_accounts(path) as accounts:
        accounts.rename_device(device.number, name)
    if options.json:
        screen.json({"device": device.device, "name": name})
    else:
        screen.line(f"{device.device} is now called {name}.")


def _delete(path: Path, screen: Screen, options: argparse.Namespace) -> None:
    with open_reader(path) as reader:
        device = find_device(reader, options.device)
        (sessions,) = [sizes.sessions for sizes in reader.sizes() if sizes.device == device.number]
    if not options.yes:
        confirm(f"Delete the device {device.device} ({legible(device.name)}), with its {sessions} sessions?")
    request = DeleteDevice(device=device.device, wait=options.wait)
    freed = delete(path.parent, request, lambda desk: delete_device(desk, device))
    if options.json:
        screen.json({"device": device.device, "name": device.name, "sessions": sessions, "freed_bytes": freed})
    else:
        screen.line(
            f"{device.device} ({legible(device.name)}) is deleted, with its {sessions} sessions. {outcome(freed)}"
        )


def _revoke(path: Path, screen: Screen, options: argparse.Namespace) -> None:
    with open_reader(path) as reader:
        of_device = _tokens_of(reader, options.id)[0]
    if of_device is not None:
        # First: whoever takes a code of it now has a token that is revoked with the others, or none.
        _end_codes(path.parent, of_device)
    with open_reader(path) as reader:
        _, tokens = _tokens_of(reader, options.id)
    names = {token.token: token.name for token in tokens if not token.revoked_ms}
    live = list(names)
    if live:
        with open_accounts(path) as accounts:
            accounts.revoke(live, now_ms())
    if options.json:
        screen.json({"revoked": live})
        return
    for token, name in names.items():
        screen.line(f"revoked {token} ({legible(name)})" if name else f"revoked {token}")
    if not live:
        screen.line(f"{options.id} had no token left to revoke.")


def _end_codes(folder: Path, device: str) -> None:
    """Tells the daemon, where one runs, that no code that is open gives the device a token any more."""
    try:
        with asking(folder) as daemon:
            daemon.ask(Revoking(device=device), Noted)
    except NotRunning:
        # Codes are in the daemon's memory alone.
        return


def _tokens_of(reader: Reader, named: str) -> tuple[str | None, list[Token]]:
    """The one token of that id; or the id of the device that has it, and all its tokens."""
    tokens = reader.tokens()
    one = [token for token in tokens if token.token == named]
    if one:
        return None, one
    try:
        device = find_device(reader, named)
    except CommandFault as fault:
        raise CommandFault(str(fault).replace("no device", "no device or token", 1)) from fault
    return device.device, [token for token in tokens if token.device.number == device.number]


def good_name(name: str) -> str:
    """The type of an argument that names a device."""
    if not name.strip() or len(name) > NAME_CHARS or not name.isprintable():
        raise argparse.ArgumentTypeError(
            f"a device's name has 1 to {NAME_CHARS} characters, not spaces alone, and none of them a control character: name it like 'phone'"
        )
    return name
