import re
import shlex
import subprocess
from pathlib import Path

from tests.daemon.cli.support import Ran, environment, waybread


def settled(out: str) -> str:
    """Without what differs from run to run: ports, folders and ids made at random."""
    return re.sub(r"127\.0\.0\.1:\d+|waybread-demo-\w+|--device \w+", "…", out)


def test_it_passes_and_says_nothing_on_standard_error(ran: Ran) -> None:
    assert (ran.status, ran.err) == (0, "")
    assert "\x1b" not in ran.out


def test_its_last_line_is_the_command_that_shows_the_transcript(ran: Ran) -> None:
    command = shlex.split(ran.out.splitlines()[-1])
    shown = subprocess.run(command, check=True, capture_output=True, text=True, env=environment())
    assert "opened agent  waybread demo" in shown.stdout
    assert "[1" in shown.stdout
    assert "lines elided, full output #000a]" in shown.stdout


def test_it_says_how_to_take_away_what_it_left(ran: Ran) -> None:
    (folder,) = re.findall(r"rm -r (/\S+)", ran.out)
    assert (Path(folder) / "data/waybread.sqlite").is_file()
    assert (Path(folder) / "files/NOTES.md").read_text() == "# Notes\n\nThe rules are pure.\n"


def test_it_says_the_same_each_time_and_keeps_a_store_that_was_named(ran: Ran, tmp_path: Path) -> None:
    (tmp_path / "temporary").mkdir()
    again = waybread("demo", "--data", tmp_path / "kept", TMPDIR=str(tmp_path / "temporary"))
    assert again.status == 0
    story = settled(ran.out).partition("\nThe store is in")[0]
    assert settled(again.out).startswith(story)
    assert f"The store in {tmp_path}/kept is kept." in again.out
    assert [one["session"] for one in waybread("sessions", "--data", tmp_path / "kept", "--json").objects()] == ["demo"]


def test_settings_of_the_environment_do_not_reach_its_daemon(tmp_path: Path) -> None:
    ran = waybread("demo", TMPDIR=str(tmp_path), WAYBREAD_PORT="nonsense", WAYBREAD_DATA="/nowhere")
    assert (ran.status, ran.err) == (0, "")


def test_a_daemon_that_does_not_start_ends_it_with_its_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    ran = waybread("demo", "--data", tmp_path / "file/data", TMPDIR=str(tmp_path))
    assert ran.status == 1
    assert ran.err.startswith(
        f"waybread: the daemon did not start: {tmp_path}/file/data cannot be a folder, because a file is in its way"
    )
    assert ran.err.count("\n") == 1
