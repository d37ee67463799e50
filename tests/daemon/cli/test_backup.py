"""`waybread backup`, as a person and as cron use it: beside a daemon under load, into a file and into a folder."""

import asyncio
import contextlib
import json
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.daemon.cli.conftest import Filled
from tests.daemon.cli.support import PROGRAM, environment, serving, waybread
from tests.daemon.store.filled import sql
from waybread_client import Link

NAME = re.compile(r"waybread-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ(-\d+)?\.sqlite")


def test_a_backup_of_a_stopped_daemons_store_is_told_of(filled: Filled, tmp_path: Path) -> None:
    ran = waybread("backup", tmp_path / "b.sqlite", "--data", filled.data)
    assert (ran.status, ran.err) == (0, "")
    assert re.fullmatch(rf"{tmp_path}/b\.sqlite  \d+ KiB, checked, in \d+\.\d s\n", ran.out)
    assert oct((tmp_path / "b.sqlite").stat().st_mode & 0o777) == "0o600"
    assert [file.name for file in tmp_path.iterdir()] == ["b.sqlite"]
    (told,) = waybread("backup", tmp_path / "c.sqlite", "--data", filled.data, "--json").objects()
    size = (tmp_path / "c.sqlite").stat().st_size
    assert told == {"file": f"{tmp_path}/c.sqlite", "size_bytes": size, "removed": []}


def test_a_name_that_is_taken_is_refused_unless_it_is_to_be_replaced(filled: Filled, tmp_path: Path) -> None:
    (tmp_path / "b").write_text("precious")
    ran = waybread("backup", tmp_path / "b", "--data", filled.data)
    assert (ran.status, ran.out) == (1, "")
    assert ran.err == (
        f"waybread: {tmp_path}/b is there already: say --replace, give another name, or name a folder, in which each backup "
        "gets a name of its own.\n"
    )
    assert (tmp_path / "b").read_text() == "precious"
    assert waybread("backup", tmp_path / "b", "--replace", "--data", filled.data).status == 0
    assert sql(tmp_path / "b", "SELECT count(*) FROM device") == [(2,)]


def test_a_folder_gets_one_more_each_time_and_keeps_as_many_as_it_is_told(filled: Filled, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    made: list[str] = []
    for _ in range(4):
        ran = waybread("backup", folder, "--keep", "2", "--data", filled.data, "--json")
        made.append(ran.objects()[0]["file"])
    assert sorted(str(file) for file in folder.iterdir()) == sorted(made[2:])
    assert all(NAME.fullmatch(Path(file).name) for file in made)
    ran = waybread("backup", folder, "--keep", "1", "--data", filled.data)
    assert ran.out.splitlines()[1:] == [f"removed {file}" for file in made[2:]]
    assert waybread("backup", folder, "--data", filled.data).status == 0
    assert len(list(folder.iterdir())) == 2


def test_what_cannot_be_is_refused_with_a_sentence(filled: Filled, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    refusals: list[tuple[list[str | Path], str]] = [
        (["backup", tmp_path / "no/where/b"], f"there is no folder {tmp_path}/no/where: make it, or name another FILE"),
        (
            ["backup", tmp_path / "file", "--keep", "3"],
            f"{tmp_path}/file is a file, and a folder for backups is needed: name another one",
        ),
    ]
    for words, sentence in refusals:
        ran = waybread(*words, "--data", filled.data)
        assert (ran.status, ran.out, ran.err) == (1, "", f"waybread: {sentence}\n")
    ran = waybread("backup", tmp_path / "b", "--data", tmp_path / "nothing")
    assert ran.status == 1
    assert ran.err.startswith(
        f"waybread: There is no store at {tmp_path}/nothing/waybread.sqlite: start the daemon first"
    )
    assert sorted(file.name for file in tmp_path.iterdir()) == ["file"]


@pytest.mark.parametrize("words", [[], ["b", "--keep", "0"], ["b", "--keep", "2", "--replace"], [""], ["a", "b"]])
def test_wrong_usage_has_status_2(words: list[str]) -> None:
    ran = waybread("backup", *words)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith("usage: waybread backup")


def test_a_signal_while_it_copies_leaves_nothing(tmp_path: Path) -> None:
    data, out = tmp_path / "data", tmp_path / "out"
    out.mkdir()
    waybread("device", "add", "phone", "--data", data)
    sql(data / "waybread.sqlite", "CREATE TABLE filler (a); INSERT INTO filler VALUES (zeroblob(400000000))")
    process = subprocess.Popen(
        [*PROGRAM, "backup", str(out / "b"), "--data", str(data)], env=environment(), stderr=subprocess.PIPE
    )
    deadline_s = time.monotonic() + 20
    while not list(out.iterdir()):
        assert time.monotonic() < deadline_s
        time.sleep(0.005)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (130, b"")
    assert list(out.iterdir()) == []


async def _load(url: str, token: str, acknowledged: list[int]) -> None:
    async with Link(url, token) as link:
        session = await link.open("busy", "agent")
        while True:
            answers = await asyncio.gather(*(session.result("bash", {}, f"line {n}\n" * 200) for n in range(20)))
            acknowledged.append(int(answers[-1].result.removeprefix("#"), 16))


async def test_backups_beside_a_daemon_under_load_hold_all_that_was_acknowledged_before_them(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as daemon:
        token = daemon.device()["token"]
        acknowledged: list[int] = [0]
        load = asyncio.create_task(_load(daemon.url, token, acknowledged))
        held: list[tuple[int, int]] = []
        for at in range(4):
            await asyncio.sleep(0.3)
            before = acknowledged[-1]
            ran = await asyncio.to_thread(waybread, "backup", tmp_path / f"b{at}", "--data", daemon.data, "--json")
            assert (ran.status, ran.err) == (0, "")
            ((results,),) = sql(tmp_path / f"b{at}", "SELECT results FROM session")
            assert sql(tmp_path / f"b{at}", "SELECT count(*) FROM entry WHERE number > 0") == [(results,)]
            held.append((before, results))
        during = acknowledged[-1]
        load.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await load
        assert all(0 < before <= results for before, results in held)
        assert during > held[0][1]
        # The log did not stay as long as all that was written.
        assert (daemon.data / "waybread.sqlite-wal").stat().st_size < 64 * 1024 * 1024
        doctor = await asyncio.to_thread(waybread, "doctor", "--data", daemon.data, "--json")
        assert [one for one in doctor.objects() if one["level"] == "fault"] == []
        assert daemon.stop() == 0
        assert "fault" not in {json.loads(line)["event"] for line in daemon.log().splitlines()}
