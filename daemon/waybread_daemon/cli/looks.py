"""Devices and sessions by their ids, as a person names them."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import NamedTuple

from waybread_daemon.cli.faults import CommandFault
from waybread_daemon.cli.screen import legible
from waybread_daemon.store.contract import Device, Reader, SessionFacts

_SESSIONS_A_LOOK = 500


class Found(NamedTuple):
    """A session and the device that it is of."""

    device: Device
    session: SessionFacts


def find_device(reader: Reader, device: str) -> Device:
    """The device of that id. Raises `CommandFault`, which helps where a name was given."""
    devices = reader.devices()
    for known in devices:
        if known.device == device:
            return known
    named = [known.device for known in devices if known.name == device]
    hint = (
        f"the id of the device of that name is {' or '.join(named)}" if named else "`waybread device list` shows them"
    )
    raise CommandFault(f"there is no device with the id {device!r}: {hint}")


def chosen_devices(reader: Reader, device: str | None) -> list[Device]:
    """The device of that id, or all."""
    return reader.devices() if device is None else [find_device(reader, device)]


def all_sessions(reader: Reader, device: Device) -> Iterator[SessionFacts]:
    """Every session of a device that is there, last changed first."""
    before = 0
    while True:
        page = reader.sessions(device.number, before, _SESSIONS_A_LOOK)
        yield from page
        if len(page) < _SESSIONS_A_LOOK:
            return
        before = page[-1].head


def find_session(reader: Reader, session: str, device: str | None) -> Found:
    """The session of that id. Raises `CommandFault` where there is none, or one on each of several devices."""
    devices = chosen_devices(reader, device)
    known = [Found(owner, facts) for owner in devices if (facts := reader.session(owner.number, session)) is not None]
    there = [found for found in known if not found.session.gone]
    if len(there) == 1:
        return there[0]
    if there:
        owners = " or ".join(f"{found.device.device} ({legible(found.device.name)})" for found in there)
        raise CommandFault(f"several devices have a session {session!r}: name one with --device, {owners}")
    if known:
        raise CommandFault(f"the session {session!r} was deleted, and all that it stored with it")
    names = [facts.session for owner in devices for facts in all_sessions(reader, owner)]
    near = difflib.get_close_matches(session, names, 1, 0.6)
    ask = f"is it {near[0]!r}? " if near else ""
    raise CommandFault(f"there is no session {session!r}: {ask}`waybread sessions` lists them")


def session_fields(session: SessionFacts) -> dict[str, object]:
    """What is told of a session behind its id, in this order."""
    return {
        "kind": session.kind,
        "title": session.title,
        "directory": session.directory,
        "results": session.results,
        "turn": session.turn,
        "head": session.head,
        "read_only": session.read_only,
        "opened_ms": session.opened_ms,
        "changed_ms": session.changed_ms,
    }
