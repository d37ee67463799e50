"""Copies of a store: whole, of one moment, while it is written; and what is there when one fails."""

import os
import shutil
import stat
import threading
import time
from pathlib import Path
from typing import Any

import apsw
import pytest

from tests.daemon.store.filled import Heard, fill, listing, old_store, set_disk, sql
from waybread_daemon.store.contract import StoreRefusal
from waybread_daemon.store.sqlite.backup import (
    back_up,
    copy_pages,
    keep_newest,
    name_in,
    origin,
    origin_of,
    refuse_existing,
    refuse_missing,
)
from waybread_daemon.store.sqlite.connection import close, connect, prepare
from waybread_daemon.store.sqlite.place import hold_place
from waybread_daemon.store.sqlite.statements import run


@pytest.fixture
def path(tmp_path: Path) -> Path:
    fill(tmp_path / "data" / "s")
    return tmp_path / "data" / "s"


def test_a_backup_is_one_file_for_its_owner_alone_with_everything_in_it(path: Path, tmp_path: Path) -> None:
    before = listing(path.parent)
    heard = Heard()
    made = back_up(path, tmp_path / "b", replace=False, progress=heard)
    assert made == (tmp_path / "b", (tmp_path / "b").stat().st_size)
    assert stat.S_IMODE(made.path.stat().st_mode) == 0o600
    assert sorted(file.name for file in tmp_path.iterdir()) == ["b", "data"]
    # No journal belongs to it: nothing but this file has to be kept.
    assert made.path.read_bytes()[18:20] == b"\x01\x01"
    for table in ("session", "entry", "content", "chunk", "holding"):
        assert sql(made.path, f"SELECT * FROM {table}") == sql(path, f"SELECT * FROM {table}")
    assert {what for what, _, _ in heard.told} >= {
        "copying",
        "checking the file",
        "checking that everything is there",
        "syncing",
    }
    assert {name: (mode, size) for name, (mode, size, _) in listing(path.parent).items()} == {
        name: (mode, size) for name, (mode, size, _) in before.items()
    }


def test_a_file_that_is_there_is_replaced_only_when_told_to(path: Path, tmp_path: Path) -> None:
    (tmp_path / "b").write_text("precious")
    before = listing(tmp_path)
    with pytest.raises(StoreRefusal, match="b is there already: say --replace, give another name, or name a folder"):
        back_up(path, tmp_path / "b", replace=False)
    assert listing(tmp_path) == before
    back_up(path, tmp_path / "b", replace=True)
    assert origin_of(tmp_path / "b") != ""


def test_while_a_writer_never_stops_the_copy_is_of_one_moment_and_ends(path: Path, tmp_path: Path) -> None:
    sql(path, "CREATE TABLE pairs (a, b); INSERT INTO pairs VALUES (0, 0)")
    stop = threading.Event()
    written: list[int] = []

    def write() -> None:
        connection: Any = apsw.Connection(str(path))
        connection.set_busy_timeout(10_000)
        number = 0
        while not stop.is_set():
            number += 1
            with connection:
                connection.execute("UPDATE pairs SET a = ?", (number,))
                connection.execute("INSERT INTO pairs VALUES (?, zeroblob(20000))", (number,))
                connection.execute("UPDATE pairs SET b = ? WHERE rowid = 1", (number,))
        written.append(number)
        connection.close()

    writer = threading.Thread(target=write)
    writer.start()
    time.sleep(0.2)
    backups = [back_up(path, tmp_path / f"b{at}", replace=False) for at in range(5)]
    stop.set()
    writer.join()
    moments: list[int] = []
    for made in backups:
        ((first, second),) = sql(made.path, "SELECT a, b FROM pairs WHERE rowid = 1")
        ((rows,),) = sql(made.path, "SELECT count(*) - 1 FROM pairs")
        assert first == second == rows
        moments.append(first)
    assert moments == sorted(set(moments))
    assert moments[-1] <= written[0]


