"""`waybread session delete`, with a daemon and without one."""

from __future__ import annotations

import asyncio
import os
import pty
import random
import subprocess
from pathlib import Path

import pytest

from tests.daemon.cli.support import PROGRAM, Ran, environment, serving, waybread
from waybread_client import Link

MIB = 1024 * 1024
LINE = "%0120x\n"


def noise(size: int, seed: int = 1) -> str:
    """Text that does not compress away."""
    chance = random.Random(seed)
    return "".join(LINE % chance.getrandbits(480) for _ in range(size // 121))


async def fill(url: str, token: str, *sessions: str, size: int = 4 * MIB) -> None:
    async with Link(url, token) as link:
        for number, name in enumerate(sessions):
            session = await link.open(name, "agent")
            await session.turn("t1")
            await session.result("bash", {}, noise(size, number))
            await session.read("a.txt", "/a.txt", noise(size, number + 100).encode())


def made(data: Path, *sessions: str, size: int = 4 * MIB) -> str:
    """A store with these sessions of one device, whose daemon has stopped; the device's id."""
    with serving(data) as daemon:
        phone = daemon.device()
        asyncio.run(fill(daemon.url, phone["token"], *sessions, size=size))
    return phone["device"]


def session(data: Path, *words: str) -> Ran:
    return waybread("session", *words, "--data", data)


def names(data: Path) -> list[str]:
    return sorted(one["session"] for one in waybread("sessions", "--data", data, "--json").objects())


def test_without_a_daemon_the_file_is_smaller_when_the_command_ends(tmp_path: Path) -> None:
    data = tmp_path / "data"
    device = made(data, "large", "kept")
    before = (data / "waybread.sqlite").stat().st_size
    ran = session(data, "delete", "large", "--yes", "--json")
    assert (ran.status, ran.err) == (0, "")
    after = (data / "waybread.sqlite").stat().st_size
    (told,) = ran.objects()
    assert told == {"device": device, "session": "large", "freed_bytes": before - after}
    # Half of the store is gone: of each session 8 MiB of digits, which compress to half.
    assert 0.4 * before < told["freed_bytes"] < 0.6 * before
    assert names(data) == ["kept"]
    assert waybread("recall", "kept", "1", "--data", data).status == 0


def test_the_sentence_tells_what_became_of_the_space(tmp_path: Path) -> None:
    data = tmp_path / "data"
    made(data, "s", size=1000)
    ran = session(data, "delete", "s", "--yes")
    assert (ran.status, ran.err) == (0, "")
    assert ran.out.startswith("The session 's' of phone is deleted. The store is ")
    assert session(data, "delete", "s", "--yes") == (
        1,
        "",
        "waybread: the session 's' was deleted, and all that it stored with it\n",
    )


def test_with_a_daemon_it_is_gone_at_once_and_its_space_soon(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with serving(data) as daemon:
        phone = daemon.device()
        asyncio.run(fill(daemon.url, phone["token"], "s", "kept", size=1000))
        ran = session(data, "delete", "s", "--yes", "--json")
        assert ran.objects() == [{"device": phone["device"], "session": "s", "freed_bytes": None}]
        assert names(data) == ["kept"]
        assert session(data, "delete", "kept", "--yes").out == (
            "The session 'kept' of phone is deleted. The daemon frees its space in the background, within some minutes; "
            "--wait waits for it.\n"
        )


async def fill_with_results(url: str, token: str) -> None:
    """Results alone: unlike files, nothing on its way may name them, so they need not be kept for a minute."""
    async with Link(url, token) as link:
        session = await link.open("s", "agent")
        for number in range(8):
            await session.result("bash", {}, noise(MIB, number))


def test_with_a_daemon_and_wait_the_store_is_smaller_when_the_command_ends(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with serving(data) as daemon:
        phone = daemon.device()
        asyncio.run(fill_with_results(daemon.url, phone["token"]))
        (told,) = session(data, "delete", "s", "--yes", "--wait", "--json").objects()
        assert told["freed_bytes"] > 2 * MIB


def test_of_two_devices_with_the_session_one_has_to_be_named(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with serving(data) as daemon:
        phone, laptop = daemon.device("phone"), daemon.device("laptop")
        asyncio.run(fill(daemon.url, phone["token"], "s", size=1000))
        asyncio.run(fill(daemon.url, laptop["token"], "s", size=1000))
        ran = session(data, "delete", "s", "--yes")
        assert (ran.status, ran.out) == (1, "")
        assert ran.err.startswith("waybread: several devices have a session 's': name one with --device")
        assert session(data, "delete", "s", "--device", laptop["device"], "--yes").status == 0
        (left,) = waybread("sessions", "--data", data, "--json").objects()
    assert left["device"] == phone["device"]


def on_a_terminal(data: Path, answer: bytes) -> tuple[int, str]:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*PROGRAM, "session", "delete", "s", "--data", str(data)],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment(),
    )
    os.close(theirs)
    said = b""
    while b"[y/N]" not in said:
        said += os.read(ours, 65536)
    os.write(ours, answer)
    status = process.wait(60)
    said += os.read(ours, 65536)
    os.close(ours)
    return status, said.decode()


def test_a_terminal_is_asked_first(tmp_path: Path) -> None:
    data = tmp_path / "data"
    made(data, "s", size=1000)
    status, said = on_a_terminal(data, b"n\n")
    assert status == 1
    assert "Delete the session 's' of phone, with its 2 results? This cannot be undone. [y/N]" in said
    assert names(data) == ["s"]
    assert on_a_terminal(data, b"y\n")[0] == 0
    assert names(data) == []


def test_without_a_terminal_and_without_yes_nothing_is_deleted(tmp_path: Path) -> None:
    data = tmp_path / "data"
    made(data, "s", size=1000)
    assert session(data, "delete", "s") == (
        1,
        "",
        "waybread: a deletion cannot be undone, and there is no terminal to ask on: say --yes\n",
    )
    assert names(data) == ["s"]


def test_what_is_not_there_is_refused_with_the_nearest(tmp_path: Path) -> None:
    data = tmp_path / "data"
    made(data, "my-session", size=1000)
    assert session(data, "delete", "my-sesion", "--yes").err == (
        "waybread: there is no session 'my-sesion': is it 'my-session'? `waybread sessions` lists them\n"
    )
    assert session(tmp_path / "none", "delete", "s", "--yes").err.startswith("waybread: There is no store at ")


def test_without_an_action_it_says_what_there_is(tmp_path: Path) -> None:
    ran = waybread("session")
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.endswith("`delete SESSION` is all there is here; `waybread sessions` lists sessions\n")


@pytest.mark.parametrize("words", [["remove", "s"], ["delete"], ["delete", "s", "t"], ["delete", "s", "--force"]])
def test_wrong_words_are_wrong_usage(tmp_path: Path, words: list[str]) -> None:
    ran = session(tmp_path, *words)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith("usage: waybread session")
