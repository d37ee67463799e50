"""A backup in the place of the store; killed at every line, there is the old one or the new one, whole."""

import os
import shutil
from pathlib import Path

import apsw
import pytest

from tests.daemon.store.filled import fill, listing, old_store, set_disk, sql
from tests.daemon.store.killed import killed_at, lines_of
from waybread_daemon.store.contract import StoreRefusal
from waybread_daemon.store.sqlite import open_reader
from waybread_daemon.store.sqlite.backup import back_up, origin_of
from waybread_daemon.store.sqlite.connection import close, connect
from waybread_daemon.store.sqlite.place import hold_place
from waybread_daemon.store.sqlite.restore import restore
from waybread_daemon.store.sqlite.schema import migrations
from waybread_daemon.store.sqlite.statements import run

WORK = (
    "from waybread_daemon.store.sqlite.restore import restore\n"
    "---\n"
    "restore(arguments[0], arguments[1], 'time', moved=False)\n"
)
MODULES = "restore,swap"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    fill(tmp_path / "data" / "s", ("first",))
    return tmp_path / "data" / "s"


@pytest.fixture
def backup(path: Path, tmp_path: Path) -> Path:
    """A backup of the store, which goes on afterwards."""
    made = back_up(path, tmp_path / "backup", replace=False).path
    sql(path, "INSERT INTO meta VALUES ('since', 1)")
    return made


def epoch(path: Path) -> str:
    return str(sql(path, "SELECT value FROM meta WHERE name = 'epoch'")[0][0])


def is_new(path: Path) -> bool:
    return sql(path, "SELECT * FROM meta WHERE name = 'since'") == []


def leave_a_log(path: Path) -> None:
    """What a daemon that was killed leaves."""
    connection = connect(path, None)
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    run(connection.cursor(), "PRAGMA wal_autocheckpoint = 0")
    run(connection.cursor(), "INSERT INTO meta VALUES ('logged', zeroblob(100000))")
    close(connection)


def test_the_store_is_the_backup_in_a_new_epoch_and_the_old_one_is_kept(path: Path, backup: Path) -> None:
    before = epoch(path)
    leave_a_log(path)
    copied = backup.read_bytes()
    restored = restore(path, backup, "time", moved=False)
    assert restored.kept is not None
    assert restored.kept == path.with_name("s.before-restore-time")
    assert restored.version == len(migrations())
    assert epoch(path) == restored.epoch != before
    assert is_new(path)
    assert sql(restored.kept, "SELECT length(value) FROM meta WHERE name = 'logged'") == [(100_000,)]
    assert sorted(file.name for file in path.parent.iterdir()) == ["s", "s.before-restore-time", "s.lock"]
    assert backup.read_bytes() == copied
    assert oct(path.stat().st_mode & 0o777) == "0o600"
    with open_reader(path) as reader:
        session = reader.session(1, "first")
        assert session is not None
        # The sessions that were opened in the store that is restored, as in any that was restored before.
        assert session.read_only
    assert sql(path, "SELECT name FROM meta WHERE name LIKE 'backup%'") == []


def test_a_store_that_moved_keeps_its_epoch(path: Path, backup: Path, tmp_path: Path) -> None:
    restored = restore(tmp_path / "new" / "place" / "s", backup, "time", moved=True)
    assert (restored.epoch, restored.kept) == (epoch(path), None)
    assert oct((tmp_path / "new" / "place").stat().st_mode & 0o777) == "0o700"


def test_a_backup_made_beside_a_daemon_does_not_count_as_moved(path: Path, tmp_path: Path) -> None:
    lock = hold_place(path)
    backup = back_up(path, tmp_path / "backup", replace=False).path
    os.close(lock)
    before = listing(path.parent)
    with pytest.raises(StoreRefusal, match="was made while a daemon served the store, which may have given ids since"):
        restore(path, backup, "time", moved=True)
    after = listing(path.parent)
    assert {name: entry for name, entry in after.items() if name.endswith("/s")} == {
        name: entry for name, entry in before.items() if name.endswith("/s")
    }
    restore(path, backup, "time", moved=False)


