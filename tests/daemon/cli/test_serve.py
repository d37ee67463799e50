import re
import signal
import socket
from pathlib import Path

import apsw
import pytest

from tests.daemon.cli.support import serving, waybread
from waybread_daemon.store.sqlite.statements import run


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_first_line_says_where_and_a_signal_ends_it_with_status_0(tmp_path: Path, number: signal.Signals) -> None:
    with serving(tmp_path / "data") as daemon:
        assert re.fullmatch(r"waybread listening on ws://127\.0\.0\.1:\d+/link\n", daemon.first_line)
        assert daemon.stop(number) == 0
        assert daemon.process.stdout is not None
        assert daemon.process.stdout.read() == b""


def test_ipv6_stands_in_brackets(tmp_path: Path) -> None:
    with serving(tmp_path / "data", "--host", "::1") as daemon:
        if "cannot listen" in daemon.log() or "no address of this machine" in daemon.log():
            pytest.skip("this machine has no IPv6")
        assert re.fullmatch(r"waybread listening on ws://\[::1\]:\d+/link\n", daemon.first_line)


def test_the_data_folder_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as daemon:
        assert daemon.data.stat().st_mode & 0o777 == 0o700
        assert (daemon.data / "waybread.sqlite").stat().st_mode & 0o777 == 0o600


def test_a_data_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    ran = waybread("serve", "--data", tmp_path / "file/data", "--port", "0")
    assert ran == (
        1,
        "",
        (
            f"waybread: {tmp_path}/file/data cannot be a folder, because a file is in its way: move it, or name another data "
            "folder with --data.\n"
        ),
    )


def test_a_store_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    waybread("device", "add", "phone", "--data", tmp_path)
    connection = apsw.Connection(str(tmp_path / "waybread.sqlite"))
    run(connection.cursor(), "PRAGMA user_version = 99")
    connection.close()
    ran = waybread("serve", "--data", tmp_path, "--port", "0")
    assert (ran.status, ran.out) == (1, "")
    assert "was written by a newer Waybread" in ran.err
    assert ran.err.endswith("or name another data folder with --data.\n")
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize("content", [b"no database" * 1000, b""])
def test_a_store_that_is_no_store_is_refused_and_a_data_folder_asked_for(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "waybread.sqlite"
    path.write_bytes(content)
    if not content:
        connection = apsw.Connection(str(path))
        run(connection.cursor(), "CREATE TABLE notes (text TEXT)")
        connection.close()
    ran = waybread("serve", "--data", tmp_path, "--port", "0")
    assert (ran.status, ran.out) == (1, "")
    assert ran.err.endswith(": name another data folder with --data.\n")


def test_a_store_that_another_daemon_holds_is_refused(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as daemon:
        ran = waybread("serve", "--data", daemon.data, "--port", "0")
    assert (ran.status, ran.out) == (1, "")
    assert ran.err == (
        f"waybread: Another Waybread serves the store at {daemon.data}/waybread.sqlite: stop it, "
        "or name another data folder with --data.\n"
    )


def test_a_port_that_is_taken_is_refused(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ran = waybread("serve", "--data", tmp_path, "--port", str(port))
    assert ran == (
        1,
        "",
        (
            f"waybread: port {port} of 127.0.0.1 is taken: stop what listens there, or name another one with --port "
            "(0 takes a free one)\n"
        ),
    )


def test_a_host_beyond_this_machine_is_refused_without_the_word_for_it(tmp_path: Path) -> None:
    ran = waybread("serve", "--data", tmp_path, "--host", "0.0.0.0", "--port", "0")
    assert (ran.status, ran.out) == (1, "")
    for way_out in ("reverse proxy", "Tailscale", "--allow-plaintext"):
        assert way_out in ran.err
    with serving(tmp_path / "data", "--host", "0.0.0.0", "--allow-plaintext") as daemon:
        assert daemon.first_line.startswith("waybread listening on ws://0.0.0.0:")


def test_all_faults_of_the_settings_are_told_at_once_with_status_1(tmp_path: Path) -> None:
    (tmp_path / "waybread.toml").write_text("prot = 1\nport = 70000\n")
    ran = waybread("serve", "--data", tmp_path, WAYBREAD_HOTS="x")
    assert (ran.status, ran.out) == (1, "")
    assert ran.err.splitlines() == [
        f"waybread: {tmp_path}/waybread.toml has an unknown setting 'prot': is it port?",
        "waybread: the environment has an unknown setting WAYBREAD_HOTS: is it WAYBREAD_HOST?",
        f"waybread: port is 70000 in {tmp_path}/waybread.toml: give a whole number from 0 to 65,535",
    ]


def test_settings_of_the_file_are_in_force(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data/waybread.toml").write_text('log_level = "error"\n')
    with serving(tmp_path / "data") as daemon:
        assert daemon.stop() == 0
        assert daemon.log() == ""


@pytest.mark.parametrize(
    "words",
    [
        *(["--port", "many"], ["--port", "70000"], ["--port", "-1"], ["--port", "8_787"], ["--port"]),
        *(["--log-level", "loud"], ["--host", ""], ["--data", ""], ["now"]),
    ],
)
def test_wrong_usage_has_status_2(words: list[str]) -> None:
    ran = waybread("serve", *words)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith("usage: waybread serve")


def test_a_port_out_of_range_is_a_bad_setting_where_no_flag_says_it(tmp_path: Path) -> None:
    assert waybread("serve", "--data", tmp_path, WAYBREAD_PORT="70000").status == 1
    (tmp_path / "waybread.toml").write_text("port = -1\n")
    assert waybread("serve", "--data", tmp_path).status == 1
