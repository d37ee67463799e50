"""Names and titles that a client makes up to reach what lies behind them: files, templates, terminals, logs.

They are text to the daemon, and come back as they were. Other attacks are tried beside what they attack; the table in
`tests/README.md` names them all.
"""

from __future__ import annotations

import json
from pathlib import Path
from subprocess import CalledProcessError

import pytest

from tests.daemon.wire import Map, greeted, text_result
from tests.limits.watched import assert_no_fault
from tests.running import Daemon, running, waybread

PATHS = (
    "../../../../etc/passwd",
    "/etc/passwd",
    "..\\..\\windows\\system32",
    "file:///etc/passwd",
    "waybread.sqlite",
    "waybread.toml",
    ".",
    "..",
    "~/.ssh/id_ed25519",
    "a/../../b",
    "%2e%2e%2f%2e%2e%2f",
    "nul\x00byte",
    "'; DROP TABLE entry; --",
    "$(touch pwned)",
    "-rf",
)
TEMPLATES = (
    "{{7*191}}",
    "${7*191}",
    "#{7*191}",
    "<%= 7*191 %>",
    "{0.__class__.__mro__}",
    "%(secret)s %s %n %x",
    "${jndi:ldap://127.0.0.1/x}",
    "<script>alert(7*191)</script>",
    "\x1b]0;owned\x07\x1b[2J",
    "\u202egnp.exe",
    '", "level": "error", "event": "forged"}\n{"event": "forged',
)
COMPUTED = "1337"
"""What a template would make of itself."""


def listing(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def lines_of_log(daemon: Daemon) -> list[Map]:
    """Every line is an object of the daemon's own: none was forged or broken by a line feed in a name."""
    return [json.loads(line) for line in daemon.log.read_text("utf-8").splitlines()]


@pytest.mark.parametrize("name", PATHS)
async def test_a_path_in_a_session_id_is_a_name_and_reaches_no_file(tmp_path: Path, name: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    data = outside / "data"
    with running(data) as daemon:
        token = daemon.token()
        before = listing(tmp_path)
        async with greeted(daemon.url, token) as wire:
            opened = await wire.ask("open", session=name, kind="agent")
            assert (opened["type"], opened["session"]) == ("opened", name)
            inserted = await wire.ask("result", **text_result(name, "k1", "what the tool said"))
            assert inserted["text"] == "[#0001]\nwhat the tool said"
            shown = await wire.ask("show", session=name, result="0001")
            assert shown["text"] == "what the tool said"
            if "\x00" not in name:
                # Behind `--`, as a name that begins with a hyphen has to be given; no command line can hold a NUL.
                transcript = waybread("transcript", "--", name, data=data).stdout
                assert "[#0001]\nwhat the tool said" in transcript
            assert (await wire.ask("delete", session=name))["type"] == "done"
            other = await wire.ask("open", session="another", kind="agent")
            assert (other["type"], other["results"]) == ("opened", 0)
        # A log of the database that was not there before is the store's own.
        assert {path for path in listing(tmp_path) - before if "waybread.sqlite-" not in path} == set()
        assert daemon.stop() == 0
        assert_no_fault(daemon)


async def test_a_template_in_a_title_is_text_wherever_it_is_shown(tmp_path: Path) -> None:
    with running(tmp_path / "data", 0, "--log-level", "debug") as daemon:
        token = daemon.token()
        async with greeted(daemon.url, token) as wire:
            for number, text in enumerate(TEMPLATES):
                session = f"s{number}"
                await wire.ask("open", session=session, kind="agent", title=text, directory=text)
                sent = await wire.ask("result", **text_result(session, text[:100], text, tool=text, args={text: text}))
                assert sent["text"] == f"[#0001]\n{text}"
            rows = (await wire.ask("sessions"))["sessions"]
            assert [row["title"] for row in reversed(rows)] == list(TEMPLATES)
            assert [row["directory"] for row in reversed(rows)] == list(TEMPLATES)
            entries = (await wire.ask("sync", after=0))["entries"]
            assert [entry["title"] for entry in entries if entry["kind"] == "opened"] == list(TEMPLATES)
            assert [entry["tool"] for entry in entries if entry["kind"] == "result"] == list(TEMPLATES)
            assert [entry["args"] for entry in entries if entry["kind"] == "result"] == [{t: t} for t in TEMPLATES]
        listed = [
            json.loads(line) for line in waybread("sessions", "--json", data=tmp_path / "data").stdout.splitlines()
        ]
        assert [row["title"] for row in reversed(listed)] == list(TEMPLATES)
        assert daemon.stop() == 0
        log = lines_of_log(daemon)
        assert [line for line in log if line["event"] == "forged" or line["level"] == "error"] == []
        assert COMPUTED not in json.dumps(listed)
        assert [
            line for line in log if COMPUTED in json.dumps({k: v for k, v in line.items() if k != "timestamp"})
        ] == []
        assert_no_fault(daemon)


async def test_a_name_of_a_device_with_control_characters_is_refused_or_made_harmless(tmp_path: Path) -> None:
    with running(tmp_path / "data") as daemon:
        for name in ("\x1b[2J", "two\nlines", "\u202egnp"):
            with pytest.raises(CalledProcessError) as refused:
                waybread("device", "add", name, data=tmp_path / "data")
            assert refused.value.returncode == 2
            assert "control character" in refused.value.stderr
        daemon.token("{{7*191}}")
        assert "{{7*191}}" in waybread("device", "list", data=tmp_path / "data").stdout
        assert daemon.stop() == 0
