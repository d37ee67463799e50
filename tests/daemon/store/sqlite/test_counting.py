"""Sizes counted anew from what is there: a number that is wrong is told, and set right."""

from pathlib import Path

import pytest

from tests.daemon.store.filled import sql
from waybread_daemon.store.sqlite.connection import close, connect
from waybread_daemon.store.sqlite.contents_check import first_fault
from waybread_daemon.store.sqlite.counting import count_anew, size_faults

ALL = (
    "SELECT raw_bytes, stored_bytes, files_raw_bytes, files_stored_bytes FROM session "
    "UNION ALL SELECT files_raw_bytes, files_stored_bytes, 0, 0 FROM device "
    "UNION ALL SELECT stored_bytes, 0, 0, 0 FROM content"
)


def faults(path: Path) -> list[str]:
    connection = connect(path, None)
    try:
        return list(size_faults(connection))
    finally:
        close(connection)


@pytest.mark.parametrize(
    "spoil, found",
    [
        ("UPDATE session SET raw_bytes = raw_bytes + 1 WHERE number = 1", ["the session a has other sizes than"]),
        ("UPDATE session SET stored_bytes = stored_bytes - 1", ["the session a has", "the session b has"]),
        ("UPDATE session SET files_raw_bytes = 0 WHERE number = 2", ["the session b has"]),
        ("UPDATE session SET files_stored_bytes = 0 WHERE number = 2", ["the session b has"]),
        ("UPDATE device SET files_raw_bytes = 7", ["the device device has"]),
        ("UPDATE device SET files_stored_bytes = 7", ["the device device has"]),
        (
            "UPDATE content SET stored_bytes = 1 WHERE id = 2",
            ["content 2 has another size on the disk", "the session a", "the session b", "the device device"],
        ),
    ],
)
def test_a_size_that_is_wrong_is_told_and_set_right(path: Path, spoil: str, found: list[str]) -> None:
    before = sql(path, ALL)
    assert faults(path) == []
    sql(path, spoil)
    told = faults(path)
    assert len(told) == len(found)
    assert all(sentence.startswith(start) for sentence, start in zip(told, found, strict=True))
    connection = connect(path, None)
    # No transcript depends on a size, so a backup is made all the same.
    assert first_fault(connection) == ""
    count_anew(connection)
    close(connection)
    assert faults(path) == []
    assert sql(path, ALL) == before


def test_what_is_being_purged_is_not_counted(path: Path) -> None:
    sql(path, "UPDATE session SET state = 1, stored_bytes = 1 WHERE number = 1")
    assert faults(path) == []
