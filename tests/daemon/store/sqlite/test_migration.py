"""A store of an older version: brought up to date whole, or left as it was; killed at every line, it is one or the other."""

import shutil
from pathlib import Path

import pytest

from tests.daemon.store.filled import fill, listing, old_store, set_disk, sql
from tests.daemon.store.killed import killed_at, lines_of
from tests.daemon.store.version1 import Version1
from waybread_daemon.clock import now_ms
from waybread_daemon.store.contract import StoreRefusal
from waybread_daemon.store.sqlite import SqliteStore, open_accounts, open_reader
from waybread_daemon.store.sqlite.connection import close, connect
from waybread_daemon.store.sqlite.migration import Migration, bring_up_to_date, stored_version, try_out
from waybread_daemon.store.sqlite.schema import migrations
from waybread_daemon.store.sqlite.statements import run

NEWEST = len(migrations())
WORK = "from waybread_daemon.store.sqlite.migration import bring_up_to_date\n---\nbring_up_to_date(arguments[0])\n"
ASKED = "SELECT device, name, made_ms FROM device"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    old_store(tmp_path / "data" / "s")
    return tmp_path / "data" / "s"


def names(path: Path) -> list[str]:
    return sorted(file.name for file in path.parent.iterdir())


def test_the_old_store_is_kept_as_a_backup_and_a_new_one_stands_in_its_place(path: Path) -> None:
    before = sql(path, "SELECT name, value FROM meta")
    assert bring_up_to_date(path) == Migration(1, NEWEST, path.with_name(f"s.before-version-{NEWEST}"))
    assert names(path) == ["s", f"s.before-version-{NEWEST}"]
    kept = path.with_name(f"s.before-version-{NEWEST}")
    assert (sql(kept, "PRAGMA user_version"), sql(path, "PRAGMA user_version")) == ([(1,)], [(NEWEST,)])
    for store in (kept, path):
        assert sql(store, ASKED) == [("device", "old phone", 1)]
        assert sql(store, "PRAGMA integrity_check") == [("ok",)]
        assert oct(store.stat().st_mode & 0o777) == "0o600"
    # It is the same store: a migration is no restore.
    assert sql(path, "SELECT name, value FROM meta WHERE name <> 'epoch_checksum'") == before
    # A file of the first version could not be cut, and the new one can.
    assert (sql(kept, "PRAGMA auto_vacuum"), sql(path, "PRAGMA auto_vacuum")) == ([(0,)], [(2,)])
    assert bring_up_to_date(path) is None


async def test_a_daemon_migrates_when_it_starts_and_keeps_what_the_old_one_stored(tmp_path: Path) -> None:
    path = tmp_path / "s"
    Version1(path)
    store = SqliteStore.open(path, clock_ms=now_ms)
    await store.start()
    assert await store.look(lambda reader: [device.name for device in reader.devices()]) == ["phone", "tablet"]
    await store.close()
    assert f"s.before-version-{NEWEST}" in names(path)
    assert sql(path.with_name(f"s.before-version-{NEWEST}"), "PRAGMA user_version") == [(1,)]


def test_the_log_of_a_killed_daemon_is_migrated_with_the_rest(path: Path) -> None:
    connection = connect(path, None)
    run(connection.cursor(), "INSERT INTO meta VALUES ('logged', 1)")
    copied = path.parent / "copied"
    copied.mkdir()
    for suffix in ("", "-wal"):
        shutil.copy(path.with_name(f"s{suffix}"), copied / f"s{suffix}")
    close(connection)
    bring_up_to_date(copied / "s")
    for store in (copied / "s", copied / f"s.before-version-{NEWEST}"):
        assert sql(store, "SELECT value FROM meta WHERE name = 'logged'") == [(1,)]
    assert names(copied / "s") == ["s", f"s.before-version-{NEWEST}"]


def test_commands_leave_an_old_store_to_the_daemon_and_say_so(path: Path) -> None:
    before = listing(path.parent)
    for enter in (open_reader, open_accounts):
        with pytest.raises(StoreRefusal) as caught, enter(path):
            pass
        assert str(caught.value) == (
            f"{path} was written by an older Waybread (its schema is version 1, this one's is {NEWEST}): restart the daemon, "
            "which brings it up to date, or run `waybread migrate`."
        )
    assert {name: size for name, (_, size, _) in listing(path.parent).items()} == {
        name: size for name, (_, size, _) in before.items()
    }


def test_trying_it_out_changes_nothing_and_works_beside_a_writer(path: Path) -> None:
    connection = connect(path, None)
    run(connection.cursor(), "BEGIN IMMEDIATE")
    run(connection.cursor(), "UPDATE device SET name = 'another'")
    assert try_out(path) == Migration(1, NEWEST, None)
    run(connection.cursor(), "COMMIT")
    close(connection)
    assert names(path) == ["s"]
    assert sql(path, "PRAGMA user_version") == [(1,)]
    assert sql(path, "SELECT name FROM device") == [("another",)]


