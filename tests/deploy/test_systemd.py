"""The units, as systemd itself judges them."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.deploy.units import Unit
from tests.house.checkout import ROOT

SYSTEMD = ROOT / "deploy/systemd"
SERVICE = SYSTEMD / "waybread.service"
BACKUP = SYSTEMD / "waybread-backup.service"
MOST_EXPOSURE = 2.0
needs_analyze = pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")


def analyze(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["systemd-analyze", *words], capture_output=True, text=True, check=False, timeout=60)


@needs_analyze
@pytest.mark.parametrize("unit", [SERVICE, BACKUP], ids=["daemon", "backup"])
def test_systemd_finds_little_exposed(unit: Path) -> None:
    done = analyze("security", "--offline=true", f"--threshold={int(MOST_EXPOSURE * 10)}", "--no-pager", str(unit))
    assert done.returncode == 0, done.stdout
    level = re.search(r"Overall exposure level for .*: ([\d.]+)", done.stdout)
    assert level is not None
    assert float(level[1]) <= MOST_EXPOSURE


@needs_analyze
@pytest.mark.parametrize("name", ["waybread.service", "waybread-backup.service", "waybread-backup.timer"])
def test_systemd_understands_every_line(name: str, tmp_path: Path) -> None:
    # The program is not installed here: something that can be executed stands in its place.
    for unit in SYSTEMD.glob("waybread*.*"):
        text = unit.read_text().replace("/opt/waybread/current/bin/waybread", "/bin/true")
        (tmp_path / unit.name).write_text(text)
    done = analyze("verify", "--man=no", str(tmp_path / name))
    assert (done.returncode, [line for line in done.stderr.splitlines() if "waybread" in line]) == (0, [])


@pytest.mark.skipif(shutil.which("systemd-sysusers") is None, reason="needs systemd-sysusers")
def test_the_user_is_made_with_its_group_and_no_shell(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    subprocess.run(["systemd-sysusers", f"--root={tmp_path}", ROOT / "deploy/sysusers.d/waybread.conf"], check=True)
    line = (tmp_path / "etc/passwd").read_text().splitlines()[-1]
    name, _, uid, gid, _, home, shell = line.split(":")
    assert (name, home, shell) == ("waybread", "/var/lib/waybread", "/usr/sbin/nologin")
    assert uid == gid


def test_both_services_work_as_that_user_on_the_same_folder() -> None:
    for path in (SERVICE, BACKUP):
        unit = Unit(path)
        assert (unit.one("User"), unit.one("StateDirectory"), unit.one("StateDirectoryMode")) == (
            "waybread", "waybread", "0700",
        )  # fmt: skip
        assert unit.environment()["WAYBREAD_DATA"] == "/var/lib/waybread"


def test_a_stop_leaves_more_time_than_the_drain_takes() -> None:
    assert int(Unit(SERVICE).one("TimeoutStopSec")) == 35


def test_the_watchdog_bites_after_30_s_and_leaves_no_core_with_tokens_in_it() -> None:
    assert (Unit(SERVICE).one("WatchdogSec"), Unit(SERVICE).one("LimitCORE")) == ("30", "0")


def test_the_backup_goes_where_its_folder_is_made() -> None:
    unit = Unit(BACKUP)
    (folder,) = unit.words("ReadWritePaths")
    assert unit.one("ExecStart").endswith(f" backup {folder} --keep 14")
    assert f"d {folder} 0700 waybread waybread -" in (ROOT / "deploy/tmpfiles.d/waybread.conf").read_text()