def test_the_steps_of_one_copy_see_one_moment_though_others_commit_between_them(path: Path, tmp_path: Path) -> None:
    sql(path, "CREATE TABLE filler (a); INSERT INTO filler VALUES (zeroblob(20000000))")
    writes = 0
    heard: list[int] = []

    def write(_what: str, done: int, _all: int) -> None:
        nonlocal writes
        sql(path, "INSERT INTO meta VALUES (?, 1)", f"later-{writes}")
        writes += 1
        heard.append(done)

    source = connect(path, None)
    (tmp_path / "b").touch()
    copy_pages(source, tmp_path / "b", write)
    close(source)
    assert writes > 4
    # It never went back to the beginning, though another connection committed after each step.
    assert heard == sorted(set(heard))
    assert sql(tmp_path / "b", "SELECT count(*) FROM meta WHERE name LIKE 'later-%'") == [(0,)]
    assert sql(tmp_path / "b", "PRAGMA integrity_check") == [("ok",)]


def test_the_snapshot_ends_with_the_last_page_and_lets_the_log_be_cut_during_the_checks(
    path: Path, tmp_path: Path
) -> None:
    cut: list[bool] = []

    def look(what: str, _done: int, _all: int) -> None:
        if what != "checking the file":
            return
        connection = connect(path, None)
        run(connection.cursor(), "INSERT INTO meta VALUES ('later', 1)")
        assert path.with_name("s-wal").stat().st_size > 0
        connection.set_busy_timeout(0)
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        cut.append(path.with_name("s-wal").stat().st_size == 0)
        close(connection)

    back_up(path, tmp_path / "b", replace=False, progress=look)
    assert cut == [True]


def test_a_store_with_a_fault_gives_no_backup_and_leaves_nothing(path: Path, tmp_path: Path) -> None:
    sql(path, "DELETE FROM chunk WHERE id = (2 << 20) + 1")
    (tmp_path / "out").mkdir()
    with pytest.raises(StoreRefusal) as caught:
        back_up(path, tmp_path / "out" / "b", replace=False)
    assert str(caught.value) == (
        f"The store at {path} has a fault, so no backup was made (1 contents have lost some of their chunks (the first: 2)): "
        "`waybread doctor` tells all of it. Keep the backups that you have."
    )
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize(
    "spoil, why",
    [
        ("UPDATE entry SET encoding = 1 WHERE number = 1", "entry 2 of device 1: its text cannot be decompressed"),
        ("UPDATE content SET sha256 = zeroblob(32) WHERE id = 1", "content 1 of device 1 has another hash"),
        ("UPDATE event SET event = x'61' WHERE entry & 0xff = 3", "1 places in sessions' orders have another checksum"),
    ],
)
def test_a_content_that_is_not_right_gives_no_backup(path: Path, tmp_path: Path, spoil: str, why: str) -> None:
    sql(path, spoil)
    (tmp_path / "out").mkdir()
    with pytest.raises(StoreRefusal, match=rf"has a fault, so no backup was made \({why}.*`waybread doctor` tells"):
        back_up(path, tmp_path / "out" / "b", replace=False)
    assert list((tmp_path / "out").iterdir()) == []


def test_a_backup_replaces_a_backup_and_never_the_store(path: Path, tmp_path: Path) -> None:
    beside = path.parent / "backup"
    back_up(path, beside, replace=False)
    back_up(path, beside, replace=True)
    before = path.read_bytes()
    for target in (path, path.with_name("s-wal"), path.with_name("s.lock")):
        with pytest.raises(StoreRefusal, match=r"is the store's own file|belongs to the database beside it"):
            back_up(path, target, replace=True)
    (tmp_path / "link").symlink_to(path)
    with pytest.raises(StoreRefusal, match="is a link, which no backup can replace"):
        back_up(path, tmp_path / "link", replace=True)
    assert path.read_bytes() == before


