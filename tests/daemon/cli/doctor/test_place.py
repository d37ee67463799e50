"""The data folder as the doctor sees it."""

import os
from pathlib import Path

import pytest

from tests.daemon.store.filled import listing
from waybread_daemon.cli.doctor.findings import Finding
from waybread_daemon.cli.doctor.place import place_findings, refused
from waybread_daemon.store.contract import StoreRefusal
from waybread_daemon.store.sqlite.connection import prepare
from waybread_daemon.store.sqlite.copying import draft
from waybread_daemon.store.sqlite.place import hold_place


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "data" / "waybread.sqlite"
    prepare(path, None)
    return path


def bad(path: Path) -> list[Finding]:
    before = listing(path.parent)
    found = [finding for finding in place_findings(path) if finding.level != "ok"]
    assert listing(path.parent) == before
    return found


def repaired(finding: Finding) -> str:
    assert finding.repair is not None
    return finding.repair()


def test_a_folder_as_a_daemon_makes_it_has_nothing_wrong(path: Path) -> None:
    os.close(hold_place(path))
    assert bad(path) == []
    assert refused(path) is None


@pytest.mark.parametrize("mode, level", [(0o755, "warning"), (0o710, "warning"), (0o770, "fault"), (0o707, "fault")])
def test_a_folder_that_is_open_to_others_is_closed_by_a_repair(path: Path, mode: int, level: str) -> None:
    path.parent.chmod(mode)
    (finding,) = bad(path)
    assert (finding.level, finding.remedy) == (level, f"run `chmod 700 {path.parent}`")
    assert f"(mode {mode:o})" in finding.sentence
    assert repaired(finding) == f"set the mode of {path.parent} to 700"
    assert bad(path) == []


@pytest.mark.parametrize(
    "name", ["waybread.sqlite", "waybread.sqlite.before-version-2", "waybread.sqlite-wal", "waybread.sock"]
)
def test_a_file_that_others_can_read_is_closed_by_a_repair(path: Path, name: str) -> None:
    file = path.with_name(name)
    file.touch()
    file.chmod(0o640)
    (finding,) = bad(path)
    assert (finding.level, finding.sentence) == ("fault", f"{file} is open to others (mode 640)")
    repaired(finding)
    assert file.stat().st_mode & 0o777 == 0o600


def test_settings_may_be_read_and_not_written_by_others(path: Path) -> None:
    file = path.with_name("waybread.toml")
    file.touch(0o644)
    file.chmod(0o644)
    assert bad(path) == []
    file.chmod(0o664)
    (finding,) = bad(path)
    assert finding.sentence == f"{file} is open to others (mode 664)"


def test_a_disk_that_is_mounted_read_only_is_a_fault_and_no_reason_to_look_no_further(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def yes(_: Path) -> bool:
        return True

    for module in ("waybread_daemon.cli.doctor.place", "waybread_daemon.store.sqlite.place"):
        monkeypatch.setattr(f"{module}.is_read_only", yes)
    assert refused(path) is None
    (finding,) = bad(path)
    assert finding.level == "fault"
    assert finding.sentence == f"{path.parent} is on a disk that is mounted read-only, so no daemon can serve it"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
def test_a_file_of_another_user_is_told_with_the_chown(path: Path) -> None:
    file = path.with_name("waybread.toml")
    file.touch(0o600)
    os.chown(file, 54_321, 54_321)
    (finding,) = bad(path)
    assert finding.remedy == f"run `chown 0:0 {file}` as root"
    os.chown(path.parent, 54_321, 54_321)
    stopped = refused(path)
    assert stopped is not None
    assert stopped.level == "fault"
    assert "belongs to user 54321 and this process runs as user root (0)" in stopped.sentence
    assert f"`chown -R 0:0 {path.parent}`" in stopped.remedy


def test_what_killed_commands_left_half_made_is_taken_away_by_a_repair(path: Path) -> None:
    stale = path.with_name("waybread.sqlite.0123456789ab.waybread-tmp")
    with draft(path):
        # One that is still being made is nobody's leftover.
        assert bad(path) == []
    stale.touch(0o600)
    (finding,) = bad(path)
    assert finding.sentence == f"commands that were killed left half-made files: {stale.name}"
    assert repaired(finding) == "removed 1 half-made files"
    assert not stale.exists()


def test_a_second_name_of_the_store_is_no_older_store(path: Path) -> None:
    second = path.with_name("waybread.sqlite.before-restore-x")
    os.link(path, second)
    (finding,) = bad(path)
    assert finding.sentence.startswith("a restore or a migration was killed before its last step")
    lock = hold_place(path)
    with pytest.raises(StoreRefusal, match="a daemon runs"):
        repaired(finding)
    os.close(lock)
    assert repaired(finding) == "took the second name away"
    assert not second.exists()
    assert path.exists()


def test_older_stores_are_told_of_with_their_size(path: Path) -> None:
    path.with_name("waybread.sqlite.before-restore-x").write_bytes(bytes(3 * 1024 * 1024))
    path.with_name("waybread.sqlite.before-restore-x").chmod(0o600)
    assert bad(path) == []
    assert [finding.sentence for finding in place_findings(path)][-1] == (
        "1 older stores are kept here and take 3.0 MiB: remove those that you do not need"
    )


def test_where_there_is_no_folder_that_is_the_fault(tmp_path: Path) -> None:
    finding = refused(tmp_path / "nothing" / "waybread.sqlite")
    assert finding is not None
    assert (finding.level, finding.sentence) == ("fault", f"{tmp_path}/nothing is not there")
    assert not (tmp_path / "nothing").exists()
