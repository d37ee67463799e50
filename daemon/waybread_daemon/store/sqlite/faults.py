"""What SQLite's errors are for a caller: a `StoreFault` with a sentence that says what to do."""

from __future__ import annotations

import errno
from pathlib import Path

import apsw

from waybread_daemon.store.contract import StoreFault, StoreRefusal
from waybread_daemon.store.sqlite.heads import no_database
from waybread_protocol.errors import ErrorCode

_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def fault_of(error: Exception, path: Path, system_errno: int = 0) -> StoreFault:
    """The fault for an error. `system_errno` is the connection's: SQLite calls a full quota an I/O error."""
    if isinstance(error, StoreFault):
        return error
    if isinstance(error, apsw.FullError) or (isinstance(error, apsw.IOError) and system_errno in _NO_ROOM):
        fault = StoreFault(
            ErrorCode.STORAGE_FULL,
            f"The disk or quota that holds {path} is full. Nothing of this was stored: "
            "free some space there and send it again (deleting sessions takes some, too); whatever only looks still works.",
        )
    elif isinstance(error, apsw.BusyError):
        fault = StoreFault(
            ErrorCode.INTERNAL,
            f"Another process keeps {path} locked. Nothing of this was stored: send it again once that one is done.",
        )
    else:
        fault = StoreFault(
            ErrorCode.INTERNAL,
            f"The store at {path} gave an error ({type(error).__name__}: {error}). Nothing of this was stored: "
            "send it again, and look at the disk if that does not help.",
        )
    fault.__cause__ = error
    return fault


def refusal_of(error: apsw.Error, path: Path) -> StoreRefusal:
    """Why the store cannot be opened, for an error that came up while it was."""
    if isinstance(error, apsw.NotADBError):
        refusal = no_database(path)
    elif isinstance(error, apsw.FullError):
        refusal = StoreRefusal(f"The disk or quota that holds {path} is full: free some space there and start again.")
    else:
        refusal = StoreRefusal(
            f"The store at {path} cannot be opened ({type(error).__name__}: {error}): "
            "start again, and look at the disk if that does not help."
        )
    refusal.__cause__ = error
    return refusal


def damage_fault(what: str) -> StoreFault:
    """What is read is not what was written: no text is made of it."""
    return StoreFault(
        ErrorCode.INTERNAL,
        f"The store is damaged: {what} has another checksum than when it was written, so nothing is shown of it. "
        "`waybread doctor` tells what else is; the disk may be failing, and a backup may have it whole.",
    )


def sequence_fault(device: int, seq: int, expected: int) -> StoreFault:
    """A record that is not the next of its log: a fault of the caller's, kept from the disk."""
    return StoreFault(
        ErrorCode.INTERNAL,
        f"Record {seq} of the log of device {device} came where {expected} is next. Nothing of this was stored: "
        "send it again.",
    )


def content_fault(sha256: bytes) -> StoreFault:
    """Content that was there when the record was made and is there no more: the next try will ask for it."""
    return StoreFault(
        ErrorCode.INTERNAL,
        f"The content {sha256.hex()} is no longer stored, because the last session that held it was deleted. "
        "Nothing of this was stored: send it again with the content.",
    )
