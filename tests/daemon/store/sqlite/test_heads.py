"""What a file says of itself, read without opening it as a database."""

from pathlib import Path

import pytest

from tests.daemon.store.filled import listing, sql
from waybread_daemon.store.contract import StoreRefusal
from waybread_daemon.store.sqlite.connection import prepare
from waybread_daemon.store.sqlite.heads import (
    APPLICATION_ID,
    Head,
    another_program,
    newer,
    older,
    read_head,
    refuse_head,
)
from waybread_daemon.store.sqlite.schema import migrations


def test_a_store_says_whose_it_is_and_its_version_and_is_not_touched(tmp_path: Path) -> None:
    prepare(tmp_path / "s", None)
    before = listing(tmp_path)
    head = read_head(tmp_path / "s")
    assert head is not None
    assert head == Head(APPLICATION_ID, len(migrations()), (tmp_path / "s").stat().st_size)
    assert head.is_ours
    assert listing(tmp_path) == before


def test_another_programs_database_does_not_say_that_it_is_ours(tmp_path: Path) -> None:
    sql(tmp_path / "s", "CREATE TABLE theirs (a); PRAGMA application_id = 7; PRAGMA user_version = 3")
    head = read_head(tmp_path / "s")
    assert head is not None
    assert head == Head(7, 3, 8192)
    assert not head.is_ours


def test_a_version_below_nothing_is_one(tmp_path: Path) -> None:
    sql(tmp_path / "s", "CREATE TABLE theirs (a); PRAGMA user_version = -5")
    head = read_head(tmp_path / "s")
    assert head is not None
    assert head.version == -5


def test_a_file_whose_count_of_pages_is_not_kept_does_not_say_how_long_it_is(tmp_path: Path) -> None:
    sql(tmp_path / "s", "CREATE TABLE theirs (a)")
    data = bytearray((tmp_path / "s").read_bytes())
    data[24:28] = b"\x7f\0\0\0"
    (tmp_path / "s").write_bytes(data)
    head = read_head(tmp_path / "s")
    assert head is not None
    assert head.size_bytes == 0


@pytest.mark.parametrize(
    "head, why",
    [
        (Head(7, 1, 0), "another program's database"),
        (Head(APPLICATION_ID, 9, 0), "was written by a newer Waybread"),
        (Head(APPLICATION_ID, 0, 0), "is damaged, as it says that its schema is version 0 and the first is 1"),
        (Head(APPLICATION_ID, -5, 0), "is damaged, as it says that its schema is version -5 and the first is 1"),
    ],
)
def test_a_head_that_no_store_has_is_refused(tmp_path: Path, head: Head, why: str) -> None:
    refuse_head(tmp_path, Head(APPLICATION_ID, 2, 0), 2)
    refuse_head(tmp_path, Head(0, 0, 0), 2)
    with pytest.raises(StoreRefusal, match=why):
        refuse_head(tmp_path, head, 2)


def test_an_empty_file_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "s").touch()
    assert read_head(tmp_path / "s") is None


@pytest.mark.parametrize("content", [b"x", b"dear diary" * 100, b"SQLite format 3\x00 and no more"])
def test_what_is_no_database_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "s").write_bytes(content)
    with pytest.raises(StoreRefusal, match=r"/s is no database, so no store of Waybread: name another file\."):
        read_head(tmp_path / "s")


def test_each_refusal_says_what_to_do(tmp_path: Path) -> None:
    assert str(another_program(tmp_path)).endswith("and not a store of Waybread: name another file.")
    assert str(newer(tmp_path, 9, 2)) == (
        f"{tmp_path} was written by a newer Waybread (its schema is version 9, this one knows up to 2): start the newer "
        "one, or name another file."
    )
    assert str(older(tmp_path, 1, 2)) == (
        f"{tmp_path} was written by an older Waybread (its schema is version 1, this one's is 2): restart the daemon, which "
        "brings it up to date, or run `waybread migrate`."
    )
