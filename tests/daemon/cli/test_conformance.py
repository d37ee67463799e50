import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.daemon.cli.support import PROGRAM, environment, serving, waybread
from tests.house.checkout import ROOT


def test_a_running_daemon_passes_cases(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as daemon:
        token = daemon.device()["token"]
        ran = waybread("conformance", "--url", daemon.url, "--token", token, "--only", "stub")
        assert (ran.status, ran.err) == (0, "")
        passed = int(ran.out.splitlines()[-1].removeprefix(f"{daemon.url}: ").split()[0])
        assert passed > 0
        assert ", 0 failed" in ran.out
        assert waybread("sessions", "--data", daemon.data).out == "There are no sessions yet.\n"


def test_tokens_may_come_by_the_environment_a_file_or_standard_input(tmp_path: Path) -> None:
    file = tmp_path / "token"
    with serving(tmp_path / "data") as daemon:
        token = daemon.device()["token"]
        file.write_text(f"{token}\n")
        words = ["conformance", "--url", daemon.url, "--only", "stub"]
        for ran in (
            waybread(*words, WAYBREAD_TOKEN=token),
            waybread(*words, "--token", f"@{file}"),
            waybread(*words, "--token", f"@{file}", WAYBREAD_TOKEN="wrong", WAYBREAD_OTHER_TOKEN=token),
        ):
            assert (ran.status, ran.err) == (0, "")
        command = [*PROGRAM, *words, "--token", "-"]
        ended = subprocess.run(
            command, check=True, input=f"{token}\n", capture_output=True, text=True, env=environment()
        )
        assert ", 0 failed" in ended.stdout
        # They are no settings of the daemon's.
        assert waybread("doctor", "--data", daemon.data, WAYBREAD_TOKEN=token).err == ""
    missing = waybread("conformance", "--url", "ws://127.0.0.1:1/link", "--token", f"@{tmp_path / 'none'}")
    assert missing.status == 2
    assert "cannot be read" in missing.err


def test_another_program_passes_cases() -> None:
    program = shlex.join([sys.executable, str(ROOT / "tests/conformance/reference.py")])
    ran = waybread("conformance", "--exec", program, "--only", "stub")
    assert (ran.status, ran.err) == (0, "")
    assert ", 0 failed" in ran.out


def test_this_package_passes_cases() -> None:
    ran = waybread("conformance", "--only", "stub")
    assert (ran.status, ran.err) == (0, "")
    assert ", 0 failed" in ran.out


def test_a_program_that_answers_nothing_fails_with_status_1() -> None:
    ran = waybread("conformance", "--exec", "false", "--only", "stub")
    assert ran.status == 1
    assert "FAILED" in ran.out
    assert ran.err.endswith(" failed: each is shown on standard output, expected and got.\n")


def test_a_name_that_no_case_has_is_told() -> None:
    assert waybread("conformance", "--only", "zzzz") == (
        1,
        "",
        "waybread conformance: No case has 'zzzz' in its name: give another part of a name with --only, or leave it out.\n",
    )


def test_a_program_that_is_not_there_is_told_in_one_sentence() -> None:
    assert waybread("conformance", "--exec", "/nonexistent") == (
        1,
        "",
        (
            "waybread conformance: /nonexistent cannot be started (No such file or directory): "
            "name a program that runs here.\n"
        ),
    )


@pytest.mark.parametrize("command", ["", "  ", "''", "a 'b"])
def test_a_text_that_is_no_command_is_wrong_usage(command: str) -> None:
    ran = waybread("conformance", "--exec", command)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith("waybread conformance: The text of --exec is no command (")


@pytest.mark.parametrize(
    "words",
    [
        ["--url", "ws://127.0.0.1:1/link"],
        ["--token", "t"],
        ["--url", "ws://127.0.0.1:1/link", "--token", ""],
        ["--url", "ws://h/link", "--token", "t", "--exec", "false"],
        ["--agent-token", "t"],
        ["--exec", "false", "--other-token", "t"],
        ["stub"],
    ],
)
def test_not_exactly_one_target_is_wrong_usage(words: list[str]) -> None:
    ran = waybread("conformance", *words)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith("usage: waybread conformance")


@pytest.mark.parametrize(
    "url", ["", "ws://", "127.0.0.1:8787", "http://127.0.0.1:8787/link", "ws://127.0.0.1:many/link", "ws://h:70000"]
)
def test_a_url_that_is_none_of_a_daemon_is_wrong_usage(url: str) -> None:
    ran = waybread("conformance", "--url", url, "--token", "t")
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.endswith(f"{url!r} is no daemon's URL: give one like ws://127.0.0.1:8787/link\n")


def test_a_daemon_that_is_not_there_is_told_in_one_sentence() -> None:
    url = "ws://127.0.0.1:1/link"
    ran = waybread("conformance", "--url", url, "--token", "t")
    assert (ran.status, ran.out) == (1, "")
    assert ran.err.startswith(f"waybread: nothing answers at {url} (")
    assert ran.err.count("\n") == 1
