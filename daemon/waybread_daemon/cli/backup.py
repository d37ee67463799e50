"""`waybread backup`: a checked copy of the store, while the daemon runs or not."""

from __future__ import annotations

import argparse
import datetime as dt
import sys
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from waybread_daemon.cli.faults import CommandFault
from waybread_daemon.cli.options import data_folder, filled, parser_for, path_of, take_data, take_json, whole_number
from waybread_daemon.cli.progress import showing
from waybread_daemon.cli.screen import Screen, reporting, size
from waybread_daemon.config import STORE_NAME
from waybread_daemon.store.sqlite.backup import Backup, back_up, keep_newest, name_in


def main(words: list[str], environment: Mapping[str, str]) -> int:
    """Makes a backup, and with `--keep` removes old ones."""
    options = _options(words)
    began_s = time.monotonic()
    with showing() as progress, _place(options) as target:
        made = back_up(
            data_folder(options.data, environment) / STORE_NAME, target, replace=options.replace, progress=progress
        )
        removed = keep_newest(made.path, options.keep) if options.keep else []
    with reporting(f"the backup is made, checked and is at {made.path}"):
        _tell(Screen(sys.stdout), made, removed, time.monotonic() - began_s, as_json=options.json)
    return 0


def _options(words: list[str]) -> argparse.Namespace:
    parser = parser_for(
        "backup",
        "Copies the store to FILE: one moment of it, checked, synced to the disk, then renamed into place. The daemon may run\n"
        "and go on. Where FILE is a folder, each backup gets a name with its time there, and --keep removes old ones. It\n"
        "holds everything but the settings, waybread.toml; keep it as secret as the store.",
        "waybread backup /mnt/usb/waybread.sqlite",
        "waybread backup /mnt/usb/backups --keep 14",
    )
    parser.add_argument("file", metavar="FILE", type=filled, help="the backup's file, or a folder for it")
    parser.add_argument(
        "--keep",
        metavar="N",
        type=whole_number(1, 100_000),
        help="FILE is a folder: keep the newest N backups of this store in it, remove those before",
    )
    parser.add_argument(
        "--replace", action="store_true", help="where FILE is there already, put the new one in its place"
    )
    take_data(parser)
    take_json(parser)
    options = parser.parse_args(words)
    if options.keep and options.replace:
        parser.error("--keep gives each backup a name of its own, so there is none to --replace: leave one of them out")
    return options


@contextmanager
def _place(options: argparse.Namespace) -> Generator[Path]:
    """The file to make. A folder that is made for it is taken away again where there is no backup in the end.

    Raises `CommandFault`.
    """
    named = path_of(options.file)
    if not (options.keep or options.file.endswith("/") or named.is_dir()):
        if not named.parent.is_dir():
            raise CommandFault(f"there is no folder {named.parent}: make it, or name another FILE")
        yield named
        return
    if named.exists() and not named.is_dir():
        raise CommandFault(f"{named} is a file, and a folder for backups is needed: name another one")
    made = [folder for folder in (named, *named.parents) if not folder.exists()]
    try:
        named.mkdir(mode=0o700, parents=True, exist_ok=True)
        yield name_in(named, dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H-%M-%SZ"))
    except BaseException:
        # Only what is empty can be taken away.
        with suppress(OSError):
            for folder in made:
                folder.rmdir()
        raise


def _tell(screen: Screen, made: Backup, removed: list[Path], took_s: float, *, as_json: bool) -> None:
    if as_json:
        screen.json({"file": str(made.path), "size_bytes": made.size_bytes, "removed": [str(path) for path in removed]})
        return
    screen.sentence(f"{made.path}  {size(made.size_bytes)}, checked, in {took_s:.1f} s")
    for path in removed:
        screen.sentence(f"removed {path}")
