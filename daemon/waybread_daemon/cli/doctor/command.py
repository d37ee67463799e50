"""The command: every check in turn, each finding printed when it is there, and repaired where that is asked for."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import apsw

from waybread_daemon.cli.doctor.findings import Finding
from waybread_daemon.cli.doctor.place import place_findings, refused
from waybread_daemon.cli.doctor.reach import reach_findings
from waybread_daemon.cli.doctor.store import clock_finding, sqlite_finding, store_findings
from waybread_daemon.cli.doctor.surroundings import certificate_findings, disk_finding, read_settings
from waybread_daemon.cli.options import data_folder, parser_for, take_data, take_json
from waybread_daemon.cli.progress import showing
from waybread_daemon.cli.screen import Screen
from waybread_daemon.clock import now_ms
from waybread_daemon.config import STORE_NAME
from waybread_daemon.store.contract import StoreFault, StoreRefusal
from waybread_daemon.store.sqlite.copying import Progress


def main(words: list[str], environment: Mapping[str, str]) -> int:
    """Prints the findings. 1 where a fault is left."""
    parser = parser_for(
        "doctor",
        "Looks at the settings, the data folder, the store (all of it: in a large one that takes minutes), the disk, the clock,\n"
        "the certificate and the address, and says what is wrong and what to do. The daemon may run. Nothing is changed,\n"
        "unless --repair is given, and that only does what loses nothing. Exit status 1: a fault is left.",
        "waybread doctor",
        "waybread doctor --repair",
    )
    parser.add_argument(
        "--repair",
        action="store_true",
        help="tighten permissions, make broken indexes anew, cut an overgrown log, take away what was left half made",
    )
    take_data(parser)
    take_json(parser)
    options = parser.parse_args(words)
    path = data_folder(options.data, environment) / STORE_NAME
    screen = Screen(sys.stdout)
    left = {"ok": 0, "warning": 0, "fault": 0}
    with showing() as progress:
        for finding in _findings(path, environment, progress):
            progress.clear()
            done, why_not = _repair(finding) if options.repair else ("", "")
            left["ok" if done else finding.level] += 1
            _tell(screen, finding, done, why_not, as_json=options.json)
    if not options.json:
        screen.line(f"{left['fault']} faults, {left['warning']} warnings")
    return 1 if left["fault"] else 0


def _findings(path: Path, environment: Mapping[str, str], progress: Progress) -> Iterator[Finding]:
    yield sqlite_finding(apsw.sqlite_lib_version())
    stopped = refused(path)
    if stopped is not None:
        # As another user even a look could leave files that the daemon cannot open.
        yield stopped
        return
    folder, at_ms = path.parent, now_ms()
    config, settings = read_settings(folder, environment)
    yield from settings
    yield from place_findings(path)
    yield disk_finding(folder, config)
    yield from certificate_findings(config, at_ms)
    yield from reach_findings(path, config)
    if not path.exists():
        yield clock_finding(0, at_ms)
    yield from store_findings(path, config, progress)


def _repair(finding: Finding) -> tuple[str, str]:
    """What was done about it, or why it could not be."""
    if finding.repair is None:
        return "", ""
    try:
        return finding.repair(), ""
    except StoreFault as fault:
        return "", fault.sentence
    except (StoreRefusal, OSError) as fault:
        return "", str(fault)


def _tell(screen: Screen, finding: Finding, done: str, why_not: str, *, as_json: bool) -> None:
    if as_json:
        screen.json(
            {
                "level": finding.level,
                "check": finding.check,
                "sentence": finding.sentence,
                "remedy": finding.remedy,
                "repaired": done,
                "not_repaired": why_not,
            }
        )
        return
    screen.sentence(f"{finding.level:<8} {finding.check}: {finding.sentence}")
    if done:
        screen.sentence(f"{'':<8} repaired: {done}")
    elif finding.remedy:
        screen.sentence(f"{'':<8} what to do: {finding.remedy}")
    if why_not:
        screen.sentence(f"{'':<8} not repaired: {why_not}")
    screen.flush()
