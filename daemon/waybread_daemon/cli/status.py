"""`waybread status`: how the daemon is, who is linked, and what takes the room. Works without a daemon, too."""

from __future__ import annotations

import shutil
import sys
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from waybread_daemon.cli.asking import NotRunning, asking
from waybread_daemon.cli.faults import CommandFault
from waybread_daemon.cli.options import data_folder, parser_for, take_data, take_json
from waybread_daemon.cli.screen import Screen, clock, legible, size
from waybread_daemon.config import STORE_NAME, load_config
from waybread_daemon.link.control.messages import AskStatus, Status
from waybread_daemon.sessions.room import floor_of
from waybread_daemon.store.contract import Device, Reader, Token
from waybread_daemon.store.sizes import DeviceSizes, FileSizes, SessionSizes
from waybread_daemon.store.sqlite import open_reader

LARGEST = 10
DEVICES_HEAD = [
    "DEVICE",
    "NAME",
    "LINKS",
    "LAST SEEN",
    "TOKENS",
    "SESSIONS",
    "RAW",
    "STORED",
    "OF QUOTA",
    "TOKEN NAMES",
]
LARGEST_HEAD = ["STORED", "RAW", "RESULTS", "CHANGED", "DEVICE", "SESSION", "TITLE"]


class Limits(NamedTuple):
    """The settings that bound the room; 0: no bound."""

    quota_bytes: int
    floor_bytes: int


class Seen(NamedTuple):
    """What is told of a device."""

    device: Device
    sizes: DeviceSizes
    tokens: list[Token]
    links: int
    seen_ms: int


class Found(NamedTuple):
    """What the store tells."""

    devices: list[tuple[Device, DeviceSizes, list[Token]]]
    largest: list[SessionSizes]
    files: FileSizes


def main(words: list[str], environment: Mapping[str, str]) -> int:
    """Prints the status."""
    parser = parser_for(
        "status",
        "Shows how the daemon is, its devices with their links, sessions and sizes, the largest sessions, and the disk.\n"
        "RAW is what came in, STORED what that takes on the disk. Works without a daemon, too.",
        "waybread status",
        "waybread status --json",
    )
    take_data(parser)
    take_json(parser)
    options = parser.parse_args(words)
    folder = data_folder(options.data, environment)
    status, why = _ask(folder)
    with open_reader(folder / STORE_NAME) as reader:
        found = _look(reader)
    disk = shutil.disk_usage(folder)
    settings = status or load_config(folder, environment, {})
    limits = Limits(settings.device_quota_bytes, floor_of(settings, disk.total))
    links = Counter(link.device for link in status.links) if status else Counter[str]()
    devices = [_seen(device, sizes, tokens, links[device.device]) for device, sizes, tokens in found.devices]
    screen = Screen(sys.stdout)
    if options.json:
        screen.json(
            {
                "daemon": _daemon_data(status, why),
                "devices": [_device_data(seen, limits) for seen in devices],
                "largest_sessions": [_session_data(one, devices) for one in found.largest],
                "data": str(folder),
                "database_bytes": found.files.database_bytes,
                "unused_bytes": found.files.free_bytes,
                "log_bytes": found.files.log_bytes,
                "disk": {"free_bytes": disk.free, "total_bytes": disk.total, "floor_bytes": limits.floor_bytes},
            }
        )
        return 0
    for line in _daemon_lines(status, why):
        screen.sentence(line)
    for line in _room_lines(folder, found.files, disk.free, disk.total, limits):
        screen.sentence(line)
    screen.line()
    _print_devices(screen, devices, limits)
    if found.largest:
        screen.line()
        screen.table([LARGEST_HEAD, *(_session_cells(one, devices) for one in found.largest)])
    return 0


def _ask(folder: Path) -> tuple[Status | None, str]:
    """What the daemon says; or why it says nothing, empty where none runs."""
    try:
        with asking(folder) as daemon:
            return daemon.ask(AskStatus(), Status), ""
    except NotRunning:
        return None, ""
    except CommandFault as fault:
        return None, fault.sentence


def _seen(device: Device, sizes: DeviceSizes, tokens: list[Token], links: int) -> Seen:
    """Its live tokens; it was seen by whichever it had."""
    live = [token for token in tokens if not token.revoked_ms]
    return Seen(device, sizes, live, links, max((token.seen_ms for token in tokens), default=0))


def _look(reader: Reader) -> Found:
    sizes = {one.device: one for one in reader.sizes()}
    tokens = reader.tokens()
    devices = [
        (device, sizes[device.number], [token for token in tokens if token.device.number == device.number])
        for device in reader.devices()
    ]
    return Found(devices, reader.largest_sessions(LARGEST), reader.files())


