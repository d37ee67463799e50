"""`waybread backup`, as a person and as cron use it: beside a daemon under load, into a file and into a folder."""

import asyncio
import contextlib
import json
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.daemon.cli.conftest import Filled
from tests.daemon.cli.support import PROGRAM, environment, serving, waybread
from tests.daemon.store.filled import listing, sql
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


@pytest.mark.parametrize(
    "name", ["waybread.sqlite", "waybread.sqlite-wal", "waybread.toml", "waybread.sock", "waybread.sqlite.lock"]
)
def test_the_stores_own_files_are_never_replaced(filled: Filled, name: str) -> None:
    before = listing(filled.data)
    ran = waybread("backup", filled.data / name, "--replace", "--data", filled.data)
    assert (ran.status, ran.out) == (1, "")
    assert ran.err.startswith(f"waybread: {filled.data}/{name} is the store's own file, or named like one, in ")
    assert listing(filled.data) == before
    ran = waybread("backup", "/dev/null", "--replace", "--data", filled.data)
    assert ran.err == (
        "waybread: /dev/null is no regular file, which no backup can replace: give another name, or name a folder.\n"
    )


def test_a_content_that_is_not_right_removes_no_older_backup(filled: Filled, tmp_path: Path) -> None:
    data = shutil.copytree(filled.data, tmp_path / "data", ignore=shutil.ignore_patterns("*.sock"))
    folder = tmp_path / "new" / "folder"
    made = waybread("backup", folder, "--keep", "1", "--data", data, "--json").objects()[0]["file"]
    sql(data / "waybread.sqlite", "UPDATE entry SET payload = x'00' WHERE number = 1")
    ran = waybread("backup", folder, "--keep", "1", "--data", data)
    assert (ran.status, ran.out) == (1, "")
    assert "so no backup was made" in ran.err
    assert "`waybread doctor` tells all of it" in ran.err
    assert [str(file) for file in folder.iterdir()] == [made]
    # A folder that was to be made for it is not left behind.
    assert waybread("backup", tmp_path / "a" / "b", "--keep", "1", "--data", data).status == 1
    assert not (tmp_path / "a").exists()


def test_a_report_that_cannot_be_printed_says_that_the_backup_is_there(filled: Filled, tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [*PROGRAM, "backup", str(tmp_path / "b"), "--data", str(filled.data)],
            check=False,
            stdout=full,
            stderr=subprocess.PIPE,
            env=environment(),
        )
    assert ended.returncode == 1
    assert ended.stderr.decode() == (
        f"waybread: the backup is made, checked and is at {tmp_path}/b; standard output took no report of it (No space left on "
        "device)\n"
    )
    assert (tmp_path / "b").exists()


def test_a_killed_backup_leaves_nothing_that_the_next_one_does_not_take_away(tmp_path: Path) -> None:
    data, out = tmp_path / "data", tmp_path / "out"
    out.mkdir()
    waybread("device", "add", "phone", "--data", data)
    sql(data / "waybread.sqlite", "CREATE TABLE filler (a); INSERT INTO filler VALUES (zeroblob(400000000))")
    process = subprocess.Popen([*PROGRAM, "backup", str(out / "b"), "--data", str(data)], env=environment())
    deadline_s = time.monotonic() + 20
    while len(list(out.iterdir())) < 2:
        assert time.monotonic() < deadline_s
        time.sleep(0.005)
    process.kill()
    process.wait()
    assert list(out.iterdir()) != []
    sql(data / "waybread.sqlite", "DROP TABLE filler; VACUUM")
    assert waybread("backup", out / "c", "--data", data).status == 0
    assert [file.name for file in out.iterdir()] == ["c"]


def test_names_with_control_characters_stay_in_their_line(filled: Filled, tmp_path: Path) -> None:
    target = tmp_path / "a\x1b[31m\n\u202eb"
    ran = waybread("backup", target, "--data", filled.data)
    assert ran.status == 0
    assert ran.out.count("\n") == 1
    assert "\x1b" not in ran.out
    ran = waybread("backup", target, "--data", filled.data)
    assert ran.err.startswith(f"waybread: {tmp_path}/a\\x1b[31m\\n\\u202eb is there already")


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
