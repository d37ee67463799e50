"""One file in the place of another, with nothing of the old one beside it."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import apsw
import pytest

from tests.daemon.store.filled import sql
from waybread_daemon.store.contract import StoreRefusal
from waybread_daemon.store.sqlite import copying, open_reader, swap
from waybread_daemon.store.sqlite.connection import close, connect, prepare
from waybread_daemon.store.sqlite.statements import run, value
from waybread_daemon.store.sqlite.swap import alone, forget_second_names, name_for_old, old_stores, put_in_place


def store(path: Path, name: str) -> Path:
    """A store that can be told from others."""
    path.parent.mkdir(exist_ok=True)
    prepare(path, None)
    sql(path, "INSERT INTO meta VALUES ('name', ?)", name)
    return path


def name_of(path: Path) -> str:
    return str(sql(path, "SELECT value FROM meta WHERE name = 'name'")[0][0])


def killed(path: Path) -> None:
    """Gives the store a log, as a daemon that was killed leaves it, which holds the last change."""
    connection = connect(path, None)
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    run(connection.cursor(), "PRAGMA wal_autocheckpoint = 0")
    run(connection.cursor(), "UPDATE meta SET value = 'in the log' WHERE name = 'name'")
    close(connection)
    assert path.with_name(f"{path.name}-wal").stat().st_size > 0


def single(path: Path) -> Path:
    """The same as one file without a log."""
    connection = connect(path, None)
    assert value(connection.cursor(), "PRAGMA journal_mode = DELETE") == "delete"
    close(connection)
    return path


def test_the_new_store_has_the_name_and_nothing_of_the_old_ones_log(tmp_path: Path) -> None:
    path, new = store(tmp_path / "s", "old"), single(store(tmp_path / "n", "new"))
    killed(path)
    with alone(path) as old:
        assert old is not None
        put_in_place(new, path, tmp_path / "kept", settled=True)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["kept", "s"]
    assert (name_of(path), name_of(tmp_path / "kept")) == ("new", "in the log")
    assert path.stat().st_nlink == 1


def test_where_there_was_no_store_the_new_one_takes_the_place(tmp_path: Path) -> None:
    new = single(store(tmp_path / "n", "new"))
    with alone(tmp_path / "s") as old:
        assert old is None
        put_in_place(new, tmp_path / "s", None, settled=False)
    assert [file.name for file in tmp_path.iterdir()] == ["s"]


def test_an_old_file_that_cannot_be_read_is_put_aside_with_its_log(tmp_path: Path) -> None:
    path, new = tmp_path / "s", single(store(tmp_path / "n", "new"))
    path.write_bytes(b"broken" * 1000)
    (tmp_path / "s-wal").write_bytes(b"log")
    (tmp_path / "s-shm").write_bytes(b"shared")
    with alone(path) as old:
        assert old is None
        put_in_place(new, path, tmp_path / "kept", settled=False)
    assert name_of(path) == "new"
    assert (tmp_path / "kept").read_bytes() == b"broken" * 1000
    assert (tmp_path / "kept-wal").read_bytes() == b"log"
    assert not (tmp_path / "s-wal").exists()


@pytest.mark.parametrize("reading", [True, False])
def test_a_store_that_somebody_has_open_is_refused_and_left_as_it_was(tmp_path: Path, reading: bool) -> None:
    path = store(tmp_path / "s", "old")
    other = connect(path, None)
    run(other.cursor(), "BEGIN" if reading else "BEGIN IMMEDIATE")
    run(other.cursor(), "SELECT * FROM meta")
    with pytest.raises(StoreRefusal, match=r"Another command or program has the store at .* open: end it"), alone(path):
        pass
    close(other)
    assert name_of(path) == "old"
    with alone(path) as old:
        assert old is not None


def test_whoever_opens_it_meanwhile_waits_and_gets_no_log_beside_the_new_one(tmp_path: Path) -> None:
    path, new = store(tmp_path / "s", "old"), single(store(tmp_path / "n", "new"))
    said: list[str] = []

    def command() -> None:
        try:
            with open_reader(path):
                said.append("looked")
        except StoreRefusal as refusal:
            said.append(str(refusal))

    with alone(path):
        commands = [threading.Thread(target=command) for _ in range(4)]
        for one in commands:
            one.start()
        time.sleep(0.5)
        assert said == []
        put_in_place(new, path, tmp_path / "kept", settled=True)
    for one in commands:
        one.join()
    assert said == [f"The store at {path} was replaced just now: do it again."] * 4
    assert sorted(file.name for file in tmp_path.iterdir()) == ["kept", "s"]
    assert (name_of(path), name_of(tmp_path / "kept")) == ("new", "old")


def test_a_file_system_with_one_name_a_file_gets_a_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, new = store(tmp_path / "s", "old"), single(store(tmp_path / "n", "new"))

    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    with alone(path):
        put_in_place(new, path, tmp_path / "kept", settled=True)
        # The copy did not let go of the lock: the old file is still nobody else's.
        other = apsw.Connection(str(tmp_path / "kept"))
        other.close()
    assert (name_of(path), name_of(tmp_path / "kept")) == ("new", "old")


def test_the_lock_on_the_old_file_lasts_until_it_is_replaced_even_where_it_is_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, new = store(tmp_path / "s", "old"), single(store(tmp_path / "n", "new"))
    seen: list[str] = []

    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    real = copying.sync_folder

    def look(folder: Path) -> None:
        # Another process: within one, locks are not told apart.
        program = (
            "import apsw, sys; c = apsw.Connection(sys.argv[1])\n"
            "try: c.execute('SELECT * FROM meta').fetchall(); print('in')\n"
            "except apsw.BusyError: print('locked')"
        )
        if path.exists() and new.exists():
            ran = subprocess.run([sys.executable, "-c", program, path], check=True, capture_output=True, text=True)
            seen.append(ran.stdout.strip())
        real(folder)

    monkeypatch.setattr(os, "link", refuse)
    monkeypatch.setattr(swap, "sync_folder", look)
    with alone(path):
        put_in_place(new, path, tmp_path / "kept", settled=True)
    assert seen == ["locked", "locked"]


def test_any_other_fault_of_a_link_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, new = store(tmp_path / "s", "old"), single(store(tmp_path / "n", "new"))

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "link", refuse)
    with pytest.raises(OSError, match="No space left"), alone(path):
        put_in_place(new, path, tmp_path / "kept", settled=True)
    assert name_of(path) == "old"


def test_a_second_name_of_the_store_is_taken_away_and_an_older_store_is_not(tmp_path: Path) -> None:
    path = store(tmp_path / "s", "mine")
    other = single(store(tmp_path / "s.before-version-2", "older"))
    os.link(path, tmp_path / "s.before-restore-x")
    assert old_stores(path) == [tmp_path / "s.before-restore-x", other]
    forget_second_names(path)
    assert old_stores(path) == [other]
    assert (name_of(path), name_of(other)) == ("mine", "older")
    forget_second_names(tmp_path / "nothing")


def test_an_old_store_gets_a_name_that_is_free(tmp_path: Path) -> None:
    assert name_for_old(tmp_path / "s", "before-version-2") == tmp_path / "s.before-version-2"
    (tmp_path / "s.before-version-2").touch()
    (tmp_path / "s.before-version-2-2").symlink_to("nowhere")
    assert name_for_old(tmp_path / "s", "before-version-2") == tmp_path / "s.before-version-2-3"
