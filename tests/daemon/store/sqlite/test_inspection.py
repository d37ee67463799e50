"""A store as a doctor looks at it, and what may be repaired."""

# pyright: reportPrivateUsage=false

from pathlib import Path

import apsw
import pytest

from tests.daemon.store.filled import listing, old_store, sql
from waybread_daemon.store.contract import StoreFault
from waybread_daemon.store.sqlite import connection as settings
from waybread_daemon.store.sqlite.connection import close, connect
from waybread_daemon.store.sqlite.copying import no_progress
from waybread_daemon.store.sqlite.inspection import cut_log, inspect, purge_leftovers, reindex
from waybread_daemon.store.sqlite.schema import migrations
from waybread_daemon.store.sqlite.statements import run


def leave_a_log(path: Path) -> None:
    connection = connect(path, None)
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    run(connection.cursor(), "UPDATE session SET changed_ms = 99999999999999")
    close(connection)


def test_a_whole_store_is_told_of(path: Path) -> None:
    with inspect(path) as found:
        assert (found.version, found.newest_version) == (len(migrations()), len(migrations()))
        assert found.file_faults() == []
        assert found.row_faults(no_progress) == []
        assert list(found.data_faults(no_progress)) == []
        assert found.counts() == (12, 4)
        assert found.loose() == 0
        (device,) = found.devices()
        assert device.name == "phone"
        assert 50_000 < device.used_bytes < 200_000


def test_a_log_that_a_killed_daemon_left_is_read_and_stays(path: Path) -> None:
    leave_a_log(path)
    before = {
        name: entry for name, entry in listing(path.parent).items() if not name.endswith(("-shm", str(path.parent)))
    }
    with inspect(path) as found:
        assert found.newest_ms() == 99999999999999
    after = listing(path.parent)
    assert {name: after[name] for name in before} == before


def test_a_store_that_is_whole_has_nothing_new_beside_it_afterwards(path: Path) -> None:
    with inspect(path) as found:
        assert found.newest_ms() == 12
    assert [file.name for file in path.parent.iterdir() if file.name.startswith("s-")] == []


def test_a_store_of_an_older_version_can_be_looked_at_too(tmp_path: Path) -> None:
    old_store(tmp_path / "s")
    with inspect(tmp_path / "s") as found:
        assert found.version == 1
        assert found.row_faults(no_progress) == []
        assert list(found.data_faults(no_progress)) == []
        assert found.devices() == []
        assert found.newest_ms() == 0


def test_what_is_no_database_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "s").write_text("dear diary" * 1000)
    with pytest.raises(StoreFault, match="NotADBError"), inspect(tmp_path / "s"):
        pass
    assert [file.name for file in tmp_path.iterdir()] == ["s"]


def test_a_look_cannot_write(path: Path) -> None:
    with pytest.raises(StoreFault, match="readonly"), inspect(path) as found:
        run(found._connection.cursor(), "DELETE FROM meta")


def test_an_index_that_lost_a_row_is_made_anew(path: Path) -> None:
    sql(
        path,
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'session, number', 'session, id') "
        "WHERE name = 'entry_by_number'",
    )
    with inspect(path) as found:
        assert found.file_faults() != []
    reindex(path)
    with inspect(path) as found:
        assert found.file_faults() == []


def test_the_log_is_cut_unless_somebody_reads_an_old_state(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "BUSY_TIMEOUT_MS", 100)
    reading = connect(path, None)
    run(reading.cursor(), "BEGIN")
    run(reading.cursor(), "SELECT * FROM meta")
    writing = connect(path, None)
    run(writing.cursor(), "INSERT INTO meta VALUES ('more', zeroblob(100000))")
    log = path.with_name("s-wal")
    assert log.stat().st_size > 100_000
    assert cut_log(path) is False
    run(reading.cursor(), "ROLLBACK")
    assert cut_log(path) is True
    assert log.stat().st_size == 0
    close(reading)
    close(writing)


def test_what_no_session_holds_is_taken_away_and_nothing_else(path: Path) -> None:
    sql(
        path,
        "INSERT INTO content VALUES (50, 1, x'00', 0, 9, 1, 9, x'', NULL, 9, 0); INSERT INTO chunk VALUES (50 << 20, x'00', 0)",
    )
    with inspect(path) as found:
        assert found.loose() == 1
    purge_leftovers(path)
    with inspect(path) as found:
        assert found.loose() == 0
        assert found.counts() == (12, 4)
        assert found.row_faults(no_progress) == []
    assert sql(path, "SELECT count(*) FROM chunk WHERE id = 50 << 20") == [(0,)]