# --- The daemon and the room -------------------------------------------------------------------------------------------


def _daemon_data(status: Status | None, why: str) -> dict[str, object]:
    if status is None:
        return {"running": None if why else False, "why": why}
    return {
        "running": True,
        "server": status.server,
        "pid": status.pid,
        "started_ms": status.started_ms,
        "address": status.address,
        "ready": status.ready,
        "why": status.why,
        "links": len(status.links),
    }


def _daemon_lines(status: Status | None, why: str) -> list[str]:
    if status is None:
        return [f"daemon    cannot be asked: {why}" if why else "daemon    not running"]
    return [
        f"daemon    {status.server}, process {status.pid}, since {clock(status.started_ms)} ({_ago(status.started_ms)})",
        f"address   {status.address}",
        f"links     {len(status.links)}",
        f"state     {'ready' if status.ready else f'takes nothing new: {status.why}'}",
    ]


def _ago(at_ms: int) -> str:
    minutes = max(0, int(time.time() - at_ms / 1000)) // 60
    for unit, length in (("days", 24 * 60), ("hours", 60)):
        if minutes >= 2 * length:
            return f"{minutes // length} {unit}"
    return f"{minutes} minutes"


def _room_lines(folder: Path, files: FileSizes, free_bytes: int, total_bytes: int, limits: Limits) -> list[str]:
    floor = f"; nothing is stored below {size(limits.floor_bytes)}" if limits.floor_bytes else ""
    unused = f" ({size(files.free_bytes)} of it unused)" if files.free_bytes else ""
    return [
        f"store     {folder}: database {size(files.database_bytes)}{unused}, log {size(files.log_bytes)}",
        f"disk      {size(free_bytes)} of {size(total_bytes)} free{floor}",
    ]


# --- Devices and sessions ----------------------------------------------------------------------------------------------


def _device_data(seen: Seen, limits: Limits) -> dict[str, object]:
    return {
        "device": seen.device.device,
        "name": seen.device.name,
        "links": seen.links,
        "seen_ms": seen.seen_ms,
        "tokens": _roles(seen),
        "sessions": seen.sizes.sessions,
        "raw_bytes": seen.sizes.raw_bytes,
        "stored_bytes": seen.sizes.stored_bytes,
        "purging_bytes": seen.sizes.purging_bytes,
        "quota_bytes": limits.quota_bytes,
        "live_tokens": [
            {"token": token.token, "role": token.role, "seen_ms": token.seen_ms, "name": token.name}
            for token in seen.tokens
        ],
    }


def _print_devices(screen: Screen, devices: list[Seen], limits: Limits) -> None:
    if not devices:
        screen.line("There are no devices yet: `waybread pair NAME` links one.")
        return
    screen.table([DEVICES_HEAD, *(_device_cells(seen, limits) for seen in devices)])


def _device_cells(seen: Seen, limits: Limits) -> list[str]:
    sizes = seen.sizes
    return [
        legible(seen.device.device),
        legible(seen.device.name),
        str(seen.links),
        clock(seen.seen_ms),
        ", ".join(f"{count} {role}" for role, count in _roles(seen).items()) or "none",
        str(sizes.sessions),
        size(sizes.raw_bytes),
        size(sizes.stored_bytes),
        f"{100 * sizes.used_bytes / limits.quota_bytes:.1f} %" if limits.quota_bytes else "no quota",
        ", ".join(legible(token.name) for token in seen.tokens if token.name),
    ]


def _roles(seen: Seen) -> dict[str, int]:
    """Live tokens by role."""
    return dict(sorted(Counter(token.role for token in seen.tokens).items()))


def _session_data(session: SessionSizes, devices: list[Seen]) -> dict[str, object]:
    device = _owner(session, devices)
    return {
        "session": session.session,
        "device": device.device,
        "device_name": device.name,
        "kind": session.kind,
        "title": session.title,
        "results": session.results,
        "changed_ms": session.changed_ms,
        "raw_bytes": session.raw_bytes,
        "stored_bytes": session.stored_bytes,
    }


def _session_cells(session: SessionSizes, devices: list[Seen]) -> list[str]:
    device = _owner(session, devices)
    return [
        size(session.stored_bytes),
        size(session.raw_bytes),
        str(session.results),
        clock(session.changed_ms),
        legible(f"{device.name} {device.device}"),
        legible(session.session),
        legible(session.title),
    ]


def _owner(session: SessionSizes, devices: list[Seen]) -> Device:
    return next(seen.device for seen in devices if seen.device.number == session.device)
