"""What SQLite's errors are for a caller."""

import errno
from pathlib import Path

import apsw
import pytest

from waybread_daemon.store.contract import StoreFault
from waybread_daemon.store.sqlite.faults import content_fault, fault_of, sequence_fault

PATH = Path("/data/store.sqlite")


@pytest.mark.parametrize(
    "error,system_errno",
    [
        (apsw.FullError("full"), 0),
        (apsw.IOError("io"), errno.ENOSPC),
        (apsw.IOError("io"), errno.EDQUOT),
    ],
)
def test_no_room_is_storage_full_and_says_to_free_some(error: apsw.Error, system_errno: int) -> None:
    fault = fault_of(error, PATH, system_errno)
    assert fault.code == "storage_full"
    assert fault.__cause__ is error
    assert str(fault) == (
        "storage_full: The disk or quota that holds /data/store.sqlite is full. Nothing of this was stored: "
        "free some space there and send it again (deleting sessions takes some, too); whatever only looks still works."
    )


def test_any_other_error_of_the_disk_is_internal() -> None:
    fault = fault_of(apsw.IOError("disk I/O error"), PATH, errno.EIO)
    assert fault.code == "internal"
    assert "/data/store.sqlite gave an error (IOError: disk I/O error)" in fault.sentence


def test_a_lock_that_another_process_keeps_is_named() -> None:
    fault = fault_of(apsw.BusyError("database is locked"), PATH)
    assert fault.code == "internal"
    assert "Another process keeps /data/store.sqlite locked" in fault.sentence


def test_a_fault_stays_what_it_is() -> None:
    for fault in (content_fault(b"\x01" * 32), sequence_fault(1, 5, 3)):
        assert fault_of(fault, PATH) is fault
        assert isinstance(fault, StoreFault)
        assert fault.code == "internal"
