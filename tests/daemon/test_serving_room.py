"""A quota, a floor of free disk and the file's size, seen from outside: a real daemon, its link, its files."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path
from urllib.error import HTTPError

import pytest

from tests.daemon.cli import support
from tests.daemon.cli.support import Daemon, serving
from tests.daemon.wire import Wire, greeted, text_result

WITHIN_S = 15
MIB = 1024 * 1024


def noise(size: int, seed: int = 0) -> str:
    """Text that takes half of its size on the disk."""
    return random.Random(seed).randbytes(size // 2).hex()


def folder(tmp_path: Path, **settings: int) -> Path:
    """A data folder with settings."""
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    settle(data, **settings)
    return data


def settle(data: Path, **settings: int) -> None:
    (data / "waybread.toml").write_text("".join(f"{name} = {number}\n" for name, number in settings.items()))


def stored_bytes(data: Path) -> int:
    """What the database and its log take."""
    return sum(file.stat().st_size for file in data.glob("waybread.sqlite*") if not file.name.endswith("-shm"))


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(WITHIN_S):
        while not condition():  # noqa: ASYNC110  # what is waited for tells nobody
            await asyncio.sleep(0.05)


def readiness(daemon: Daemon) -> tuple[int, str]:
    url = daemon.url.replace("ws://", "http://").removesuffix("/link") + "/readyz"
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return answer.status, answer.read().decode()
    except HTTPError as fault:
        return fault.code, fault.read().decode()


async def until_stored(wire: Wire, key: str) -> None:
    """Sends the same request again until it is taken, as a client does after `storage_full` with `retry`."""
    async with asyncio.timeout(WITHIN_S):
        while True:
            answer = await wire.ask("result", **text_result("s", key, "small"))
            if answer["type"] == "inserted":
                return
            assert (answer["code"], answer["retry"]) == ("storage_full", True)
            await asyncio.sleep(0.1)


async def test_a_full_quota_is_told_and_ends_by_itself_and_the_file_shrinks(tmp_path: Path) -> None:
    data = folder(tmp_path, device_quota_bytes=8 * MIB)
    with serving(data) as daemon:
        async with greeted(daemon.url, daemon.device()["token"]) as wire:
            for session in ("s", "large"):
                await wire.ask("open", session=session, kind="agent")
            first = await wire.ask("result", **text_result("s", "first", "kept"))
            # 300,000 bytes each: the 28th would go over it.
            for number in range(27):
                answer = await wire.ask("result", **text_result("large", f"k{number:02}", noise(600_000, number)))
                assert answer["type"] == "inserted"
            answer = await wire.ask("result", **text_result("large", "k27", noise(600_000, 27)))
            assert (answer["code"], answer["retry"]) == ("storage_full", True)
            # So much is written of it that it would not fit, and not less is said of what it takes.
            assert answer["message"].startswith("this does not fit into the room of this device: 7.")
            assert "of 8.0 MiB (device_quota_bytes) are taken, and this, with what is on its way" in answer["message"]
            assert stored_bytes(data) > 27 * 300_000
            # A large one is refused on its way; what looks, and what was sent before, goes on.
            refused = await wire.ask("message", session="s", key="m", role="user", text=noise(900_000))
            assert refused["code"] == "storage_full"
            replayed = await wire.ask("result", **text_result("s", "first", "kept"))
            assert replayed == first | {"re": replayed["re"], "repeated": True}
            assert (await wire.ask("show", session="s", result="1"))["text"] == "kept"
            assert (await wire.ask("sync"))["head"] == 30
            assert readiness(daemon) == (200, "ready\n")
            other = daemon.device("other")["token"]
            async with greeted(daemon.url, other) as theirs:
                assert (await theirs.ask("open", session="t", kind="agent"))["type"] == "opened"
            assert (await wire.ask("delete", session="large"))["type"] == "done"
            await until_stored(wire, "after")
        await until(lambda: stored_bytes(data) < MIB // 2)


async def test_a_large_body_that_would_go_over_the_quota_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    data = folder(tmp_path, device_quota_bytes=8 * MIB)
    with serving(data) as daemon:
        async with greeted(daemon.url, daemon.device()["token"]) as wire:
            await wire.ask("open", session="s", kind="agent")
            number = 1000
            message = {"type": "result", "id": number, **text_result("s", "large", noise(60_000_000))}
            await wire.say_in_parts(message, 512 * 1024)
            answer = await wire.answer_to(number)
            assert (answer["code"], answer["retry"]) == ("storage_full", True)
            assert (await wire.ask("result", **text_result("s", "k", "small")))["type"] == "inserted"
        await until(lambda: stored_bytes(data) < MIB // 2)


async def test_below_the_floor_of_free_disk_nothing_is_stored_until_there_is_room_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = os.statvfs(tmp_path)
    free, total = disk.f_bavail * disk.f_frsize, disk.f_blocks * disk.f_frsize
    if free > total * 85 // 100:
        pytest.skip("this disk is so empty that no floor that can be set lies above what is free")
    inherited = {name: text for name, text in os.environ.items() if not name.startswith("WAYBREAD_")}

    def with_a_floor(**more: str) -> dict[str, str]:
        return inherited | more

    monkeypatch.setattr(support, "environment", with_a_floor)
    data = folder(tmp_path, free_floor_bytes=1)
    with serving(data) as daemon:
        token = daemon.device()["token"]
        async with greeted(daemon.url, token) as wire:
            await wire.ask("open", session="s", kind="agent")
            await wire.ask("result", **text_result("s", "first", "kept"))
            settle(data, free_floor_bytes=total, free_floor_percent=90)
            daemon.process.send_signal(signal.SIGHUP)
            await until(lambda: readiness(daemon)[0] == 503)
            assert readiness(daemon)[1].startswith("not ready: the disk has ")
            await until(lambda: '"not_ready"' in daemon.log())
            for refused in (
                await wire.ask("result", **text_result("s", "k", "more")),
                await wire.ask("open", session="new", kind="agent"),
            ):
                assert (refused["code"], refused["retry"]) == ("storage_full", True)
                assert "(free_floor_bytes, free_floor_percent)" in refused["message"]
            assert (await wire.ask("result", **text_result("s", "first", "kept")))["repeated"] is True
            assert (await wire.ask("show", session="s", result="1"))["text"] == "kept"
            settle(data, free_floor_bytes=1)
            daemon.process.send_signal(signal.SIGHUP)
            await until_stored(wire, "k")
            assert readiness(daemon) == (200, "ready\n")
    # At the start the disk is looked at before anyone links.
    settle(data, free_floor_bytes=total, free_floor_percent=90)
    with serving(data) as daemon:
        async with greeted(daemon.url, token) as wire:
            answer = await wire.ask("open", session="first", kind="agent")
            assert answer["code"] == "storage_full"


async def test_old_sessions_are_deleted_by_the_daemon_and_told_in_its_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its hour is shortened in a copy of the program's own start."""
    data = folder(tmp_path, keep_sessions_days=1)
    hasty = tmp_path / "hasty.py"
    hasty.write_text(
        "import sys, time\n"
        "from waybread_daemon.sessions import retention\n"
        "from waybread_daemon import serving\n"
        "retention.INTERVAL_S = 0.2\n"
        "ahead_ms = int(sys.argv.pop(1))\n"
        "serving.now_ms = lambda: time.time_ns() // 1_000_000 + ahead_ms\n"
        "from waybread_daemon.__main__ import main\n"
        "sys.exit(main())\n"
    )

    def program(ahead_days: int) -> None:
        monkeypatch.setattr(support, "PROGRAM", [sys.executable, str(hasty), str(ahead_days * 86_400_000)])

    plain = support.PROGRAM
    program(0)
    with serving(data) as daemon:
        monkeypatch.setattr(support, "PROGRAM", plain)
        token = daemon.device()["token"]
        async with greeted(daemon.url, token) as wire:
            for session in ("old", "older"):
                await wire.ask("open", session=session, kind="agent")
            await asyncio.sleep(3)
            assert len((await wire.ask("sessions"))["sessions"]) == 2
    program(2)
    with serving(data) as daemon:
        async with greeted(daemon.url, token) as wire:
            await wire.ask("open", session="new", kind="agent")
            page = await wire.ask("sync", follow=True)
            deleted = [entry["session"] for entry in page["entries"] if entry["kind"] == "deleted"]
            while len(deleted) < 2:
                push = await wire.push()
                assert push["entry"]["kind"] == "deleted"
                deleted.append(push["entry"]["session"])
            assert sorted(deleted) == ["old", "older"]
            assert [row["session"] for row in (await wire.ask("sessions"))["sessions"]] == ["new"]
        lines = [json.loads(line) for line in daemon.log().splitlines()]
        assert [line["sessions"] for line in lines if line["event"] == "sessions_retired"] == [2]
