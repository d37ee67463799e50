import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.daemon.cli.support import PROGRAM, environment, waybread
from tests.house.checkout import ROOT
from waybread_daemon import VERSION
from waybread_daemon.__main__ import COMMANDS, HELP, main

FULL = Path("/dev/full")


def test_help_names_every_command_and_ends_with_an_example() -> None:
    ran = waybread("--help")
    assert (ran.status, ran.err) == (0, "")
    assert [name for name in COMMANDS if f"\n  {name} " not in ran.out] == []
    assert ran.out.endswith("example:\n  waybread serve --port 8787\n")


def test_help_is_printed_before_anything_is_imported() -> None:
    code = (
        "import sys; before = set(sys.modules); from waybread_daemon.__main__ import main; status = main(['--help']); "
        "print(*sorted(set(sys.modules) - before), file=sys.stderr); sys.exit(status)"
    )
    ended = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert ended.stdout == HELP
    assert ended.stderr.split() == ["__future__", "waybread_daemon", "waybread_daemon.__main__"]


@pytest.mark.parametrize("word", ["-h", "help"])
def test_other_ways_to_ask_for_help(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([word]) == 0
    assert capsys.readouterr().out == HELP


def test_help_and_a_command_is_the_commands_help() -> None:
    assert waybread("help", "serve") == waybread("serve", "--help")
    assert waybread("help", "xyzzy").status == 2


def test_the_version_is_the_projects() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["version"] == VERSION
    assert waybread("--version") == (0, f"waybread {VERSION}\n", "")


def test_an_unknown_command_names_the_nearest_one() -> None:
    assert waybread("transcipt", "x") == (
        2,
        "",
        "waybread: there is no command 'transcipt': is it `waybread transcript`? `waybread --help` lists them\n",
    )


def test_a_word_that_is_near_to_none_points_to_the_list() -> None:
    assert waybread("xyzzy") == (2, "", "waybread: there is no command 'xyzzy': `waybread --help` lists them\n")


def test_no_command_at_all_is_wrong_usage() -> None:
    assert waybread() == (2, "", "waybread: a command is missing: `waybread --help` lists them\n")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command: str) -> None:
    ran = waybread(command, "--help")
    assert (ran.status, ran.err) == (0, "")
    assert f"  waybread {command}" in ran.out.partition("example")[2]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_answers_a_flag_it_does_not_know_with_status_2(command: str) -> None:
    ran = waybread(command, "--no-such-flag")
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith(f"usage: waybread {command}")


@pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")
def test_a_full_disk_behind_standard_output_is_told_with_status_1() -> None:
    with FULL.open("wb") as full:
        ended = subprocess.run(
            [*PROGRAM, "--help"], check=False, stdout=full, stderr=subprocess.PIPE, env=environment(), text=True
        )
    assert ended.returncode == 1
    assert ended.stderr == (
        "waybread: the system refused ([Errno 28] No space left on device): look at the space and the permissions there\n"
    )
