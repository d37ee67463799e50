"""A store on a disk that takes no writes can be looked at, with the log of a killed daemon and without."""

import subprocess
import sys
import tempfile
from pathlib import Path

import apsw
import pytest

from tests.daemon.store.filled import fill, listing, set_disk, sql
from waybread_daemon.store.contract import StoreRefusal
from waybread_daemon.store.sqlite import open_reader
from waybread_daemon.store.sqlite.backup import back_up
from waybread_daemon.store.sqlite.connection import close, connect
from waybread_daemon.store.sqlite.frozen import connect_unchanging, looking
from waybread_daemon.store.sqlite.statements import run, value

ASKED = "SELECT count(*) FROM entry"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    fill(tmp_path / "data" / "s", ("a",))
    return tmp_path / "data" / "s"


@pytest.fixture
def read_only(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every disk says that it is mounted read-only. That nothing is written is then seen in the folder."""
    assert path.exists()

    def yes(_: Path) -> bool:
        return True

    for module in ("frozen", "blocking", "place"):
        monkeypatch.setattr(f"waybread_daemon.store.sqlite.{module}.is_read_only", yes)


def leave_a_log(path: Path) -> None:
    connection = connect(path, None)
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    run(connection.cursor(), "PRAGMA wal_autocheckpoint = 0; INSERT INTO meta VALUES ('logged', 1)")
    close(connection)
    assert path.with_name("s-wal").stat().st_size > 0


def test_where_it_can_be_written_it_is_looked_at_in_its_place(path: Path) -> None:
    with looking(path) as connection:
        assert connection.filename == str(path)
        assert value(connection.cursor(), ASKED) == 6
        with pytest.raises(apsw.ReadOnlyError):
            run(connection.cursor(), "DELETE FROM meta")


@pytest.mark.usefixtures("read_only")
def test_without_a_log_nothing_is_made_or_copied(path: Path) -> None:
    before = listing(path.parent)
    with looking(path) as connection:
        assert value(connection.cursor(), ASKED) == 6
        assert listing(path.parent) == before
    assert listing(path.parent) == before


@pytest.mark.usefixtures("read_only")
def test_what_is_in_a_log_is_seen_and_the_copy_is_taken_away(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    leave_a_log(path)
    (tmp_path / "t").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "t"))
    before = listing(path.parent)
    with looking(path) as connection:
        assert value(connection.cursor(), "SELECT value FROM meta WHERE name = 'logged'") == 1
        (copies,) = (tmp_path / "t").iterdir()
        assert oct((copies / "s").stat().st_mode & 0o777) == "0o600"
    assert list((tmp_path / "t").iterdir()) == []
    assert listing(path.parent) == before


@pytest.mark.usefixtures("read_only")
def test_where_there_is_no_room_for_the_copy_it_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    leave_a_log(path)
    set_disk(monkeypatch, 1000)
    why = r"There is no room for a copy of .*, which is on a disk .* read-only"
    with pytest.raises(StoreRefusal, match=why), looking(path):
        pass


@pytest.mark.usefixtures("read_only")
def test_readers_and_a_backup_work_and_touch_nothing(path: Path, tmp_path: Path) -> None:
    leave_a_log(path)
    before = listing(path.parent)
    with open_reader(path) as reader:
        session = reader.session(1, "a")
        assert session is not None
        assert session.results == 5
    back_up(path, tmp_path / "b", replace=False)
    assert sql(tmp_path / "b", "SELECT value FROM meta WHERE name = 'logged'") == [(1,)]
    assert listing(path.parent) == before


def test_an_unchanging_file_knows_the_checksums(path: Path) -> None:
    connection = connect_unchanging(path)
    assert value(connection.cursor(), "SELECT row_checksum(1) IS NOT NULL") == 1
    close(connection)


_MOUNTED = """
set -e
mount --make-rprivate /
mkdir "$1/ro"
mount -t tmpfs none "$1/ro"
cp -a "$1/data" "$1/ro/data"
mv "$1/ro/data/s" "$1/ro/data/waybread.sqlite"
mount -o remount,ro "$1/ro"
for command in status sessions doctor "backup $1/b.sqlite"; do
    "$2" -m waybread_daemon $command --data "$1/ro/data" >> "$1/out" 2>&1 || true
done
"$2" -m waybread_daemon export a --data "$1/ro/data" > "$1/export"
"""


def test_on_a_disk_that_is_mounted_read_only_the_commands_that_look_work(path: Path, tmp_path: Path) -> None:
    mounted = subprocess.run(
        ["unshare", "--mount", "--map-root-user", "sh", "-c", _MOUNTED, "sh", str(tmp_path), sys.executable],
        check=False,
        capture_output=True,
        timeout=60,
    )
    if not (tmp_path / "out").exists():
        pytest.skip(f"nothing can be mounted here: {mounted.stderr.decode()[-200:]}")
    assert mounted.returncode == 0, mounted.stderr
    out = (tmp_path / "out").read_text()
    assert "daemon    not running" in out
    assert "is on a disk that is mounted read-only, so no daemon can serve it" in out
    assert "contents: all of 6 entries and 3 contents are there, and every hash is right" in out
    assert "checked, in" in out
    assert "waybread:" not in out
    assert sql(tmp_path / "b.sqlite", ASKED) == [(6,)]
    assert '"line":"end"' in (tmp_path / "export").read_text()