def test_after_restores_a_store_still_has_the_origin_that_it_had(path: Path, backup: Path, tmp_path: Path) -> None:
    first = origin_of(backup)
    restore(path, backup, "one", moved=False)
    again = back_up(path, tmp_path / "again", replace=False).path
    assert origin_of(again) == first != epoch(path)
    restore(path, again, "two", moved=False)
    assert origin_of(path) == first


def test_a_running_daemon_is_refused_and_nothing_is_touched(path: Path, backup: Path) -> None:
    lock = hold_place(path)
    before = listing(path.parent)
    with pytest.raises(StoreRefusal, match=r"Another Waybread serves the store at .*: stop it"):
        restore(path, backup, "time", moved=False)
    assert listing(path.parent) == before
    os.close(lock)


@pytest.mark.parametrize(
    "content, why",
    [
        (None, "There is no backup at"),
        (b"", "is empty and no backup"),
        (b"dear diary", r"no backup of one of Waybread's stores: name a backup that `waybread backup` made"),
    ],
)
def test_what_is_no_backup_is_refused_before_anything_is_made(
    path: Path, tmp_path: Path, content: bytes | None, why: str
) -> None:
    if content is not None:
        (tmp_path / "b").write_bytes(content)
    before = listing(path.parent)
    with pytest.raises(StoreRefusal, match=why):
        restore(path, tmp_path / "b", "time", moved=False)
    assert listing(path.parent) == before


def test_a_folder_the_store_itself_and_a_running_daemons_store_are_no_backups(path: Path, tmp_path: Path) -> None:
    with pytest.raises(StoreRefusal, match="is a folder: name one backup in it"):
        restore(path, tmp_path, "time", moved=False)
    with pytest.raises(StoreRefusal, match="is the store itself"):
        restore(path, path, "time", moved=False)
    fill(tmp_path / "other" / "s")
    lock = hold_place(tmp_path / "other" / "s")
    with pytest.raises(StoreRefusal, match="is the store of a daemon that runs: make a backup of it"):
        restore(path, tmp_path / "other" / "s", "time", moved=False)
    os.close(lock)


@pytest.mark.parametrize("cut", [1, 728, 4096, -1, -4096])
def test_a_backup_that_was_cut_off_or_added_to_is_refused(path: Path, backup: Path, cut: int) -> None:
    whole = backup.read_bytes()
    backup.write_bytes(whole[:-cut] if cut > 0 else whole + bytes(-cut))
    with pytest.raises(StoreRefusal) as caught:
        restore(path, backup, "time", moved=False)
    assert str(caught.value) == (
        f"{backup} is damaged: it is {len(whole) - cut} bytes long and says that it has {len(whole)}, so it was cut off or "
        "something was added. Name another backup; the store is as it was."
    )
    assert not is_new(path)
    assert sorted(file.name for file in path.parent.iterdir()) == ["s", "s.lock"]


@pytest.mark.parametrize(
    "spoil, why",
    [
        ("UPDATE entry SET payload = x'6120626f647a' WHERE number = 1", r"entry 2 of device 1 has another checksum"),
        ("UPDATE chunk SET data = x'00' WHERE id = 2 << 20", "content 2 of device 1 cannot be decompressed"),
        ("UPDATE content SET sha256 = zeroblob(32) WHERE id = 1", "content 1 of device 1 has another hash"),
    ],
)
def test_a_backup_whose_contents_are_not_right_is_refused(path: Path, backup: Path, spoil: str, why: str) -> None:
    sql(backup, spoil)
    with pytest.raises(StoreRefusal, match=rf"has a fault, so nothing was restored \({why}.*\): name an older backup"):
        restore(path, backup, "time", moved=False)
    assert not is_new(path)


