"""What stored things take, as a store tells it.

*Raw* is what came in: arguments, bodies and contents, uncompressed. *Stored* is what that takes on the disk: compressed,
with the rows around it and a share of the indexes, but without the pages that the file keeps free. A file's content
counts once in a session that holds it, and once in its device, however many sessions hold it: so the sessions of a
device may come to more than the device. `device` is the store's number of it everywhere here.
"""

from __future__ import annotations

import msgspec


class DeviceSizes(msgspec.Struct, frozen=True):
    """A device's sessions that are there, and what they take.

    `purging_bytes` is what deleted sessions of it still take on the disk; it falls to 0 while they are purged.
    """

    device: int
    sessions: int
    raw_bytes: int
    stored_bytes: int
    purging_bytes: int

    @property
    def used_bytes(self) -> int:
        """What counts against the device's quota."""
        return self.stored_bytes + self.purging_bytes


class SessionSizes(msgspec.Struct, frozen=True):
    """A session that is there, and what it takes. `session` is the client's id."""

    device: int
    session: str
    kind: str
    title: str
    results: int
    changed_ms: int
    raw_bytes: int
    stored_bytes: int


class OldSession(msgspec.Struct, frozen=True):
    """A session that has not changed for long. `head` is its last `seq`."""

    device: int
    session: str
    head: int


class FileSizes(msgspec.Struct, frozen=True):
    """The store's files. Of `database_bytes`, `free_bytes` are pages that hold nothing and are used again first."""

    database_bytes: int
    log_bytes: int
    free_bytes: int


class Volume(msgspec.Struct, frozen=True):
    """The file system that holds the store: what this process may still write, and all of it."""

    free_bytes: int
    total_bytes: int
