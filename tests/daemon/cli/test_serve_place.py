"""Data folders and settings with which the daemon does not start: one sentence with the remedy, and nothing is touched."""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import waybread_daemon
import waybread_protocol
from tests.daemon.cli.support import environment, serving, waybread
from tests.daemon.store.filled import listing, sql
from waybread_daemon.cli.run import run_command
from waybread_daemon.store.sqlite import mounts, place

ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
OTHER = 54_321
_COMPILED = shutil.ignore_patterns("__pycache__")


def refused(data: Path, **settings: str) -> str:
    """What `serve` says when it refuses that folder, which is as it was afterwards."""
    before = listing(data) if data.is_dir() else None
    ran = waybread("serve", "--data", data, "--port", "0", **settings)
    assert (ran.status, ran.out) == (1, "")
    assert (listing(data) if data.is_dir() else None) == before
    return ran.err


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder with a store in it."""
    waybread("device", "add", "phone", "--data", tmp_path / "data")
    return tmp_path / "data"


def test_faults_of_the_settings_are_all_told_and_nothing_is_made(tmp_path: Path, data: Path) -> None:
    said = refused(tmp_path / "new" / "data", WAYBREAD_HOTS="x", WAYBREAD_PORT_="1", WAYBREAD_MAX_FRAME="1")
    assert said.count("waybread: ") == 3
    assert not (tmp_path / "new").exists()
    (data / "waybread.toml").write_text("prot = 1\n")
    assert refused(data) == f"waybread: {data}/waybread.toml has an unknown setting 'prot': is it port?\n"


def test_a_file_in_the_place_of_the_folder_or_above_it(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("precious")
    assert refused(tmp_path / "file") == (
        f"waybread: {tmp_path}/file is no folder: move that file away, or name another data folder with --data.\n"
    )
    assert "because a file is in its way" in refused(tmp_path / "file" / "data")
    assert (tmp_path / "file").read_text() == "precious"


def test_a_folder_and_a_link_in_the_place_of_the_store(tmp_path: Path) -> None:
    (tmp_path / "data" / "waybread.sqlite").mkdir(parents=True)
    assert "waybread.sqlite is no file: move it away" in refused(tmp_path / "data")
    (tmp_path / "data" / "waybread.sqlite").rmdir()
    (tmp_path / "elsewhere").touch()
    (tmp_path / "data" / "waybread.sqlite").symlink_to(tmp_path / "elsewhere")
    assert "waybread.sqlite is a link, and a store's log lies beside its own file" in refused(tmp_path / "data")


def test_a_folder_that_another_daemon_holds(data: Path) -> None:
    with serving(data) as daemon:
        before = listing(data)
        ran = waybread("serve", "--data", data, "--port", "0")
        assert (ran.status, ran.out) == (1, "")
        assert ran.err.startswith(f"waybread: Another Waybread serves the store at {data}/waybread.sqlite: stop it")
        assert listing(data) == before
        assert daemon.stop() == 0


def test_a_newer_store_and_another_programs(data: Path, tmp_path: Path) -> None:
    sql(data / "waybread.sqlite", "PRAGMA user_version = 99")
    assert "was written by a newer Waybread" in refused(data)
    (tmp_path / "theirs").mkdir()
    sql(tmp_path / "theirs" / "waybread.sqlite", "CREATE TABLE a (b); PRAGMA application_id = 7")
    assert "is another program's database" in refused(tmp_path / "theirs")


@ROOT_ONLY
def test_root_in_the_folder_of_another_user(data: Path) -> None:
    os.chown(data, OTHER, OTHER)
    said = refused(data)
    assert f"{data} belongs to user {OTHER} and this process runs as user root (0)" in said
    assert f"`sudo -u '#{OTHER}' …`" in said
    assert f"`chown -R 0:0 {data}`" in said


@pytest.fixture
def open_tmp() -> Iterator[Path]:
    """A folder that every user can reach."""
    with tempfile.TemporaryDirectory(prefix="waybread-serve-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@ROOT_ONLY
@pytest.mark.parametrize("mode", [0o700, 0o755])
def test_another_user_in_a_folder_of_root_is_told_the_exact_chown_and_after_it_the_daemon_starts(
    open_tmp: Path, mode: int
) -> None:
    # The packages may lie where no other user can read: this process uses a copy, and is root's until the rest is loaded.
    for package in (waybread_daemon, waybread_protocol):
        shutil.copytree(package.__path__[0], open_tmp / "program" / package.__name__, ignore=_COMPILED)
    data = open_tmp / "data"
    data.mkdir()
    data.chmod(mode)
    before = listing(open_tmp)
    program = (
        "import os, pkgutil, sys, encodings.ascii, encodings.idna\n"
        "import waybread_daemon\n"
        f"assert waybread_daemon.__path__ == ['{open_tmp}/program/waybread_daemon']\n"
        "for module in pkgutil.walk_packages(waybread_daemon.__path__, 'waybread_daemon.'): __import__(module.name)\n"
        "from waybread_daemon.__main__ import main\n"
        "from waybread_daemon.store.sqlite import place\n"
        "place._CONTAINER_MARKS = ()\n"
        f"os.setgroups([]); os.setgid({OTHER}); os.setuid({OTHER})\n"
        "sys.exit(main(sys.argv[1:]))"
    )
    surroundings = environment(PYTHONPATH=str(open_tmp / "program"), PYTHONDONTWRITEBYTECODE="1")
    words = [sys.executable, "-c", program, "serve", "--data", str(data), "--port", "0"]
    ended = subprocess.run(words, check=False, capture_output=True, text=True, env=surroundings, cwd="/", timeout=30)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr == (
        f"waybread: {data} belongs to user root (0) and this process runs as user {OTHER}: run `chown -R {OTHER}:{OTHER} "
        f"{data}` as root, or name another data folder with --data.\n"
    )
    assert listing(open_tmp) == before
    subprocess.run(["chown", "-R", f"{OTHER}:{OTHER}", str(data)], check=True)
    started = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=surroundings, cwd="/")
    assert started.stdout is not None
    assert started.stdout.readline().startswith(b"waybread listening on ")
    started.terminate()
    started.stdout.close()
    assert started.wait(30) == 0


@pytest.mark.parametrize("command", ["serve", "device add phone", "backup b", "restore b", "migrate"])
def test_a_network_file_system_is_refused_by_every_command_that_would_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    data = tmp_path / "data"
    waybread("device", "add", "phone", "--data", data)
    assert waybread("backup", tmp_path / "b", "--data", data).status == 0
    (tmp_path / "mounts").write_text(f"1 1 0:1 / / rw - ext4 a rw\n2 1 0:2 / {data} rw - fuse.sshfs me@nas: rw\n")

    def file_system(folder: Path) -> str:
        return mounts.file_system(folder, tmp_path / "mounts")

    monkeypatch.setattr(place, "file_system", file_system)
    monkeypatch.chdir(tmp_path)
    before = listing(data)
    name, *words = command.split()
    assert run_command(f"waybread_daemon.cli.{name}", [*words, "--data", str(data)], {}) == 1
    assert listing(data) == before
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(f"waybread: {data} lies on a network file system (fuse.sshfs), where a database's locks")
    assert said.err.endswith("or name another data folder with --data.\n")


def test_a_port_that_is_taken_and_a_name_of_no_machine_leave_nothing_behind(tmp_path: Path, data: Path) -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        port = listening.getsockname()[1]
        for folder in (tmp_path / "new" / "data", data):
            before = listing(data)
            ran = waybread("serve", "--data", folder, "--port", str(port))
            assert (ran.status, ran.out) == (1, "")
            assert ran.err.startswith(f"waybread: port {port} of 127.0.0.1 is taken: stop what listens there")
            assert listing(data) == before
        ran = waybread("serve", "--data", tmp_path / "new", "--host", "nohost.invalid", "--allow-plaintext")
        assert (ran.status, ran.out) == (1, "")
        assert ran.err.startswith("waybread: nohost.invalid is no address, and no name that this machine can look up")
    assert not (tmp_path / "new").exists()


def test_who_starts_the_same_daemon_twice_hears_of_the_store_and_not_of_the_port(data: Path) -> None:
    with serving(data) as daemon:
        port = daemon.url.rpartition(":")[2].partition("/")[0]
        ran = waybread("serve", "--data", data, "--port", port)
    assert (ran.status, ran.err.split(":")[1]) == (1, f" Another Waybread serves the store at {data}/waybread.sqlite")


COMMANDS = [
    *(
        "serve --port 0",
        "doctor",
        "status",
        "sessions",
        "device list",
        "device add x",
        "backup b",
        "restore b",
        "migrate",
    ),
    *("pair x", "session delete s", "transcript s", "recall s 1", "export s"),
]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("odd", ["loop", "loop/in", b"d\xff", "~nosuchuser/d", "b" * 300, "file", "file/in"])
def test_a_folder_that_can_be_none_is_a_sentence_of_every_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, odd: str | bytes
) -> None:
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "file").touch()
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    words = [*command.split(), "--data", os.fsdecode(odd)]
    ended = subprocess.run(
        [sys.executable, "-m", "waybread_daemon", *words],
        check=False,
        capture_output=True,
        env=environment(),
        timeout=30,
    )
    said = (ended.stdout + ended.stderr).decode()
    assert ended.returncode in (1, 2)
    assert "Traceback" not in said
    assert "Error" not in said
    assert said.count("waybread: ") <= 1
    assert len(said.splitlines()) <= (4 if command == "doctor" else 1)
    assert sorted(tmp_path.iterdir()) == before


def test_settings_in_a_pipe_are_refused_and_not_waited_for(data: Path) -> None:
    os.mkfifo(data / "waybread.toml")
    assert refused(data).startswith(f"waybread: {data}/waybread.toml is no regular file: move it away")
    ran = waybread("doctor", "--data", data)
    assert ran.status == 1
    assert f"{data}/waybread.toml is no regular file" in ran.out


def test_a_folder_that_is_open_to_others_is_told_in_the_log(data: Path) -> None:
    with serving(data) as daemon:
        pass
    assert "open_to_others" not in daemon.log()
    data.chmod(0o777)
    (data / "waybread.sqlite").chmod(0o644)
    with serving(data) as daemon:
        assert daemon.url
    told = [json.loads(line) for line in daemon.log().splitlines() if "open_to_others" in line]
    assert [(line["level"], line["remedy"]) for line in told] == [
        ("warning", f"run `chmod 700 {data}`"),
        ("warning", f"run `chmod 600 {data}/waybread.sqlite`"),
    ]
    assert told[0]["why"].startswith(f"{data} lets others write (mode 777)")
