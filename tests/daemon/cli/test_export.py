"""`waybread export`: every text and every byte of a session, as JSON Lines."""

import asyncio
import base64
import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.daemon.cli.conftest import LONG, NASTY, Filled
from tests.daemon.cli.support import PROGRAM, environment, serving, waybread
from waybread_client import Change, Link
from waybread_protocol.messages import Entry

BINARY = b"\xff\xfe\x00 no text\r\n" * 100_000
READ = "1: one\n2: two"
HUGE = "".join(f"row {number} of a large output, schön \u2028\n" for number in range(400_000))


def exported(session: str, *words: str | Path) -> list[dict[str, Any]]:
    ran = waybread("export", session, *words)
    assert (ran.status, ran.err) == (0, "")
    # Not `splitlines`: that takes other characters for the end of a line.
    assert ran.out.endswith("\n")
    return [json.loads(line) for line in ran.out[:-1].split("\n")]


def of(lines: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [line for line in lines if line["line"] == kind]


def test_the_entries_are_those_of_the_transcript_with_their_fields_of_the_wire(filled: Filled) -> None:
    lines = exported("work", "--data", filled.data)
    entries = of(lines, "entry")
    told = waybread("transcript", "work", "--json", "--data", filled.data).objects()
    assert [{name: value for name, value in entry.items() if name != "line"} for entry in entries] == told
    assert set(entries[0]) == {"line", *Entry.__struct_fields__}
    assert [entry["text"] for entry in entries if entry["text"] in filled.texts] == filled.texts


def test_the_head_tells_the_session_and_the_end_how_much_there_was(filled: Filled) -> None:
    lines = exported("work", "--data", filled.data)
    head, end = lines[0], lines[-1]
    assert (head["line"], head["format"], head["session"], head["device"]) == ("session", 1, "work", filled.phone)
    assert (head["kind"], head["title"], head["directory"], head["turn"]) == ("agent", "a\ttitle", "/home/me", "t1")
    assert (head["results"], head["read_only"]) == (8, False)
    assert end == {"line": "end", "entries": len(of(lines, "entry")), "results": 8, "files": 2}
    assert {line["line"] for line in lines} == {"session", "entry", "result", "file", "end"}


def test_each_result_is_followed_by_its_body_in_full(filled: Filled) -> None:
    lines = exported("work", "--data", filled.data)
    results = of(lines, "result")
    assert [one["result"] for one in results] == [f"#000{number}" for number in range(1, 9)]
    for at, line in enumerate(lines):
        if line["line"] == "result":
            assert (lines[at - 1]["seq"], lines[at - 1]["result"]) == (line["seq"], line["result"])
    bodies = [one["body"] for one in results]
    assert (bodies[0], bodies[4], bodies[6], bodies[7]) == (NASTY, LONG, "no newline at its end", "")
    assert bodies[1] == bodies[2] == READ
    assert bodies[5] == "row 1500\nrow 1501"
    sha256 = hashlib.sha256(b"one\ntwo\n").hexdigest()
    assert [one["sha256"] for one in results][1:3] == [sha256, sha256]
    assert [one["lines"] for one in results][4] == 3000


def test_files_come_once_with_their_bytes(filled: Filled) -> None:
    files = of(exported("work", "--data", filled.data), "file")
    assert {one["sha256"]: one["text"] for one in files} == {
        hashlib.sha256(text.encode()).hexdigest(): text for text in ("one\ntwo\n", "one\n2\n")
    }
    assert [one["size_bytes"] for one in files] == [len(one["text"].encode()) for one in files]


async def test_large_bodies_and_bytes_that_are_no_text_come_exactly_in_little_memory(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as daemon:
        async with Link(daemon.url, daemon.device()["token"]) as link:
            session = await link.open("large", "agent")
            await session.result("bash", {"command": "x" * 200_000}, HUGE)
            await session.message("user", HUGE)
            await session.read("b.bin", "/b.bin", BINARY)
            await session.change([Change("b.bin", "/b.bin", BINARY, b"now text\n")])
        out = tmp_path / "out"
        # Beside the daemon, with what the process took at most as its last word.
        program = (
            "import re, runpy, sys; from pathlib import Path\n"
            "try: runpy.run_module('waybread_daemon', run_name='__main__')\n"
            "finally: sys.stderr.write(re.search(r'VmHWM:\\s+(\\d+) kB', Path('/proc/self/status').read_text())[1])\n"
        )
        with out.open("wb") as file:
            ended = await asyncio.to_thread(
                subprocess.run,
                [sys.executable, "-c", program, "export", "large", "--data", str(daemon.data)],
                check=True,
                stdout=file,
                stderr=subprocess.PIPE,
                env=environment(),
            )
        assert daemon.stop() == 0
    assert len(HUGE.encode()) > 15_000_000
    assert int(ended.stderr) < 90_000
    lines = [json.loads(line) for line in out.read_bytes().split(b"\n")[:-1]]
    assert of(lines, "result")[0]["body"] == HUGE
    assert of(lines, "entry")[1]["args"] == {"command": "x" * 200_000}
    message = next(entry for entry in of(lines, "entry") if entry["kind"] == "message")
    assert message["text"] == HUGE
    assert message["text_chars"] == len(HUGE)
    assert message["capped"] is False
    binary, text = of(lines, "file")
    assert base64.b64decode(binary["base64"], validate=True) == BINARY
    assert binary["sha256"] == hashlib.sha256(BINARY).hexdigest()
    assert text["text"] == "now text\n"


def test_a_session_that_is_not_there_is_refused(filled: Filled) -> None:
    for words, why in ((["wrok"], "is it 'work'?"), (["gone"], "was deleted"), (["same"], "several devices")):
        ran = waybread("export", *words, "--data", filled.data)
        assert (ran.status, ran.out) == (1, "")
        assert why in ran.err
    assert of(exported("same", "--device", filled.laptop, "--data", filled.data), "session")[0]["kind"] == "chat"


def test_a_reader_that_has_enough_ends_it_without_a_word(filled: Filled) -> None:
    exporting = subprocess.Popen(
        [*PROGRAM, "export", "work", "--data", str(filled.data)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    assert exporting.stdout is not None
    exporting.stdout.read(10)
    exporting.stdout.close()
    assert exporting.stderr is not None
    assert exporting.stderr.read() == b""
    exporting.stderr.close()
    assert exporting.wait(20) == 0


@pytest.mark.parametrize("words", [[], ["a", "b"], ["a", "--json"]])
def test_wrong_usage_has_status_2(words: list[str]) -> None:
    assert waybread("export", *words).status == 2
