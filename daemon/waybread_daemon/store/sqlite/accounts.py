"""Devices and tokens: the statements, for whoever has a connection with a transaction open.

Each change raises `accounts_version`, so that a daemon hears of what a command changed in another process.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import apsw

from waybread_daemon.store.contract import Device, StoreFault, Token
from waybread_daemon.store.sqlite.checksums import seal
from waybread_daemon.store.sqlite.statements import run, value
from waybread_protocol.errors import ErrorCode

_WITH_DEVICE = (
    "SELECT t.token, t.role, t.secret_hash, t.made_ms, t.seen_ms, t.revoked_ms, t.name, d.number, d.device, d.name, d.made_ms "
    "FROM token AS t JOIN device AS d ON d.number = t.device "
)


def add_device(cursor: apsw.Cursor, device: str, name: str, at_ms: int) -> Device:
    """Makes a device; its public id must be new."""
    number = value(
        cursor, "INSERT INTO device (device, name, made_ms) VALUES (?, ?, ?) RETURNING number", device, name, at_ms
    )
    seal(cursor, "device", "number = ?", number)
    _changed(cursor)
    return Device(number, device, name, at_ms)


def add_token(
    cursor: apsw.Cursor, token: str, device: int, role: str, secret_hash: bytes, at_ms: int, name: str = ""
) -> None:
    """Makes a token of a device; its public id must be new. Raises `StoreFault` where the device was deleted meanwhile."""
    if run(cursor, "SELECT 1 FROM device WHERE number = ? AND gone_ms > 0", device):
        raise StoreFault(ErrorCode.INTERNAL, "This device was deleted: make another one, and a token of that.")
    run(
        cursor,
        "INSERT INTO token (token, device, role, secret_hash, made_ms, name) VALUES (?, ?, ?, ?, ?, ?)",
        token,
        device,
        role,
        secret_hash,
        at_ms,
        name,
    )
    seal(cursor, "token", "token = ?", token)
    _changed(cursor)


def rename_device(cursor: apsw.Cursor, device: int, name: str) -> None:
    """Gives a device another name."""
    run(cursor, "UPDATE device SET name = ? WHERE number = ?", name, device)
    seal(cursor, "device", "number = ?", device)
    _changed(cursor)


def revoke(cursor: apsw.Cursor, tokens: Sequence[str], at_ms: int) -> None:
    """Revokes tokens. Those revoked already keep their time."""
    for token in tokens:
        run(cursor, "UPDATE token SET revoked_ms = ? WHERE token = ? AND revoked_ms = 0", at_ms, token)
        seal(cursor, "token", "token = ?", token)
    _changed(cursor)


class DeletedDevice(NamedTuple):
    """How many sessions it had, and the numbers of all that it ever had."""

    sessions: int
    to_purge: list[int]


def delete_device(cursor: apsw.Cursor, device: int, at_ms: int) -> DeletedDevice:
    """Deletes a device: its tokens are revoked, its sessions are deleted and to be purged."""
    sessions = value(cursor, "SELECT count(*) FROM session WHERE device = ? AND state = 0", device)
    run(cursor, "UPDATE device SET gone_ms = ? WHERE number = ? AND gone_ms = 0", at_ms, device)
    run(cursor, "UPDATE token SET revoked_ms = ? WHERE device = ? AND revoked_ms = 0", at_ms, device)
    seal(cursor, "device", "number = ?", device)
    seal(cursor, "token", "device = ?", device)
    _changed(cursor)
    numbers = run(cursor, "UPDATE session SET state = 1 WHERE device = ? RETURNING number", device)
    return DeletedDevice(sessions, [number for (number,) in numbers])


def note_seen(cursor: apsw.Cursor, seen: Mapping[str, int]) -> None:
    """Notes when tokens were last used. No change of accounts: nobody has to hear of it."""
    for token, at_ms in seen.items():
        run(cursor, "UPDATE token SET seen_ms = max(seen_ms, ?) WHERE token = ?", at_ms, token)
        seal(cursor, "token", "token = ?", token)


def token_of(cursor: apsw.Cursor, token: str) -> Token | None:
    """A token by its public id."""
    rows = run(cursor, _WITH_DEVICE + "WHERE t.token = ?", token)
    return _token(*rows[0]) if rows else None


def all_tokens(cursor: apsw.Cursor) -> list[Token]:
    """All tokens but those of deleted devices, by device and time."""
    return [
        _token(*row) for row in run(cursor, _WITH_DEVICE + "WHERE d.gone_ms = 0 ORDER BY d.number, t.made_ms, t.token")
    ]


def all_devices(cursor: apsw.Cursor) -> list[Device]:
    """All devices but deleted ones, in the order in which they were made."""
    there = "SELECT number, device, name, made_ms FROM device WHERE gone_ms = 0 ORDER BY number"
    return [Device(*row) for row in run(cursor, there)]


def accounts_version(cursor: apsw.Cursor) -> int:
    """Rises with every change."""
    return int(value(cursor, "SELECT value FROM meta WHERE name = 'accounts_version'"))


def _changed(cursor: apsw.Cursor) -> None:
    run(cursor, "UPDATE meta SET value = value + 1 WHERE name = 'accounts_version'")


def _token(
    token: str,
    role: str,
    secret_hash: bytes,
    made_ms: int,
    seen_ms: int,
    revoked_ms: int,
    name: str,
    number: int,
    device: str,
    device_name: str,
    device_made_ms: int,
) -> Token:
    owner = Device(number, device, device_name, device_made_ms)
    return Token(token, owner, role, secret_hash, made_ms, seen_ms, revoked_ms, name)