def test_a_backup_that_cannot_be_read_is_damaged_and_an_older_one_is_to_be_named(path: Path, backup: Path) -> None:
    data = bytearray(backup.read_bytes())
    data[100:2000] = bytes(1900)
    backup.write_bytes(data)
    with pytest.raises(
        StoreRefusal, match=r"is damaged and cannot be read \(.*\): name an older backup\. The store is as"
    ):
        restore(path, backup, "time", moved=False)


@pytest.mark.parametrize("version", [0, -5])
def test_a_backup_with_a_version_that_is_none_is_damaged(path: Path, backup: Path, version: int) -> None:
    sql(backup, f"PRAGMA user_version = {version}")
    with pytest.raises(StoreRefusal) as caught:
        restore(path, backup, "time", moved=False)
    assert str(caught.value) == (
        f"{backup} is damaged, as it says that its schema is version {version} and the first is 1: name a backup that "
        "`waybread backup` made."
    )


@pytest.mark.parametrize("device", ["/dev/null", "/dev/zero", "fifo"])
def test_what_is_no_regular_file_is_refused_and_not_read(path: Path, tmp_path: Path, device: str) -> None:
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(StoreRefusal, match=r"is no regular file, so no backup: name one\.$"):
        restore(path, tmp_path / device, "time", moved=False)


def test_a_store_that_went_on_since_did_not_move(path: Path, backup: Path) -> None:
    # Nothing was stored since: it may be said to have moved, and again.
    for stamp in ("one", "two"):
        restore(path, backup, stamp, moved=True)
    sql(
        path,
        "INSERT INTO entry SELECT id + 1, session, kind, NULL, root, content, facts, args_bytes, encoding, payload, 0 "
        "FROM entry ORDER BY id DESC LIMIT 1",
    )
    before = sql(path, "SELECT max(id) FROM entry")
    with pytest.raises(StoreRefusal) as caught:
        restore(path, backup, "three", moved=True)
    assert str(caught.value) == (
        f"The store that is there has gone on since {backup} was made, so its sessions have given ids that a model may "
        "still know: restore it without --moved. The store is as it was."
    )
    assert sql(path, "SELECT max(id) FROM entry") == before
    restore(path, backup, "four", moved=False)


def test_another_store_or_a_broken_one_that_is_there_does_not_say_what_moved(backup: Path, tmp_path: Path) -> None:
    fill(tmp_path / "other" / "s", ("x", "y", "z"))
    assert restore(tmp_path / "other" / "s", backup, "time", moved=True).kept is not None
    (tmp_path / "other" / "s").write_bytes(b"broken")
    assert restore(tmp_path / "other" / "s", backup, "time", moved=True).kept is not None


def test_a_newer_one_and_another_programs_are_refused(path: Path, backup: Path, tmp_path: Path) -> None:
    sql(backup, "PRAGMA user_version = 99")
    with pytest.raises(StoreRefusal, match="written by a newer Waybread"):
        restore(path, backup, "time", moved=False)
    sql(tmp_path / "theirs", "CREATE TABLE a (b); PRAGMA application_id = 7")
    with pytest.raises(StoreRefusal, match="another program's"):
        restore(path, tmp_path / "theirs", "time", moved=False)
    sql(tmp_path / "unsaid", "CREATE TABLE a (b)")
    with pytest.raises(StoreRefusal, match="another program's"):
        restore(path, tmp_path / "unsaid", "time", moved=False)
    assert not is_new(path)


def test_a_backup_with_a_fault_is_refused_and_the_store_is_as_it_was(path: Path, backup: Path) -> None:
    sql(backup, "DELETE FROM chunk WHERE id = (2 << 20) + 1")
    with pytest.raises(
        StoreRefusal, match=r"has a fault, so nothing was restored \(1 contents have lost some of their chunks"
    ):
        restore(path, backup, "time", moved=False)
    assert not is_new(path)
    assert sorted(file.name for file in path.parent.iterdir()) == ["s", "s.lock"]


