"""The store: SQLite, its file, whether everything in it is there and can be read, and what it has too much of."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from waybread_daemon.cli.doctor.findings import Finding, fault, ok, warning
from waybread_daemon.cli.screen import clock, size
from waybread_daemon.clock import now_ms
from waybread_daemon.config import Config
from waybread_daemon.store.contract import StoreFault, StoreRefusal
from waybread_daemon.store.sqlite.connection import LOG_LIMIT_BYTES, refuse_old_sqlite
from waybread_daemon.store.sqlite.copying import Progress
from waybread_daemon.store.sqlite.inspection import Inspection, count_sizes, cut_log, inspect, purge_leftovers, reindex
from waybread_daemon.store.sqlite.place import hold_place, is_held

_INDEX_ONLY = re.compile(
    r"the file: (wrong # of entries in index|row \d+ missing from index|non-unique entry in index) .*"
)
_RESTORE = "stop the daemon, keep a copy of the data folder, and `waybread restore` the newest backup that is whole"
_MOST = 20
_FEW_MS = 60_000
_SANE_MS = 1_735_689_600_000
"""The first of January 2025: this program is younger."""


def sqlite_finding(version: str) -> Finding:
    """Whether the library is one that keeps a log whole."""
    try:
        refuse_old_sqlite(version)
    except StoreRefusal as refusal:
        sentence, _, remedy = str(refusal).rpartition(": ")
        return fault("sqlite", sentence, remedy)
    return ok("sqlite", f"SQLite is {version}")


def store_findings(path: Path, config: Config, progress: Progress) -> Iterator[Finding]:
    """What is to be said of the store at `path`. It is looked at, whether a daemon serves it or not."""
    if not path.exists() or not (path.stat().st_size or path.with_name(path.name + "-wal").exists()):
        yield warning("store", f"there is no store at {path} yet", "start the daemon, which makes one")
        return
    try:
        with inspect(path) as found:
            yield from _looked_at(path, found, config, progress)
    except StoreFault as stopped:
        yield fault("store", f"the store at {path} cannot be read ({stopped.__cause__})", _RESTORE)


def clock_finding(newest_ms: int, now_ms: int) -> Finding:
    """Whether this machine's clock can be right."""
    if now_ms < _SANE_MS:
        return fault(
            "clock", f"this machine's clock says {clock(now_ms)}", "set it, and let it be kept by NTP (`timedatectl`)"
        )
    if newest_ms > now_ms + _FEW_MS:
        return warning(
            "clock",
            f"this machine's clock says {clock(now_ms)}, and the store has something from {clock(newest_ms)}",
            "set the clock, and let it be kept by NTP (`timedatectl`)",
        )
    return ok("clock", f"this machine's clock says {clock(now_ms)}")


def _looked_at(path: Path, found: Inspection, config: Config, progress: Progress) -> Iterator[Finding]:
    if found.version > found.newest_version:
        yield fault(
            "store",
            f"a newer Waybread wrote it (version {found.version}, this one knows up to {found.newest_version})",
            "install that one again",
        )
        return
    if found.version < found.newest_version:
        yield warning(
            "store",
            f"an older Waybread wrote it (version {found.version}, this one's is {found.newest_version})",
            "start the daemon, which brings it up to date, or see what `waybread migrate --dry-run` says",
        )
    yield from _integrity(path, found, progress)
    yield clock_finding(found.newest_ms(), now_ms())
    yield from _quotas(found, config)
    yield from _too_much(path, found)


def _integrity(path: Path, found: Inspection, progress: Progress) -> Iterator[Finding]:
    progress("checking the file", 0, 0)
    faults = found.file_faults()
    if faults and all(_INDEX_ONLY.fullmatch(sentence) for sentence in faults):
        yield fault(
            "integrity",
            f"an index does not fit its table ({faults[0]})",
            "stop the daemon and run `waybread doctor --repair`, which makes the indexes anew from the tables",
            _alone(path, lambda: _reindexed(path)),
        )
        return
    if faults:
        yield from (fault("integrity", sentence, _RESTORE) for sentence in faults[:_MOST])
        return
    yield ok("integrity", f"the file of {size(path.stat().st_size)} is whole")
    lost = found.row_faults(progress)
    yield from (fault("consistency", sentence, _RESTORE) for sentence in lost)
    unread = 0
    for sentence in found.data_faults(progress):
        unread += 1
        if unread <= _MOST:
            yield fault("contents", sentence, _RESTORE)
    if unread > _MOST:
        yield fault("contents", f"{unread - _MOST} more entries or contents cannot be read", _RESTORE)
    # What is lost changes sizes, too.
    uncounted = [] if lost or unread else found.size_faults()
    if uncounted:
        yield fault(
            "sizes",
            f"{len(uncounted)} sizes are wrong ({uncounted[0]})",
            "stop the daemon and run `waybread doctor --repair`, which counts them anew from what is there",
            _alone(path, lambda: _counted(path)),
        )
    if not lost and not unread:
        entries, contents = found.counts()
        yield ok("contents", f"all of {entries} entries and {contents} contents are there, and every hash is right")


def _quotas(found: Inspection, config: Config) -> Iterator[Finding]:
    quota = config.device_quota_bytes
    if not quota:
        return
    for device in found.devices():
        if 10 * device.used_bytes < 9 * quota:
            continue
        sentence = f"the device {device.name!r} takes {size(device.used_bytes)} of its {size(quota)}"
        remedy = "delete sessions of it (`waybread status` names the largest), or raise device_quota_bytes"
        yield (fault if device.used_bytes >= quota else warning)("quota", sentence, remedy)


def _too_much(path: Path, found: Inspection) -> Iterator[Finding]:
    log = path.with_name(path.name + "-wal")
    log_bytes = log.stat().st_size if log.exists() else 0
    if log_bytes > 2 * LOG_LIMIT_BYTES:
        yield warning(
            "log",
            f"the write-ahead log has grown to {size(log_bytes)}, because something keeps reading an old state of the store",
            "end commands and programs that have the store open; `waybread doctor --repair` cuts the log then",
            lambda: _log_cut(path),
        )
    held = is_held(path)
    loose = 0 if held else found.loose()
    if loose:
        yield warning(
            "leftovers",
            f"{loose} contents were written ahead or let go, and no session holds them",
            "start the daemon, which takes them away, or run `waybread doctor --repair`",
            _alone(path, lambda: _purged(path)),
        )


def _alone(path: Path, repair: Callable[[], str]) -> Callable[[], str]:
    """That repair, while no daemon can serve the store."""

    def repaired() -> str:
        lock = hold_place(path)
        try:
            return repair()
        finally:
            os.close(lock)

    return repaired


def _reindexed(path: Path) -> str:
    reindex(path)
    with inspect(path) as found:
        left = found.file_faults()
    if left:
        raise StoreRefusal(f"The indexes were made anew and the file still has a fault ({left[0]}): {_RESTORE}")
    return "made the indexes anew; the file is whole"


def _counted(path: Path) -> str:
    count_sizes(path)
    return "counted all sizes anew"


def _log_cut(path: Path) -> str:
    if not cut_log(path):
        raise StoreRefusal(
            "Somebody still reads an old state of the store: end those commands and programs, and try again"
        )
    return "cut the log"


def _purged(path: Path) -> str:
    purge_leftovers(path)
    return "took away what no session holds"
