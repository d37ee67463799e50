"""The settings of connections."""

from pathlib import Path

import apsw
import pytest

from waybread_daemon.store.contract import StoreRefusal
from waybread_daemon.store.sqlite.connection import (
    BUSY_TIMEOUT_MS,
    LOG_LIMIT_BYTES,
    close,
    connect,
    connect_guest,
    connect_reader,
    connect_writer,
    keep_a_write_ahead_log,
    prepare,
    refuse_old_sqlite,
    refuse_what_was_moved,
)
from waybread_daemon.store.sqlite.statements import run, value


@pytest.fixture
def path(tmp_path: Path) -> Path:
    prepare(tmp_path / "store.sqlite", None)
    return tmp_path / "store.sqlite"


def test_a_writer_syncs_each_commit_into_a_write_ahead_log_and_checkpoints_in_none(path: Path) -> None:
    cursor = connect_writer(path, None).cursor()
    assert value(cursor, "PRAGMA journal_mode") == "wal"
    assert value(cursor, "PRAGMA synchronous") == 2
    assert value(cursor, "PRAGMA wal_autocheckpoint") == 0
    assert value(cursor, "PRAGMA busy_timeout") == BUSY_TIMEOUT_MS == 10_000
    assert value(cursor, "PRAGMA journal_size_limit") == LOG_LIMIT_BYTES == 67_108_864
    assert value(cursor, "PRAGMA page_size") == 4096


def test_a_reader_cannot_write(path: Path) -> None:
    cursor = connect_reader(path, None).cursor()
    with pytest.raises(apsw.ReadOnlyError):
        run(cursor, "DELETE FROM meta")


def test_a_path_that_is_not_there_makes_no_second_store(tmp_path: Path) -> None:
    with pytest.raises(apsw.CantOpenError):
        connect_reader(tmp_path / "mistyped", None)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("version", ["3.40.1", "3.51.2", "3.7.17"])
def test_sqlite_that_can_corrupt_a_log_is_refused(version: str) -> None:
    with pytest.raises(StoreRefusal, match=f"SQLite library here is {version}; releases before 3.51.3 can corrupt"):
        refuse_old_sqlite(version)


@pytest.mark.parametrize("version", ["3.51.3", "3.54.1", "4.0.0"])
def test_sqlite_without_that_fault_is_taken(version: str) -> None:
    refuse_old_sqlite(version)


def test_closing_rolls_back_what_was_not_committed(path: Path) -> None:
    connection = connect_writer(path, None)
    run(connection.cursor(), "BEGIN IMMEDIATE; DELETE FROM meta")
    close(connection)
    assert value(connect_reader(path, None).cursor(), "SELECT count(*) FROM meta") == 3


def test_a_file_system_without_shared_memory_is_refused() -> None:
    # A database in memory cannot have the log either.
    with pytest.raises(StoreRefusal, match=r"without shared memory \(journal mode memory\): put it on a local disk"):
        keep_a_write_ahead_log(apsw.Connection(":memory:"))


def test_a_file_that_was_replaced_while_it_was_opened_is_refused_and_gets_no_log(path: Path) -> None:
    connection = connect(path, None)
    assert value(connection.cursor(), "SELECT count(*) FROM meta") == 3
    refuse_what_was_moved(connection, path)
    path.rename(path.with_name("kept"))
    with pytest.raises(StoreRefusal, match=r"The store at .* was replaced just now: do it again\."):
        refuse_what_was_moved(connection, path)
    close(connection)


def test_a_guest_leaves_the_log_of_a_killed_daemon_where_it_is_and_none_where_there_was_none(path: Path) -> None:
    log = path.with_name("store.sqlite-wal")
    guest = connect_guest(path)
    run(guest.cursor(), "SELECT * FROM meta")
    close(guest)
    assert not log.exists()
    killed = connect(path, None)
    killed.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    run(killed.cursor(), "INSERT INTO meta VALUES ('more', 1)")
    close(killed)
    content = log.read_bytes()
    guest = connect_guest(path)
    assert value(guest.cursor(), "SELECT value FROM meta WHERE name = 'more'") == 1
    close(guest)
    assert log.read_bytes() == content
