import shlex
import sys
from pathlib import Path

import pytest

from tests.daemon.cli.support import serving, waybread
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


@pytest.mark.parametrize(
    "words",
    [["--url", "ws://127.0.0.1:1/link"], ["--token", "t"], ["--url", "ws://h/link", "--token", "t", "--exec", "false"]],
)
def test_not_exactly_one_target_is_wrong_usage(words: list[str]) -> None:
    ran = waybread("conformance", *words)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith("usage: waybread conformance")


@pytest.mark.parametrize("url", ["ws://127.0.0.1:1/link", "ws://127.0.0.1:many/link"])
def test_a_daemon_that_is_not_there_is_told_in_one_sentence(url: str) -> None:
    ran = waybread("conformance", "--url", url, "--token", "t")
    assert (ran.status, ran.out) == (1, "")
    assert ran.err.startswith(f"waybread: nothing answers at {url} (")
    assert ran.err.count("\n") == 1
