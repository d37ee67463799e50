"""`waybread restore`: a backup takes the place of the store, which is kept under another name."""

from __future__ import annotations

import datetime as dt
import sys
from collections.abc import Mapping
from pathlib import Path

from waybread_daemon.cli.options import data_folder, filled, parser_for, path_of, take_data, take_json
from waybread_daemon.cli.progress import showing
from waybread_daemon.cli.screen import Screen, reporting
from waybread_daemon.config import STORE_NAME
from waybread_daemon.store.sqlite.restore import Restored, restore
from waybread_daemon.store.sqlite.schema import migrations


def main(words: list[str], environment: Mapping[str, str]) -> int:
    """Restores a backup while no daemon runs."""
    parser = parser_for(
        "restore",
        "Puts a copy of the backup FILE into the place of the store, after it is checked. The daemon must not run. The store\n"
        "from before is kept beside it, under another name. Sessions of the backup are read-only afterwards, because the lost\n"
        "store may have given ids since that a model still knows: open new ones. With --moved they go on: for a backup that was\n"
        "made after its daemon was stopped for good, to move to another machine. Tokens are those of the backup.",
        "waybread restore /mnt/usb/waybread.sqlite",
        "waybread restore waybread.sqlite --moved",
    )
    parser.add_argument(
        "file", metavar="FILE", type=filled, help="a backup, or a store that was copied while it was stopped"
    )
    parser.add_argument("--moved", action="store_true", help="nothing was stored since the backup: its sessions go on")
    take_data(parser)
    take_json(parser)
    options = parser.parse_args(words)
    path = data_folder(options.data, environment) / STORE_NAME
    stamp = dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H-%M-%SZ")
    with showing() as progress:
        restored = restore(path, path_of(options.file), stamp, moved=options.moved, progress=progress)
    with reporting(f"the store at {path} is restored"):
        _tell(Screen(sys.stdout), path, restored, moved=options.moved, as_json=options.json)
    return 0


def _tell(screen: Screen, path: Path, restored: Restored, *, moved: bool, as_json: bool) -> None:
    if as_json:
        screen.json(
            {
                "store": str(path),
                "epoch": restored.epoch,
                "version": restored.version,
                "kept": None if restored.kept is None else str(restored.kept),
                "read_only": not moved,
            }
        )
        return
    screen.sentence(f"restored {path}")
    if restored.kept is not None:
        screen.sentence(f"the store from before is kept as {restored.kept}: remove it when you are sure")
    if moved:
        screen.line("its sessions go on: never start a daemon with the old place again")
    else:
        screen.line("its sessions are read-only: open new ones")
    if restored.version < len(migrations()):
        screen.line(f"it is of version {restored.version}: the daemon brings it up to date when it starts")
