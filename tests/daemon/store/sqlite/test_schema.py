"""Versions of the schema: each in one transaction, a newer one refused, another program's file left alone."""

import threading
from pathlib import Path
from typing import Any

import apsw
import pytest

from waybread_daemon.store.contract import StoreRefusal
from waybread_daemon.store.sqlite.connection import prepare
from waybread_daemon.store.sqlite.schema import APPLICATION_ID, migrate, migrations, version_of


def one(path: Path, sql: str) -> Any:
    connection: Any = apsw.Connection(str(path))
    try:
        return connection.execute(sql).get
    finally:
        connection.close()


def migrated(path: Path, steps: list[str]) -> None:
    connection = apsw.Connection(str(path))
    try:
        migrate(connection, path, steps)
    finally:
        connection.close()


def test_a_new_store_has_the_newest_version_and_says_whose_it_is(tmp_path: Path) -> None:
    path = tmp_path / "s"
    prepare(path, None)
    assert one(path, "PRAGMA user_version") == len(migrations())
    assert one(path, "PRAGMA application_id") == APPLICATION_ID
    prepare(path, None)
    assert one(path, "PRAGMA integrity_check") == "ok"


def test_a_newer_schema_is_refused_and_left_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "s"
    prepare(path, None)
    one(path, "PRAGMA user_version = 99")
    with pytest.raises(StoreRefusal, match=r"newer Waybread \(its schema is version 99, this one knows up to"):
        prepare(path, None)
    assert one(path, "PRAGMA user_version") == 99


def test_another_programs_database_is_refused_and_left_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "s"
    one(path, "CREATE TABLE theirs (a)")
    with pytest.raises(StoreRefusal, match="another program's database"):
        prepare(path, None)
    assert one(path, "SELECT group_concat(name) FROM sqlite_schema") == "theirs"


def test_a_file_that_is_no_database_is_refused_and_left_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "s"
    path.write_text("dear diary, " * 1000)
    with pytest.raises(StoreRefusal, match="is no database"):
        prepare(path, None)
    assert path.read_text() == "dear diary, " * 1000


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    path = tmp_path / "s"
    path.touch()
    prepare(path, None)
    assert one(path, "SELECT count(*) FROM session") == 0


def test_a_migration_that_fails_half_way_leaves_nothing_and_is_tried_again(tmp_path: Path) -> None:
    path = tmp_path / "s"
    steps = [
        "CREATE TABLE a (x)",
        "ALTER TABLE a ADD COLUMN y; CREATE TABLE b (x)",
        "ALTER TABLE a ADD COLUMN z; INSERT INTO missing VALUES (1)",
    ]
    migrated(path, steps[:1])
    for _ in range(2):
        with pytest.raises(apsw.SQLError, match="missing"):
            migrated(path, steps)
        assert one(path, "PRAGMA user_version") == 1
        assert one(path, "SELECT group_concat(name) FROM sqlite_schema") == "a"
        assert one(path, "SELECT count(*) FROM pragma_table_info('a')") == 1
    migrated(path, steps[:2])
    assert one(path, "PRAGMA user_version") == 2
    assert one(path, "SELECT count(*) FROM pragma_table_info('a')") == 2


def test_a_new_store_is_made_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with pytest.raises(apsw.SQLError, match="missing"):
        migrated(path, ["CREATE TABLE a (x)", "INSERT INTO missing VALUES (1)"])
    assert one(path, "SELECT count(*) FROM sqlite_schema") == 0
    assert one(path, "PRAGMA user_version") == 0


def test_the_version_of_a_store_is_read_and_changed_by_nothing(tmp_path: Path) -> None:
    path = tmp_path / "s"
    connection = apsw.Connection(str(path))
    assert version_of(connection, path, 2) == 0
    migrate(connection, path, ["CREATE TABLE a (x)"])
    assert version_of(connection, path, 2) == 1
    with pytest.raises(StoreRefusal, match="written by a newer Waybread"):
        version_of(connection, path, 0)
    connection.close()


def test_a_store_of_an_older_version_takes_only_the_steps_that_it_lacks(tmp_path: Path) -> None:
    path = tmp_path / "s"
    steps = ["CREATE TABLE a (x); INSERT INTO a VALUES (1)", "UPDATE a SET x = x + 10", "UPDATE a SET x = x * 2"]
    migrated(path, steps[:1])
    migrated(path, steps)
    migrated(path, steps)
    assert one(path, "SELECT x FROM a") == 22


def test_two_that_start_at_once_migrate_once(tmp_path: Path) -> None:
    path = tmp_path / "s"
    failed: list[Exception] = []

    def start() -> None:
        try:
            prepare(path, None)
        except Exception as error:  # noqa: BLE001 - whatever it was fails the test
            failed.append(error)

    threads = [threading.Thread(target=start) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert one(path, "SELECT count(*) FROM meta") == 3


def test_every_store_has_an_epoch_of_its_own(tmp_path: Path) -> None:
    for name in "ab":
        prepare(tmp_path / name, None)
    first, second = (one(tmp_path / name, "SELECT value FROM meta WHERE name = 'epoch'") for name in "ab")
    assert len(first) == 16
    assert first != second


def test_migrations_are_numbered_without_gaps(tmp_path: Path) -> None:
    for name in ("0001_a.sql", "0003_b.sql"):
        (tmp_path / name).write_text("SELECT 1")
    with pytest.raises(ValueError, match=r"numbered \[1, 3\], not from 1 without gaps"):
        migrations(tmp_path)
    (tmp_path / "0002_c.sql").write_text("SELECT 2")
    assert migrations(tmp_path) == ["SELECT 1", "SELECT 2", "SELECT 1"]
