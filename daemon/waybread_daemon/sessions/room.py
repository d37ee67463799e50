"""Room: a quota for each device and a floor of free disk. Beyond them nothing is stored, and whatever only looks goes on.

**The quota is soft by one small request**: whoever is below it may store one more that goes to the disk in one piece.
What is on its way to the disk counts as it came, uncompressed, until it is there; what is written ahead counts piece by
piece, so a large body that does not fit is refused on the way and what was written of it is dropped.

**The floor** is the lesser of so many bytes and so many percent of the file system. The disk is looked at every other
second, in a thread: so nobody waits for it, and the floor can be undercut by what comes in within that time.

Both end by themselves when there is room again: nothing has to be restarted.
"""

from __future__ import annotations

import asyncio
from typing import Protocol

from waybread_daemon.store.contract import Store, StoreFault
from waybread_daemon.store.sizes import Volume
from waybread_protocol.errors import ErrorCode, RequestError

LOOK_INTERVAL_S = 2.0
"""How often the disk is looked at."""
_MIB = 1024 * 1024
DELETION_BYTES = 16 * _MIB
"""With so much free on the disk a session can be deleted, whatever it holds: what it had is purged in small steps."""


class Settings(Protocol):
    """What the settings say of room."""

    @property
    def device_quota_bytes(self) -> int:
        """What one device may take on the disk; 0: whatever there is."""
        ...

    @property
    def free_floor_bytes(self) -> int:
        """What has to stay free on the disk; 0: nothing."""
        ...

    @property
    def free_floor_percent(self) -> int:
        """The same in percent of it. The lesser of both counts."""
        ...


def floor_of(settings: Settings, total_bytes: int) -> int:
    """How many bytes have to stay free on a disk of that size; 0: none."""
    return min(settings.free_floor_bytes, total_bytes * settings.free_floor_percent // 100)


class User(Protocol):
    """A device, as room is counted for it."""

    @property
    def number(self) -> int:
        """Its number in the store."""
        ...

    @property
    def pending_bytes(self) -> int:
        """What is on its way to the disk."""
        ...


class Room:
    """Who may store. Without settings everybody may."""

    def __init__(self, store: Store) -> None:
        self._used_bytes = store.used_bytes
        self._store = store
        self._quota_bytes = 0
        self._settings: Settings | None = None
        self.full = ""
        """Why nobody may store anything, empty where the disk has room."""

    def reconfigure(self, settings: Settings) -> None:
        """Takes other settings. The quota is in force at once, the floor from the next look at the disk."""
        self._quota_bytes = settings.device_quota_bytes
        self._settings = settings

    def check(self, device: User, piece_bytes: int = 1) -> None:
        """Raises `storage_full` where the device may not store so much more."""
        if self.full:
            raise RequestError(ErrorCode.STORAGE_FULL, self.full)
        quota_bytes = self._quota_bytes
        if quota_bytes:
            used_bytes = self._used_bytes(device.number)
            more_bytes = device.pending_bytes + piece_bytes
            if used_bytes + more_bytes > quota_bytes:
                raise RequestError(ErrorCode.STORAGE_FULL, _over_quota(used_bytes, more_bytes, quota_bytes))

    async def run(self) -> None:
        """Looks at the disk until it is cancelled."""
        while True:
            await self.look()
            await asyncio.sleep(LOOK_INTERVAL_S)

    async def look(self) -> None:
        """Looks at the disk once. One that cannot be looked at is taken to be as it was."""
        settings = self._settings
        if settings is None or not (settings.free_floor_bytes and settings.free_floor_percent):
            self.full = ""
            return
        try:
            volume = await self._store.volume()
        except StoreFault:
            return
        floor_bytes = floor_of(settings, volume.total_bytes)
        self.full = (
            f"the disk has {_size(volume.free_bytes)} free, less than the {_size(floor_bytes)} that are kept free on it "
            f"(free_floor_bytes, free_floor_percent). Nothing of this was stored: {_space(volume)}, or lower the floor; "
            "whatever only looks still works"
            if volume.free_bytes < floor_bytes
            else ""
        )


def _space(volume: Volume) -> str:
    """How to get space."""
    if volume.free_bytes < DELETION_BYTES:
        return f"make {_size(DELETION_BYTES)} of space there first, because deleting takes some, then delete sessions"
    return "delete sessions, make space there"


def _over_quota(used_bytes: int, more_bytes: int, quota_bytes: int) -> str:
    taken = f"{_size(used_bytes)} of {_size(quota_bytes)} (device_quota_bytes)"
    if used_bytes >= quota_bytes:
        return (
            f"this device has used up its room: {taken}. Nothing of this was stored: delete sessions of this device, or "
            "raise the quota; whatever only looks still works"
        )
    return (
        f"this does not fit into the room of this device: {taken} are taken, and this, with what is on its way already, "
        f"takes {_size(more_bytes)} or more. Nothing of this was stored: send less, delete sessions of this device, or "
        "raise the quota; whatever only looks still works"
    )


def _size(size_bytes: int) -> str:
    """A size for a person."""
    if size_bytes < _MIB:
        return f"{size_bytes:,} bytes"
    return f"{size_bytes / _MIB:,.1f} MiB"
