"""Each payload, chunk and hash is read anew."""

import hashlib
from pathlib import Path

import pytest
import zstandard

from tests.daemon.store.filled import LARGE, SMALL, sql
from waybread_daemon.store.sqlite import contents_check
from waybread_daemon.store.sqlite.connection import close, connect
from waybread_daemon.store.sqlite.contents_check import (
    content_faults,
    end_faults,
    entry_faults,
    first_fault,
    store_faults,
)
from waybread_daemon.store.sqlite.copying import no_progress
from waybread_daemon.store.sqlite.statements import run


def faults(path: Path) -> list[str]:
    connection = connect(path, None)
    try:
        return [
            *content_faults(connection, no_progress),
            *entry_faults(connection, no_progress),
            *end_faults(connection),
        ]
    finally:
        close(connection)


def pack(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(data)


def test_a_whole_store_has_no_fault_in_one_slice_or_in_many(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert faults(path) == []
    monkeypatch.setattr(contents_check, "_SLICE_BYTES", 1)
    assert faults(path) == []


def test_slices_find_each_fault_once(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sql(path, "UPDATE content SET lines = 1; UPDATE entry SET facts = x'00'")
    monkeypatch.setattr(contents_check, "_SLICE_BYTES", 1)
    found = faults(path)
    assert [sentence.partition(" has")[0] for sentence in found[:4]] == [
        f"content {at} of device 1" for at in (1, 2, 3, 6)
    ]
    assert [sentence.partition(":")[0] for sentence in found[4:]] == [f"entry {at} of device 1" for at in range(1, 13)]


def test_content_with_another_hash_is_told_with_the_hash_that_it_should_have(path: Path) -> None:
    sql(path, "UPDATE content SET data = ? WHERE id = 1", pack(SMALL.replace(b"one", b"One")))
    sha256 = hashlib.sha256(SMALL).hexdigest()
    assert faults(path) == [f"content 1 of device 1 has another hash than it is known by ({sha256})"]


def test_a_chunk_with_another_byte_is_told(path: Path) -> None:
    sql(
        path,
        "UPDATE chunk SET data = ? WHERE id = (2 << 20) + 1",
        pack(LARGE[131_072:262_144].replace(b"row", b"Row", 1)),
    )
    assert [sentence.partition(" (")[0] for sentence in faults(path)] == [
        "content 2 of device 1 has another hash than it is known by"
    ]


@pytest.mark.parametrize(
    "spoil, found",
    [
        ("UPDATE chunk SET data = x'00' WHERE id = 3 << 20", "content 3 of device 1 cannot be decompressed"),
        (
            "UPDATE content SET chars = 1 WHERE id = 3",
            "content 3 of device 1 has another size than its row says, or other lines",
        ),
        (
            "UPDATE content SET marks = zeroblob(length(marks)) WHERE id = 3",
            "content 3 of device 1 has chunks of other sizes than its row says",
        ),
        ("UPDATE entry SET encoding = 1 WHERE id & 0xff = 2", "entry 2 of device 1: its text cannot be decompressed"),
        ("UPDATE entry SET args_bytes = 99 WHERE id & 0xff = 2", "entry 2 of device 1: its arguments are cut off"),
        ("UPDATE entry SET args_bytes = 3 WHERE id & 0xff = 2", "entry 2 of device 1: it cannot be read"),
        ("UPDATE entry SET payload = x'ff' WHERE id & 0xff = 2", "entry 2 of device 1: it cannot be read"),
        (
            "UPDATE entry SET payload = x'61' WHERE id & 0xff = 3",
            "entry 3 of device 1: it has a body of its own and one elsewhere",
        ),
    ],
)
def test_what_cannot_be_read_is_told(path: Path, spoil: str, found: str) -> None:
    sql(path, spoil)
    (sentence,) = faults(path)
    assert sentence.startswith(found)


def test_a_session_that_says_another_time_than_its_last_entry_is_told(path: Path) -> None:
    sql(path, "UPDATE session SET changed_ms = 7 WHERE number = 2")
    assert faults(path) == ["the session b says that it changed at another time than it did"]


@pytest.mark.parametrize(
    "spoil, found",
    [
        ("UPDATE entry SET number = 9 WHERE id & 0xff = 2", "entry 2 of device 1 has another checksum"),
        ("UPDATE entry SET payload = x'6120626f647a' WHERE id & 0xff = 2", "entry 2 of device 1 has another checksum"),
        (
            "UPDATE chunk SET checksum = 0 WHERE id = 3 << 20",
            "content 3 of device 1 has a chunk that has another checksum",
        ),
        ("UPDATE content SET checksum = 0 WHERE id = 1", "content 1 of device 1 has another checksum"),
    ],
)
def test_what_can_be_read_and_is_not_what_was_written_is_told(path: Path, spoil: str, found: str) -> None:
    sql(path, spoil)
    assert faults(path) == [f"{found} than when it was written"]


def test_a_text_without_a_hash_is_told_by_its_checksum(path: Path) -> None:
    changed = pack(LARGE[:131_072].replace(b"row", b"Row", 1))
    sql(path, "UPDATE chunk SET data = ? WHERE id = 3 << 20", changed)
    assert faults(path) == ["content 3 of device 1 has a chunk that has another checksum than when it was written"]


def test_everything_is_looked_at_unless_the_file_itself_is_broken(path: Path) -> None:
    connection = connect(path, None)
    assert first_fault(connection) == ""
    run(connection.cursor(), "UPDATE device SET name = 'x'; UPDATE session SET changed_ms = 7 WHERE number = 2")
    found = list(store_faults(connection))
    assert found == [
        "1 devices have another checksum than when they were written (the first: device)",
        "the session b says that it changed at another time than it did",
    ]
    assert first_fault(connection) == found[0]
    close(connection)


def test_what_no_session_holds_any_more_is_not_looked_at(path: Path) -> None:
    sql(path, "UPDATE content SET state = 0, chars = 1 WHERE id = 3")
    sql(path, "UPDATE session SET state = 1; UPDATE entry SET facts = x'00'")
    assert faults(path) == []
