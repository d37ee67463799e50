"""The store as the doctor sees it, and what is repaired in it."""

import os
from pathlib import Path

import apsw
import pytest

from tests.daemon.store.filled import fill, old_store, sql
from waybread_daemon.cli.doctor import store
from waybread_daemon.cli.doctor.findings import Finding
from waybread_daemon.cli.doctor.store import clock_finding, sqlite_finding, store_findings
from waybread_daemon.config import Config
from waybread_daemon.store.contract import StoreRefusal
from waybread_daemon.store.sqlite.connection import close, connect
from waybread_daemon.store.sqlite.copying import no_progress
from waybread_daemon.store.sqlite.place import hold_place
from waybread_daemon.store.sqlite.statements import run


@pytest.fixture
def path(tmp_path: Path) -> Path:
    fill(tmp_path / "waybread.sqlite")
    return tmp_path / "waybread.sqlite"


def found(path: Path, config: Config | None = None) -> list[Finding]:
    return list(store_findings(path, config or Config(), no_progress))


def bad(path: Path, config: Config | None = None) -> list[Finding]:
    return [finding for finding in found(path, config) if finding.level != "ok"]


def repaired(finding: Finding) -> str:
    assert finding.repair is not None
    return finding.repair()


def spoil_an_index(path: Path) -> None:
    """The index then says something else than its table."""
    sql(
        path,
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, '(session, number)', '(session, id)') "
        "WHERE name = 'entry_by_number'",
    )


def test_a_whole_store_is_told_of_with_what_it_holds(path: Path) -> None:
    assert [(finding.level, finding.check) for finding in found(path)] == [
        ("ok", "integrity"),
        ("ok", "contents"),
        ("ok", "clock"),
    ]
    assert found(path)[1].sentence == "all of 12 entries and 4 contents are there, and every hash is right"


@pytest.mark.parametrize(
    "spoil, check, sentence",
    [
        (
            "DELETE FROM content WHERE id = 1",
            "consistency",
            "2 results have lost their content (the first: entry 3 of device 1)",
        ),
        (
            "UPDATE content SET sha256 = zeroblob(32) WHERE id = 1",
            "contents",
            f"content 1 of device 1 has another hash than it is known by ({'0' * 64})",
        ),
    ],
)
def test_what_is_lost_is_a_fault_whose_remedy_is_a_backup(path: Path, spoil: str, check: str, sentence: str) -> None:
    sql(path, spoil)
    finding = bad(path)[0]
    assert (finding.level, finding.check, finding.sentence) == ("fault", check, sentence)
    assert "`waybread restore` the newest backup" in finding.remedy
    assert finding.repair is None


