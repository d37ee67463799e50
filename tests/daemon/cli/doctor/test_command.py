"""`waybread doctor` as a person runs it."""

import os
import shutil
from pathlib import Path

import pytest

from tests.daemon.cli.conftest import Filled
from tests.daemon.cli.support import Ran, serving, waybread
from tests.daemon.store.filled import listing, sql

CHECKS = ["sqlite", "settings", "data folder", "disk", "address", "integrity", "contents", "clock"]


@pytest.fixture
def data(filled: Filled, tmp_path: Path) -> Path:
    copied = Path(shutil.copytree(filled.data, tmp_path / "data"))
    copied.chmod(0o700)
    return copied


def doctor(data: Path, *words: str) -> Ran:
    # A port of its own, whatever runs on this machine.
    return waybread("doctor", *words, "--data", data, WAYBREAD_PORT="0")


def test_a_healthy_store_has_a_line_for_each_check_and_status_0(data: Path) -> None:
    before = {name: (mode, size) for name, (mode, size, _) in listing(data).items()}
    ran = doctor(data)
    assert (ran.status, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert [line.split(":")[0].split(maxsplit=1) for line in lines[:-1]] == [["ok", check] for check in CHECKS]
    assert lines[-1] == "0 faults, 0 warnings"
    assert {name: (mode, size) for name, (mode, size, _) in listing(data).items()} == before


def test_faults_have_status_1_and_each_its_remedy(data: Path) -> None:
    sql(data / "waybread.sqlite", "UPDATE content SET sha256 = zeroblob(32) WHERE id = 1")
    ran = doctor(data)
    assert ran.status == 1
    lines = ran.out.splitlines()
    at = next(at for at, line in enumerate(lines) if line.startswith("fault"))
    assert lines[at].startswith("fault    contents: content 1 of device ")
    assert lines[at + 1] == (
        "         what to do: stop the daemon, keep a copy of the data folder, and `waybread restore` the newest backup that is "
        "whole"
    )
    assert lines[-1] == "1 faults, 0 warnings"
    objects = doctor(data, "--json").objects()
    assert [one["level"] for one in objects].count("fault") == 1
    assert set(objects[0]) == {"level", "check", "sentence", "remedy", "repaired", "not_repaired"}


def test_warnings_alone_have_status_0(data: Path) -> None:
    data.chmod(0o755)
    ran = doctor(data)
    assert ran.status == 0
    assert ran.out.splitlines()[-1] == "0 faults, 1 warnings"


def test_a_repair_does_what_loses_nothing_and_says_it(data: Path) -> None:
    data.chmod(0o777)
    (data / "waybread.sqlite").chmod(0o644)
    assert doctor(data).status == 1
    ran = doctor(data, "--repair")
    assert ran.status == 0
    assert f"         repaired: set the mode of {data} to 700" in ran.out.splitlines()
    assert (data.stat().st_mode & 0o777, (data / "waybread.sqlite").stat().st_mode & 0o777) == (0o700, 0o600)
    assert doctor(data).out.splitlines()[-1] == "0 faults, 0 warnings"


def test_what_a_repair_cannot_do_beside_a_daemon_it_says(data: Path) -> None:
    sql(
        data / "waybread.sqlite",
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, '(session, number)', '(session, id)') "
        "WHERE name = 'entry_by_number'",
    )
    with serving(data) as daemon:
        ran = doctor(data, "--repair")
        assert ran.status == 1
        assert "not repaired: Another Waybread serves the store at" in ran.out
        assert daemon.stop() == 0
    assert doctor(data, "--repair").status == 0
    assert doctor(data).status == 0


def test_it_works_beside_a_daemon(data: Path) -> None:
    with serving(data) as daemon:
        ran = doctor(data)
        assert ran.status == 0
        assert "ok       daemon: a daemon runs (waybread/" in ran.out
        assert "answers and is ready" in ran.out
        assert daemon.stop() == 0


def test_where_there_is_nothing_it_makes_nothing(tmp_path: Path) -> None:
    ran = doctor(tmp_path / "nothing")
    assert ran.status == 1
    assert f"fault    data folder: {tmp_path}/nothing is not there" in ran.out
    assert not (tmp_path / "nothing").exists()
    ran = doctor(tmp_path)
    assert ran.status == 0
    assert "warning  store: there is no store at" in ran.out
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
def test_a_folder_of_another_user_is_told_and_not_looked_into(data: Path) -> None:
    os.chown(data, 54_321, 54_321)
    before = listing(data)
    ran = doctor(data, "--repair")
    assert ran.status == 1
    assert "belongs to user 54321" in ran.out
    assert "sudo -u '#54321'" in ran.out
    assert listing(data) == before


def test_a_large_store_is_looked_through_in_little_memory(tmp_path: Path) -> None:
    import asyncio
    import re
    import subprocess
    import sys

    from tests.daemon.cli.support import environment
    from waybread_client import Link

    async def fill(url: str, token: str) -> None:
        async with Link(url, token) as link:
            session = await link.open("large", "agent")
            for number in range(6):
                await session.result("bash", {}, f"{number} some words of a large output\n" * 1_000_000)

    with serving(tmp_path / "data") as daemon:
        asyncio.run(fill(daemon.url, daemon.device()["token"]))
        assert daemon.stop() == 0
    program = (
        "import runpy, sys; from pathlib import Path\n"
        "try: runpy.run_module('waybread_daemon', run_name='__main__')\n"
        "finally: sys.stderr.write(Path('/proc/self/status').read_text())\n"
    )
    words = [sys.executable, "-c", program, "doctor", "--data", str(tmp_path / "data")]
    ended = subprocess.run(words, check=False, capture_output=True, text=True, env=environment(WAYBREAD_PORT="0"))
    assert ended.returncode == 0, ended.stdout
    assert "every hash is right" in ended.stdout
    peak = re.search(r"VmHWM:\s+(\d+) kB", ended.stderr)
    assert peak is not None
    assert int(peak[1]) < 100_000


def test_wrong_usage_has_status_2() -> None:
    assert waybread("doctor", "now").status == 2