def test_where_there_is_no_room_nothing_is_begun(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    set_disk(monkeypatch, 1000)
    (tmp_path / "out").mkdir()
    with pytest.raises(
        StoreRefusal,
        match=r"There is no room for a copy of .*: it takes \d+\.\d KiB, .* 1000 bytes are free, and 16\.0 MiB must stay so",
    ):
        back_up(path, tmp_path / "out" / "b", replace=False)
    assert list((tmp_path / "out").iterdir()) == []


def test_a_disk_that_runs_full_while_it_copies_leaves_nothing(path: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()

    def fail(what: str, _done: int, _all: int) -> None:
        if what == "syncing":
            raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        back_up(path, tmp_path / "out" / "b", replace=False, progress=fail)
    assert list((tmp_path / "out").iterdir()) == []


def test_no_store_an_empty_one_and_another_programs_are_refused(tmp_path: Path) -> None:
    target = tmp_path / "b"
    for path, content, why in (
        (tmp_path / "none", None, "There is no store at"),
        (tmp_path / "empty", b"", "is empty: start the daemon first"),
        (tmp_path / "text", b"dear diary", "is no database"),
    ):
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(StoreRefusal, match=why):
            back_up(path, target, replace=False)
    sql(tmp_path / "theirs", "CREATE TABLE a (b)")
    with pytest.raises(StoreRefusal, match="another program's"):
        back_up(tmp_path / "theirs", target, replace=False)
    assert not target.exists()


def test_a_store_of_an_older_version_can_be_backed_up_before_anything_else(tmp_path: Path) -> None:
    old_store(tmp_path / "data" / "s")
    back_up(tmp_path / "data" / "s", tmp_path / "b", replace=False)
    assert sql(tmp_path / "b", "PRAGMA user_version") == [(1,)]


def test_a_backup_knows_whether_a_daemon_held_the_store(path: Path, tmp_path: Path) -> None:
    back_up(path, tmp_path / "stopped", replace=False)
    lock = hold_place(path)
    back_up(path, tmp_path / "running", replace=False)
    os.close(lock)
    asked = "SELECT value FROM meta WHERE name = 'backup_beside_daemon'"
    assert (sql(tmp_path / "stopped", asked), sql(tmp_path / "running", asked)) == ([(0,)], [(1,)])
    assert sql(path, asked) == []


def test_only_the_oldest_backups_of_this_store_are_removed(path: Path, tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    prepare(tmp_path / "other" / "s", None)
    stamps = ["2026-01-01T00-00-00Z", "2026-01-02T00-00-00Z", "2026-01-03T00-00-00Z", "2026-01-03T00-00-00Z"]
    made = [back_up(path, name_in(folder, stamp), replace=False).path for stamp in stamps]
    back_up(tmp_path / "other" / "s", folder / "waybread-2025-01-01T00-00-00Z.sqlite", replace=False)
    shutil.copy(made[0], folder / "waybread-mine.sqlite")
    (folder / "waybread-2024-01-01T00-00-00Z.sqlite").write_text("somebody's notes")
    (folder / "waybread-2024-01-02T00-00-00Z.sqlite").symlink_to(made[0])
    (folder / "waybread-2024-01-03T00-00-00Z.sqlite").mkdir()
    others = {file.name for file in folder.iterdir()} - {file.name for file in made}
    assert [file.name for file in made[2:]] == [
        "waybread-2026-01-03T00-00-00Z.sqlite",
        "waybread-2026-01-03T00-00-00Z-2.sqlite",
    ]
    assert keep_newest(made[3], 5) == []
    assert keep_newest(made[3], 2) == made[:2]
    # The one just made is kept whatever the clock says.
    early = back_up(path, name_in(folder, "2020-01-01T00-00-00Z"), replace=False).path
    assert keep_newest(early, 1) == made[2:]
    assert {file.name for file in folder.iterdir()} == {*others, early.name}


def test_the_origin_of_a_store_is_the_epoch_in_which_it_began(path: Path, tmp_path: Path) -> None:
    ((epoch,),) = sql(path, "SELECT value FROM meta WHERE name = 'epoch'")
    assert origin_of(path) == epoch
    sql(path, "INSERT INTO meta VALUES ('origin', 'first')")
    connection = connect(path, None)
    assert origin(connection) == "first"
    close(connection)
    (tmp_path / "x").write_text("no database")
    assert origin_of(tmp_path / "x") == origin_of(tmp_path / "nothing") == ""


def test_what_is_there_and_what_is_missing_is_refused(path: Path, tmp_path: Path) -> None:
    refuse_missing(path)
    refuse_existing(tmp_path / "new")
    with pytest.raises(StoreRefusal, match="There is no store"):
        refuse_missing(tmp_path / "new")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    with pytest.raises(StoreRefusal, match="is there already"):
        refuse_existing(tmp_path / "dangling")
    copy = tmp_path / "late"

    def appear(what: str, _done: int, _all: int) -> None:
        if what == "syncing":
            copy.write_text("somebody else's")

    with pytest.raises(StoreRefusal, match="is there already"):
        back_up(path, copy, replace=False, progress=appear)
    assert copy.read_text() == "somebody else's"