def test_of_very_many_faults_some_are_told_and_the_rest_counted(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_MOST", 5)
    sql(path, "UPDATE entry SET facts = x'00'")
    faults = [finding.sentence for finding in bad(path) if finding.check == "contents"]
    assert len(faults) == 6
    assert faults[5] == "7 more entries or contents cannot be read"


def test_a_broken_index_is_made_anew_when_no_daemon_runs(path: Path) -> None:
    spoil_an_index(path)
    (finding, *_) = bad(path)
    assert (finding.level, finding.check) == ("fault", "integrity")
    lock = hold_place(path)
    with pytest.raises(StoreRefusal, match="Another Waybread serves the store"):
        repaired(finding)
    os.close(lock)
    assert repaired(finding) == "made the indexes anew; the file is whole"
    assert bad(path) == []


def test_a_broken_file_is_never_repaired(path: Path) -> None:
    data = bytearray(path.read_bytes())
    ((page,),) = sql(path, "SELECT rootpage FROM sqlite_schema WHERE name = 'entry'")
    data[(page - 1) * 4096 : page * 4096] = bytes(4096)
    path.write_bytes(data)
    finding = bad(path)[0]
    assert (finding.level, finding.repair) == ("fault", None)
    assert finding.check in ("integrity", "store")


def test_what_is_no_database_is_told(tmp_path: Path) -> None:
    (tmp_path / "s").write_text("dear diary" * 1000)
    (finding,) = found(tmp_path / "s")
    assert (finding.level, finding.sentence) == (
        "fault",
        f"the store at {tmp_path}/s cannot be read (file is not a database)",
    )


def test_versions_are_told(tmp_path: Path, path: Path) -> None:
    old_store(tmp_path / "old" / "s")
    (finding,) = bad(tmp_path / "old" / "s")
    assert finding.level == "warning"
    assert finding.sentence.startswith("an older Waybread wrote it (version 1, this one's is ")
    sql(path, "PRAGMA user_version = 99")
    (finding,) = found(path)
    assert (finding.level, finding.remedy) == ("fault", "install that one again")


def test_where_there_is_no_store_yet_none_is_made(tmp_path: Path) -> None:
    (finding,) = found(tmp_path / "s")
    assert (finding.level, finding.sentence) == ("warning", f"there is no store at {tmp_path}/s yet")
    assert list(tmp_path.iterdir()) == []


def test_a_device_near_its_quota_is_a_warning_and_one_over_it_a_fault(path: Path) -> None:
    ((used,),) = sql(path, "SELECT (SELECT sum(stored_bytes) FROM session) + files_stored_bytes FROM device")
    levels = [
        [finding.level for finding in bad(path, Config(device_quota_bytes=quota))]
        for quota in (0, used * 2, used + 1, used)
    ]
    assert levels == [[], [], ["warning"], ["fault"]]
    (finding,) = bad(path, Config(device_quota_bytes=used))
    assert finding.sentence.startswith("the device 'phone' takes ")


def test_wrong_sizes_are_counted_anew_when_no_daemon_runs(path: Path) -> None:
    sql(path, "UPDATE session SET stored_bytes = 7 WHERE number = 1")
    (finding,) = bad(path)
    assert (finding.level, finding.check) == ("fault", "sizes")
    assert finding.sentence == "1 sizes are wrong (the session a has other sizes than its row says)"
    lock = hold_place(path)
    with pytest.raises(StoreRefusal, match="Another Waybread serves the store"):
        repaired(finding)
    os.close(lock)
    assert repaired(finding) == "counted all sizes anew"
    assert bad(path) == []


def test_a_log_that_grew_too_large_is_cut_by_a_repair(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "LOG_LIMIT_BYTES", 10_000)
    reading = connect(path, None)
    run(reading.cursor(), "SELECT * FROM meta")
    writing = connect(path, None)
    run(writing.cursor(), "INSERT INTO meta VALUES ('more', zeroblob(100000))")
    (finding,) = bad(path)
    assert (finding.level, finding.check) == ("warning", "log")
    assert repaired(finding) == "cut the log"
    assert bad(path) == []
    close(writing)
    close(reading)


def test_contents_that_nobody_holds_are_taken_away_by_a_repair_and_left_to_a_daemon_that_runs(path: Path) -> None:
    sql(path, "INSERT INTO content VALUES (50, 1, x'00', 0, 9, 1, 9, x'', NULL, 9, 0)")
    (finding,) = bad(path)
    assert finding.sentence == "1 contents were written ahead or let go, and no session holds them"
    lock = hold_place(path)
    assert bad(path) == []
    os.close(lock)
    assert repaired(finding) == "took away what no session holds"
    assert bad(path) == []


def test_a_clock_that_cannot_be_right_is_told() -> None:
    now_ms = 1_800_000_000_000
    assert clock_finding(now_ms, now_ms).level == "ok"
    assert clock_finding(now_ms + 59_000, now_ms).level == "ok"
    assert clock_finding(now_ms + 61_000, now_ms).level == "warning"
    assert clock_finding(0, 1_000_000).level == "fault"


def test_an_sqlite_that_can_corrupt_a_store_is_a_fault() -> None:
    assert sqlite_finding(apsw.sqlite_lib_version()).level == "ok"
    finding = sqlite_finding("3.40.1")
    assert (finding.level, finding.remedy) == ("fault", "install the package apsw from a wheel, which brings its own.")
    assert "The SQLite library here is 3.40.1" in finding.sentence