def test_a_migration_that_fails_leaves_the_old_store_and_every_later_start_says_the_same(path: Path) -> None:
    # What half a migration would have left.
    sql(path, "ALTER TABLE device ADD COLUMN gone_ms INTEGER NOT NULL DEFAULT 0")
    before = path.read_bytes()
    said: list[str] = []
    for _ in range(3):
        with pytest.raises(StoreRefusal) as caught:
            SqliteStore.open(path, clock_ms=now_ms)
        said.append(str(caught.value))
    with pytest.raises(StoreRefusal) as caught:
        try_out(path)
    said.append(str(caught.value))
    assert set(said) == {
        (
            f"The store at {path} cannot be brought to version {NEWEST} (SQLError: duplicate column name: gone_ms). It is as it "
            "was: start the Waybread that wrote it, and report this."
        )
    }
    assert names(path) == ["s", "s.lock"]
    # Only its head says that it has no log at the moment.
    assert path.read_bytes()[100:] == before[100:]
    assert sql(path, "PRAGMA user_version") == [(1,)]


def test_a_store_with_a_fault_is_not_migrated(tmp_path: Path) -> None:
    path = tmp_path / "s"
    Version1(path)
    sql(path, "DELETE FROM content WHERE id = 1")
    for attempt in (bring_up_to_date, try_out):
        with pytest.raises(StoreRefusal) as caught:
            attempt(path)
        assert str(caught.value) == (
            f"The store at {path} has a fault, so it was not migrated (2 results have lost their content (the first: entry 4 "
            "of device 1)): `waybread doctor` tells all of it. It is as it was."
        )
    assert names(path) == ["s"]
    assert sql(path, "PRAGMA user_version") == [(1,)]


def test_where_there_is_no_room_nothing_is_begun(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    set_disk(monkeypatch, 1000)
    for attempt in (bring_up_to_date, try_out):
        with pytest.raises(StoreRefusal, match=r"There is no room for a migration of .* and its backup: it takes 152"):
            attempt(path)
    assert names(path) == ["s"]


def test_a_store_that_is_open_elsewhere_is_not_migrated(path: Path) -> None:
    connection = connect(path, None)
    run(connection.cursor(), "SELECT * FROM meta")
    with pytest.raises(StoreRefusal, match="Another command or program has the store"):
        bring_up_to_date(path)
    close(connection)


def test_new_stores_and_those_up_to_date_have_nothing_to_migrate(tmp_path: Path) -> None:
    assert (stored_version(tmp_path / "s", None), bring_up_to_date(tmp_path / "s")) == (0, None)
    assert list(tmp_path.iterdir()) == []
    fill(tmp_path / "s")
    assert stored_version(tmp_path / "s", None) == NEWEST
    assert try_out(tmp_path / "s") is None
    sql(tmp_path / "s", "PRAGMA user_version = 99")
    with pytest.raises(StoreRefusal, match="newer Waybread"):
        stored_version(tmp_path / "s", None)


def kill_each(tmp_path: Path, steps: int | None) -> tuple[int, int]:
    origin = tmp_path / "origin"
    origin.mkdir()
    Version1(origin / "s")
    lines = lines_of(WORK, "migration,swap", shutil.copytree(origin, tmp_path / "whole") / "s")
    olds = news = 0
    for line in range(0, lines, max(lines // steps, 1) if steps else 1):
        data = shutil.copytree(origin, tmp_path / f"killed-{line}")
        killed_at(line, WORK, "migration,swap", data / "s")
        ((version,),) = sql(data / "s", "PRAGMA user_version")
        assert sql(data / "s", "PRAGMA integrity_check") == [("ok",)]
        assert sql(data / "s", "SELECT name FROM device") == [("phone",), ("tablet",)]
        if version != 1:
            # The backup was there before.
            assert sql(data / f"s.before-version-{NEWEST}", "PRAGMA user_version") == [(1,)]
        olds, news = olds + (version == 1), news + (version != 1)
        # The next start goes on.
        bring_up_to_date(data / "s")
        assert sql(data / "s", "PRAGMA user_version") == [(NEWEST,)]
        assert (data / "s").stat().st_nlink == 1
        assert sql(data / f"s.before-version-{NEWEST}", "PRAGMA user_version") == [(1,)]
        assert not (data / f"s.before-version-{NEWEST}-2").exists()
        shutil.rmtree(data)
    return olds, news


def test_a_kill_at_any_of_some_lines_leaves_the_old_version_or_the_new_one_whole(tmp_path: Path) -> None:
    olds, news = kill_each(tmp_path, 15)
    assert olds >= 5
    assert news >= 1


@pytest.mark.long
def test_a_kill_at_every_line_leaves_the_old_version_or_the_new_one_whole(tmp_path: Path) -> None:
    olds, news = kill_each(tmp_path, None)
    assert olds > 40
    assert news > 5
