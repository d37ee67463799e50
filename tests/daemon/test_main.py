import os
import shlex
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


@pytest.mark.parametrize("words", ["--help", "--version", "device --help", "device list", "sessions", "status"])
def test_with_standard_output_closed_a_command_says_so_in_one_sentence_with_status_1(
    tmp_path: Path, words: str
) -> None:
    made = waybread("device", "add", "phone", "--data", tmp_path)
    assert made.status == 0
    where = f"--data {shlex.quote(str(tmp_path))}" if words[-1] in "tss" and "--" not in words else ""
    ended = closed(f"{words} {where} >&-")
    assert ended == (1, "waybread: standard output is closed: let it go somewhere, to /dev/null at least\n")


@pytest.mark.parametrize("streams", ["<&-", "2>&-", "<&- >&- 2>&-"])
def test_with_any_standard_stream_closed_nothing_is_written_into_another_file(tmp_path: Path, streams: str) -> None:
    status, said = closed(f"device add phone --data {shlex.quote(str(tmp_path))} {streams}")
    assert (status, said) == (1 if ">&- 2" in streams else 0, "")
    assert waybread("doctor", "--data", tmp_path).status == 0
    assert closed(f"no-such-command {streams}") == (2, "" if "2>" in streams else ended_with(2))


def closed(words: str) -> tuple[int, str]:
    """Runs a command whose streams a shell has closed. Gives the status, and what stands on standard error."""
    program = shlex.join(PROGRAM)
    ended = subprocess.run(
        ["/bin/sh", "-c", f"exec {program} {words}"], check=False, capture_output=True, env=environment(), text=True
    )
    return ended.returncode, ended.stderr


def ended_with(status: int) -> str:
    """What a word that is no command gets."""
    ran = waybread("no-such-command")
    assert ran.status == status
    return ran.err


@pytest.mark.parametrize("words", ["--help", "device --help"])
def test_a_reader_that_leaves_is_no_fault(words: str) -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as output:
        ended = subprocess.run(
            [*PROGRAM, *words.split()], check=False, stdout=output, stderr=subprocess.PIPE, env=environment(), text=True
        )
    assert (ended.returncode, ended.stderr) == (0, "")


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
