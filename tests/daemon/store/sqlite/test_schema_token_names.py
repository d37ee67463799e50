"""From version 2 to version 3: tokens have names, and checksums that count them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.daemon.store.filled import old_store, sql
from waybread_daemon.store.contract import StoreRefusal
from waybread_daemon.store.sqlite import open_accounts, open_reader
from waybread_daemon.store.sqlite.check import row_faults
from waybread_daemon.store.sqlite.connection import close, connect
from waybread_daemon.store.sqlite.migration import Migration, bring_up_to_date, try_out
from waybread_daemon.store.sqlite.restore import restore
from waybread_daemon.store.sqlite.schema import migrate, migrations

NEWEST = len(migrations())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store of version 2 with two tokens."""
    path = tmp_path / "data" / "s"
    old_store(path)
    connection = connect(path, None)
    cursor: Any = connection.cursor()
    for token in ("one", "two"):
        cursor.execute(
            "INSERT INTO token (token, device, role, secret_hash, made_ms) VALUES (?, 1, 'viewer', x'77', 1)", (token,)
        )
    migrate(connection, path, migrations()[:2])
    close(connection)
    return path


def faults(path: Path) -> list[str]:
    connection = connect(path, None)
    try:
        return list(row_faults(connection))
    finally:
        close(connection)


def test_what_is_there_has_no_name_and_what_is_made_from_then_on_has_one(path: Path) -> None:
    assert faults(path) == []
    assert try_out(path) == Migration(2, NEWEST, None)
    assert sql(path, "PRAGMA user_version") == [(2,)]
    assert bring_up_to_date(path) == Migration(2, NEWEST, path.with_name(f"s.before-version-{NEWEST}"))
    with open_accounts(path) as accounts:
        accounts.add_token("three", 1, "viewer", b"hash", 2, "Anna's phone")
        accounts.revoke(["one"], 3)
    with open_reader(path) as reader:
        assert [(token.token, token.name, token.revoked_ms) for token in reader.tokens()] == [
            ("one", "", 3),
            ("two", "", 0),
            ("three", "Anna's phone", 0),
        ]
    assert faults(path) == []


def test_a_name_that_has_changed_on_the_disk_is_told(path: Path) -> None:
    bring_up_to_date(path)
    sql(path, "UPDATE token SET name = 'Ben' WHERE token = 'two'")
    assert faults(path) == ["1 tokens have another checksum than when they were written (the first: two)"]


def test_a_token_that_was_damaged_before_is_not_made_good_by_the_migration(path: Path) -> None:
    sql(path, "UPDATE token SET role = 'device' WHERE token = 'two'")
    found = ["1 tokens have another checksum than when they were written (the first: two)"]
    assert faults(path) == found
    with pytest.raises(StoreRefusal, match="has a fault, so it was not migrated"):
        bring_up_to_date(path)
    # Nor where somebody carries it out all the same.
    connection = connect(path, None)
    migrate(connection, path, migrations())
    close(connection)
    assert faults(path) == found


def test_a_backup_of_version_2_is_checked_as_that_version_was_and_restored(path: Path, tmp_path: Path) -> None:
    restored = restore(tmp_path / "new" / "s", path, "time", moved=False)
    assert restored.version == 2
    assert bring_up_to_date(tmp_path / "new" / "s") is not None
    with open_reader(tmp_path / "new" / "s") as reader:
        assert [token.token for token in reader.tokens()] == ["one", "two"]
    sql(path, "UPDATE token SET role = 'device' WHERE token = 'two'")
    with pytest.raises(StoreRefusal, match="1 tokens have another checksum"):
        restore(tmp_path / "newer" / "s", path, "time", moved=False)