def test_a_store_copied_by_hand_with_the_log_of_a_killed_daemon_is_restored_whole(path: Path, tmp_path: Path) -> None:
    leave_a_log(path)
    copied = tmp_path / "copied"
    copied.mkdir()
    for suffix in ("", "-wal", "-shm"):
        shutil.copy(path.with_name(f"s{suffix}"), copied / f"s{suffix}")
    before = listing(copied)
    restore(tmp_path / "new" / "s", copied / "s", "time", moved=True)
    assert sql(tmp_path / "new" / "s", "SELECT length(value) FROM meta WHERE name = 'logged'") == [(100_000,)]
    assert listing(copied) == before


def test_a_store_that_is_broken_is_replaced_and_kept_as_it_was(path: Path, backup: Path) -> None:
    path.write_bytes(b"broken")
    path.with_name("s-wal").write_bytes(b"old log")
    restored = restore(path, backup, "time", moved=False)
    assert is_new(path)
    assert restored.kept is not None
    assert restored.kept.read_bytes() == b"broken"
    assert restored.kept.with_name("s.before-restore-time-wal").read_bytes() == b"old log"


def test_a_backup_of_an_older_version_is_restored_as_it_is(tmp_path: Path) -> None:
    old_store(tmp_path / "old" / "s")
    restored = restore(tmp_path / "new" / "s", tmp_path / "old" / "s", "time", moved=True)
    assert restored.version == 1


def test_where_there_is_no_room_nothing_is_begun(path: Path, backup: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    set_disk(monkeypatch, 1000)
    with pytest.raises(StoreRefusal, match=r"There is no room for a copy of .*; nothing was changed"):
        restore(path, backup, "time", moved=False)
    assert not is_new(path)


def kill_each(path: Path, backup: Path, tmp_path: Path, steps: int | None) -> tuple[int, int]:
    """Kills a restore at lines of it; gives after how many the old store was there, and after how many the new one."""
    origin = tmp_path / "origin"
    leave_a_log(path)
    shutil.copytree(path.parent, origin)
    old_rows = sql(shutil.copytree(origin, tmp_path / "look") / "s", "SELECT id, facts FROM entry")
    lines = lines_of(WORK, MODULES, shutil.copytree(origin, tmp_path / "whole") / "s", backup)
    olds = news = 0
    for line in range(0, lines, max(lines // steps, 1) if steps else 1):
        data = shutil.copytree(origin, tmp_path / f"killed-{line}")
        store = data / "s"
        killed_at(line, WORK, MODULES, store, backup)
        beside = {file.name for file in data.iterdir()}
        new = is_new(store)
        if new:
            # No log of the old one lay beside it: its rows are those of the backup, and it is in another epoch.
            assert not {"s-wal", "s-shm", "s-journal"} & beside, line
            assert epoch(store) != epoch(backup)
            assert sql(store, "SELECT count(*) FROM meta WHERE name = 'logged'") == [(0,)]
        else:
            assert sql(store, "SELECT length(value) FROM meta WHERE name = 'logged'") == [(100_000,)], line
            assert sql(store, "SELECT id, facts FROM entry") == old_rows
        assert sql(store, "PRAGMA integrity_check") == [("ok",)]
        olds, news = olds + (not new), news + new
        # Whatever it left, the next one succeeds and leaves nothing half made that anybody could take for a store.
        restored = restore(store, backup, "again", moved=False)
        assert restored.kept is not None
        assert is_new(store)
        assert store.stat().st_nlink == 1
        shutil.rmtree(data)
    return olds, news


def test_a_kill_at_any_of_some_lines_leaves_the_old_store_or_the_new_one_whole(
    path: Path, backup: Path, tmp_path: Path
) -> None:
    olds, news = kill_each(path, backup, tmp_path, 20)
    assert olds >= 5
    assert news >= 1


@pytest.mark.long
def test_a_kill_at_every_line_leaves_the_old_store_or_the_new_one_whole(
    path: Path, backup: Path, tmp_path: Path
) -> None:
    olds, news = kill_each(path, backup, tmp_path, None)
    assert olds > 60
    assert news > 5
