"""`waybread migrate`, and a daemon that migrates when it starts."""

import asyncio
from pathlib import Path

import pytest

from tests.daemon.cli.support import serving, waybread
from tests.daemon.store.filled import old_store, sql
from tests.daemon.store.version1 import Version1
from waybread_daemon.store.sqlite.schema import migrations

NEWEST = len(migrations())
KEPT = f"waybread.sqlite.before-version-{NEWEST}"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir(mode=0o700)
    Version1(tmp_path / "data" / "waybread.sqlite")
    return tmp_path / "data" / "waybread.sqlite"


def test_a_dry_run_tells_what_would_be_done_and_changes_nothing(path: Path) -> None:
    content = path.read_bytes()
    ran = waybread("migrate", "--dry-run", "--data", path.parent)
    assert (ran.status, ran.err) == (0, "")
    assert ran.out == (
        f"{path} is of version 1 and would be brought to version {NEWEST}: that was tried with a copy, which was checked and "
        "thrown away; nothing was changed\n"
    )
    assert path.read_bytes() == content
    assert [file.name for file in path.parent.iterdir()] == ["waybread.sqlite"]


def test_a_migration_keeps_the_old_store_and_is_done_once(path: Path) -> None:
    (told,) = waybread("migrate", "--data", path.parent, "--json").objects()
    assert told == {
        "store": str(path),
        "version": 1,
        "newest": NEWEST,
        "migrated": True,
        "kept": str(path.with_name(KEPT)),
    }
    assert sql(path.with_name(KEPT), "PRAGMA user_version") == [(1,)]
    ran = waybread("migrate", "--data", path.parent)
    assert (ran.status, ran.out) == (0, f"{path} is of version {NEWEST}, the newest: there is nothing to do\n")
    (told,) = waybread("migrate", "--dry-run", "--data", path.parent, "--json").objects()
    assert (told["version"], told["migrated"], told["kept"]) == (NEWEST, False, None)


def test_a_migration_is_told_in_words(tmp_path: Path) -> None:
    old_store(tmp_path / "waybread.sqlite")
    ran = waybread("migrate", "--data", tmp_path)
    assert ran.out.splitlines() == [
        f"{tmp_path}/waybread.sqlite was of version 1 and is now of version {NEWEST}",
        f"the old store is kept as {tmp_path}/{KEPT}: remove it when you are sure",
    ]


async def test_a_daemon_migrates_when_it_starts_and_commands_ask_for_it_until_then(path: Path) -> None:
    ran = await asyncio.to_thread(waybread, "sessions", "--data", path.parent)
    assert (ran.status, ran.out) == (1, "")
    assert "restart the daemon, which brings it up to date, or run `waybread migrate`" in ran.err
    with serving(path.parent) as daemon:
        ran = await asyncio.to_thread(waybread, "sessions", "--data", path.parent, "--json")
        assert [one["session"] for one in ran.objects()] == ["b", "a"]
        ran = await asyncio.to_thread(waybread, "migrate", "--data", path.parent)
        assert (ran.status, ran.out) == (1, "")
        assert ran.err.startswith("waybread: Another Waybread serves the store")
        ran = await asyncio.to_thread(waybread, "migrate", "--dry-run", "--data", path.parent)
        assert "there is nothing to do" in ran.out
        assert daemon.stop() == 0
    assert path.with_name(KEPT).exists()


def test_a_migration_that_fails_says_the_same_at_every_start_and_leaves_the_old_store(path: Path) -> None:
    sql(path, "ALTER TABLE device ADD COLUMN gone_ms INTEGER NOT NULL DEFAULT 0")
    said = [waybread(*words, "--data", path.parent) for words in (["migrate"], ["serve", "--port", "0"]) * 2]
    sentence = (
        f"waybread: The store at {path} cannot be brought to version {NEWEST} (SQLError: duplicate column name: gone_ms). It is "
        "as it was: start the Waybread that wrote it, and report this.\n"
    )
    assert said == [(1, "", sentence)] * 4
    assert sql(path, "PRAGMA user_version") == [(1,)]
    assert sorted(file.name for file in path.parent.iterdir()) == ["waybread.sqlite", "waybread.sqlite.lock"]


def test_where_there_is_no_store_there_is_nothing_to_migrate(tmp_path: Path) -> None:
    ran = waybread("migrate", "--data", tmp_path / "nothing")
    assert (ran.status, ran.out) == (1, "")
    assert "There is no store at" in ran.err
    assert not (tmp_path / "nothing").exists()


def test_wrong_usage_has_status_2() -> None:
    assert waybread("migrate", "now").status == 2
