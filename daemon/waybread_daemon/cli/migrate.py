"""`waybread migrate`: brings the store of an older Waybread up to date, or tells and tries what that would do."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from waybread_daemon.cli.options import data_folder, parser_for, take_data, take_json
from waybread_daemon.cli.progress import Shown, showing
from waybread_daemon.cli.screen import Screen, reporting
from waybread_daemon.config import STORE_NAME
from waybread_daemon.store.sqlite.backup import refuse_missing
from waybread_daemon.store.sqlite.migration import Migration, bring_up_to_date, try_out
from waybread_daemon.store.sqlite.place import examine_place, hold_place
from waybread_daemon.store.sqlite.schema import migrations


def main(words: list[str], environment: Mapping[str, str]) -> int:
    """Migrates while no daemon runs; `--dry-run` works beside one and changes nothing."""
    parser = parser_for(
        "migrate",
        "Brings a store that an older Waybread wrote to this one's version, as the daemon does when it starts. A new file is\n"
        "made beside it and takes its place when it is whole; the old one is kept as a backup. With --dry-run the new file is\n"
        "made, checked and thrown away, which works while a daemon runs.",
        "waybread migrate --dry-run",
        "waybread migrate",
    )
    parser.add_argument("--dry-run", action="store_true", help="try it with a copy and change nothing")
    take_data(parser)
    take_json(parser)
    options = parser.parse_args(words)
    path = data_folder(options.data, environment) / STORE_NAME
    examine_place(path)
    refuse_missing(path)
    with showing() as progress:
        done = try_out(path, progress) if options.dry_run else _migrate(path, progress)
    with reporting(f"what was to be done with {path} is done"):
        _tell(Screen(sys.stdout), path, done, dry_run=options.dry_run, as_json=options.json)
    return 0


def _migrate(path: Path, progress: Shown) -> Migration | None:
    lock = hold_place(path)
    try:
        return bring_up_to_date(path, progress=progress)
    finally:
        os.close(lock)


def _tell(screen: Screen, path: Path, done: Migration | None, *, dry_run: bool, as_json: bool) -> None:
    newest = len(migrations())
    if as_json:
        screen.json(
            {
                "store": str(path),
                "version": newest if done is None else done.before,
                "newest": newest,
                "migrated": done is not None and not dry_run,
                "kept": None if done is None or done.kept is None else str(done.kept),
            }
        )
    elif done is None:
        screen.sentence(f"{path} is of version {newest}, the newest: there is nothing to do")
    elif dry_run:
        screen.sentence(
            f"{path} is of version {done.before} and would be brought to version {done.after}: that was tried with a copy, "
            "which was checked and thrown away; nothing was changed"
        )
    else:
        screen.sentence(f"{path} was of version {done.before} and is now of version {done.after}")
        screen.sentence(f"the old store is kept as {done.kept}: remove it when you are sure")
