import asyncio
import os
import re
import signal
import subprocess
import threading
from pathlib import Path

from tests.daemon.cli.conftest import NASTY, Filled
from tests.daemon.cli.support import PROGRAM, Daemon, environment, serving, waybread
from waybread_client import Link

TIME = re.compile(r"^--- \d{4}-\d\d-\d\d \d\d:\d\d:\d\d  ", re.MULTILINE)


def test_every_text_stands_exactly_as_the_model_got_it_in_order(filled: Filled) -> None:
    out = waybread("transcript", "work", "--data", filled.data).out
    places = [out.find(text) for text in filled.texts]
    assert -1 not in places
    assert places == sorted(places)
    assert NASTY in out


def test_headings_tell_kind_turn_tool_and_what_it_was_asked(filled: Filled) -> None:
    ran = waybread("transcript", "work", "--data", filled.data)
    assert (ran.status, ran.err) == (0, "")
    headings = [line[len("--- 2026-01-01 00:00:00  ") :] for line in ran.out.splitlines() if TIME.match(line)]
    asked = '{"x":"' + "y" * 494 + "… (608 characters)"
    assert headings == [
        r"opened agent  a\ttitle",
        "turn t1 begins",
        "message user  turn t1",
        'result #0001  turn t1  bash  {"command":"make"}  call call-7',
        'result #0002  turn t1  read  {"path":"a.py"}',
        'result #0003  turn t1  read  {"path":"a.py"}  (stub of #0002)',
        "result #0004  turn t1  edit",
        f"result #0005  turn t1  bash  {asked}  (capped)",
        "recall #0006  turn t1",
        "result #0007  turn t1  bash  (error)",
        "result #0008  turn t1  bash",
        "compacted  turn t1",
    ]


def test_a_text_without_a_line_end_does_not_run_into_the_next_heading(filled: Filled) -> None:
    assert "\nno newline at its end\n\n--- " in waybread("transcript", "work", "--data", filled.data).out


def test_json_is_one_entry_a_line_with_whole_text_and_arguments(filled: Filled) -> None:
    entries = waybread("transcript", "work", "--data", filled.data, "--json").objects()
    texts = [entry["text"] for entry in entries if entry["kind"] in ("result", "recall", "compacted")]
    assert texts == filled.texts
    assert entries[7]["args"] == {"x": "y" * 600}
    assert [entry["seq"] for entry in entries] == sorted(entry["seq"] for entry in entries)
    assert (entries[0]["session_kind"], entries[0]["title"]) == ("agent", "a\ttitle")
    assert entries[5]["stub_of"] == "#0002"


def test_a_session_on_two_devices_needs_the_device(filled: Filled) -> None:
    ran = waybread("transcript", "same", "--data", filled.data)
    assert (ran.status, ran.out) == (1, "")
    assert "name one with --device" in ran.err
    ran = waybread("transcript", "same", "--device", filled.laptop, "--data", filled.data)
    assert (ran.status, TIME.sub("", ran.out)) == (0, "opened chat\n\n")


def test_a_terminal_gets_no_control_sequence_of_a_tools(filled: Filled) -> None:
    ours, theirs = os.openpty()
    shown: list[bytes] = []

    def read() -> None:
        try:
            while piece := os.read(ours, 65536):
                shown.append(piece)
        except OSError:
            return

    reading = threading.Thread(target=read)
    reading.start()
    command = [*PROGRAM, "transcript", "work", "--data", str(filled.data)]
    subprocess.run(command, check=True, stdout=theirs, env=environment())
    os.close(theirs)
    reading.join()
    os.close(ours)
    text = b"".join(shown).decode()
    assert "\x1b" not in text
    assert "\x9b" not in text
    assert r"red \x1b[31m\x9b2J\x07 bell\r" in text


def test_a_reader_that_has_enough_ends_it_quietly(filled: Filled) -> None:
    process = subprocess.Popen(
        [*PROGRAM, "transcript", "work", "--data", str(filled.data), "--follow"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    assert process.stdout is not None
    process.stdout.close()
    _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (0, b"")


class Following:
    """`transcript --follow` of the session `live`, from outside."""

    def __init__(self, daemon: Daemon) -> None:
        self.process = subprocess.Popen(
            [*PROGRAM, "transcript", "live", "--follow", "--data", str(daemon.data)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(),
            text=True,
        )

    def read_until(self, text: str) -> str:
        assert self.process.stdout is not None
        seen = ""
        for line in self.process.stdout:
            seen += line
            if text in line:
                return seen
        raise AssertionError(f"it ended before {text!r}: {seen}")


def test_follow_shows_what_is_added_and_ends_cleanly_on_ctrl_c(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as daemon:
        token = daemon.device()["token"]

        async def work() -> None:
            async with Link(daemon.url, token) as link:
                session = await link.open("live", "agent")
                following = await asyncio.to_thread(Following, daemon)
                await asyncio.to_thread(following.read_until, "opened agent")
                await session.result("bash", {}, "first addition")
                assert "[#0001]" in await asyncio.to_thread(following.read_until, "first addition")
                await session.result("bash", {}, "second addition")
                assert "#0001" not in await asyncio.to_thread(following.read_until, "second addition")
                following.process.send_signal(signal.SIGINT)
                _, err = await asyncio.to_thread(following.process.communicate)
                assert (following.process.returncode, err) == (0, "")

        asyncio.run(work())


def test_follow_ends_by_itself_when_the_session_is_deleted(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as daemon:
        token = daemon.device()["token"]

        async def work() -> None:
            async with Link(daemon.url, token) as link:
                session = await link.open("live", "agent")
                following = await asyncio.to_thread(Following, daemon)
                await asyncio.to_thread(following.read_until, "opened agent")
                await session.delete()
                out = await asyncio.to_thread(following.read_until, "deleted")
                _, err = await asyncio.to_thread(following.process.communicate)
                assert (following.process.returncode, TIME.sub("", out), err) == (0, "\ndeleted\n", "")

        asyncio.run(work())
