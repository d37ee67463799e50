"""`waybread status`, with a daemon and without one."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path
from typing import Any

import msgspec

from tests.daemon.cli.conftest import Filled
from tests.daemon.cli.support import Ran, serving, waybread
from tests.daemon.cli.test_asking import answering
from tests.daemon.cli.test_session import fill
from tests.daemon.wire import greeted
from waybread_daemon import VERSION
from waybread_daemon.link.control.messages import Status


def status(data: Path, *words: str, **settings: str) -> Ran:
    ran = waybread("status", "--data", data, *words, **settings)
    assert (ran.status, ran.err) == (0, "")
    return ran


def as_data(data: Path, **settings: str) -> dict[str, Any]:
    (told,) = status(data, "--json", **settings).objects()
    return told


async def test_a_daemon_is_told_with_its_links(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as daemon:
        phone, laptop = daemon.device("phone"), daemon.device("laptop", "viewer")
        async with greeted(daemon.url, phone["token"]), greeted(daemon.url, phone["token"]):
            told = await asyncio.to_thread(as_data, daemon.data)
            lines = (await asyncio.to_thread(status, daemon.data)).out.splitlines()
    assert told["daemon"]["running"] is True
    assert told["daemon"]["server"] == f"waybread/{VERSION}"
    assert told["daemon"]["pid"] == daemon.process.pid
    assert told["daemon"]["address"] == daemon.url
    assert (told["daemon"]["ready"], told["daemon"]["why"], told["daemon"]["links"]) == (True, "", 2)
    assert 0 <= time.time() * 1000 - told["daemon"]["started_ms"] < 60_000
    assert [(one["device"], one["links"], one["tokens"]) for one in told["devices"]] == [
        (phone["device"], 2, {"device": 1}),
        (laptop["device"], 0, {"viewer": 1}),
    ]
    ((token,),) = [one["live_tokens"] for one in told["devices"][1:]]
    assert token == {"token": laptop["token"].partition(".")[0], "role": "viewer", "seen_ms": 0, "name": ""}
    assert told["devices"][0]["seen_ms"] > 0
    assert told["devices"][1]["seen_ms"] == 0
    assert lines[0].startswith(f"daemon    waybread/{VERSION}, process {daemon.process.pid}, since ")
    assert lines[0].endswith("(0 minutes)")
    assert lines[1:4] == [f"address   {daemon.url}", "links     2", "state     ready"]
    assert [line.split()[:3] for line in lines[7:10]] == [
        ["DEVICE", "NAME", "LINKS"],
        [phone["device"], "phone", "2"],
        [laptop["device"], "laptop", "0"],
    ]


def test_a_store_without_a_daemon_tells_the_rest(filled: Filled) -> None:
    told = as_data(filled.data)
    assert told["daemon"] == {"running": False, "why": ""}
    assert [(one["name"], one["links"], one["sessions"]) for one in told["devices"]] == [
        ("phone", 0, 2),
        ("laptop", 0, 1),
    ]
    assert told["database_bytes"] == (filled.data / "waybread.sqlite").stat().st_size
    volume = os.statvfs(filled.data)
    assert told["disk"]["total_bytes"] == volume.f_blocks * volume.f_frsize
    assert 0 < told["disk"]["free_bytes"] < told["disk"]["total_bytes"]
    lines = status(filled.data).out.splitlines()
    assert lines[0] == "daemon    not running"
    assert lines[1].startswith(f"store     {filled.data}: database ")


def test_sizes_are_what_came_in_and_what_it_takes(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as daemon:
        asyncio.run(fill(daemon.url, daemon.device()["token"], "s", size=300_000))
    told = as_data(tmp_path / "data", WAYBREAD_DEVICE_QUOTA_BYTES="1000000")
    (device,), (session,) = told["devices"], told["largest_sessions"]
    # A result and a file of some 300,000 bytes each: hexadecimal digits, so half of it is left.
    assert 599_000 < device["raw_bytes"] < 602_000
    assert 0.4 * device["raw_bytes"] < device["stored_bytes"] < 0.7 * device["raw_bytes"]
    assert (session["session"], session["results"], session["device_name"]) == ("s", 2, "phone")
    assert 599_000 < session["raw_bytes"] < 602_000
    assert device["quota_bytes"] == 1_000_000
    lines = status(tmp_path / "data", WAYBREAD_DEVICE_QUOTA_BYTES="1000000").out.splitlines()
    row = next(line for line in lines if line.startswith(device["device"]))
    used = device["stored_bytes"] + device["purging_bytes"]
    assert row.endswith(f"  {used / 10_000:.1f} %")
    without = status(tmp_path / "data", WAYBREAD_DEVICE_QUOTA_BYTES="0").out.splitlines()
    assert next(line for line in without if line.startswith(device["device"])).endswith("  no quota")


def test_the_ten_largest_sessions_come_the_largest_first(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as daemon:
        token = daemon.device()["token"]
        for number in range(12):
            asyncio.run(fill(daemon.url, token, f"s{number}", size=1000 * (number + 1)))
    told = as_data(tmp_path / "data")
    assert [one["session"] for one in told["largest_sessions"]] == [f"s{number}" for number in range(11, 1, -1)]
    lines = status(tmp_path / "data").out.splitlines()
    head = next(at for at, line in enumerate(lines) if line.startswith("STORED"))
    assert lines[head].split() == ["STORED", "RAW", "RESULTS", "CHANGED", "DEVICE", "SESSION", "TITLE"]
    assert len(lines) - head - 1 == 10


def test_the_floor_is_the_lesser_of_bytes_and_percent_and_none_where_one_is_0(filled: Filled) -> None:
    total = as_data(filled.data)["disk"]["total_bytes"]
    floors = [
        as_data(filled.data, WAYBREAD_FREE_FLOOR_BYTES=str(count), WAYBREAD_FREE_FLOOR_PERCENT=str(percent))["disk"][
            "floor_bytes"
        ]
        for count, percent in ((1000, 90), (2**53 - 1, 1), (0, 5), (1000, 0))
    ]
    assert floors == [1000, total // 100, 0, 0]


def test_a_running_daemons_settings_count_not_those_of_the_command(tmp_path: Path) -> None:
    with serving(tmp_path / "data"):
        told = as_data(tmp_path / "data", WAYBREAD_FREE_FLOOR_BYTES="77", WAYBREAD_FREE_FLOOR_PERCENT="90")
    assert told["disk"]["floor_bytes"] != 77


def test_a_store_that_takes_nothing_is_told_with_its_reason(tmp_path: Path) -> None:
    waybread("device", "add", "phone", "--data", tmp_path)
    said = Status(
        server="waybread/9",
        pid=7,
        started_ms=1000,
        address="ws://h/link",
        ready=False,
        why="the disk is full: free some space",
        links=[],
        device_quota_bytes=0,
        free_floor_bytes=0,
        free_floor_percent=0,
    )
    with answering(tmp_path, msgspec.json.encode(said) + b"\n"):
        daemon = as_data(tmp_path)["daemon"]
    assert (daemon["ready"], daemon["why"]) == (False, "the disk is full: free some space")
    with answering(tmp_path, msgspec.json.encode(said) + b"\n"):
        lines = status(tmp_path).out.splitlines()
    assert lines[3] == "state     takes nothing new: the disk is full: free some space"


def test_a_daemon_that_cannot_be_asked_does_not_hide_the_store(tmp_path: Path) -> None:
    waybread("device", "add", "phone", "--data", tmp_path)
    with answering(tmp_path, b'{"type":"error","message":"ask later"}\n'):
        told = as_data(tmp_path)
    assert told["daemon"] == {"running": None, "why": "ask later"}
    assert [one["name"] for one in told["devices"]] == ["phone"]
    with answering(tmp_path, b'{"type":"error","message":"ask later"}\n'):
        assert status(tmp_path).out.startswith("daemon    cannot be asked: ask later\n")


def test_an_empty_store_says_how_to_begin(tmp_path: Path) -> None:
    with serving(tmp_path / "data"):
        assert status(tmp_path / "data").out.endswith("\n\nThere are no devices yet: `waybread pair NAME` links one.\n")


def test_a_folder_without_a_store_is_refused_with_a_sentence(tmp_path: Path) -> None:
    ran = waybread("status", "--data", tmp_path)
    assert (ran.status, ran.out) == (1, "")
    assert ran.err.startswith(f"waybread: There is no store at {tmp_path}/waybread.sqlite")
    assert list(tmp_path.iterdir()) == []


def test_the_phones_of_a_device_are_told_by_their_names_until_they_are_revoked(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as daemon:
        laptop = daemon.device("laptop")
        tokens = [
            waybread("device", "add", name, "--device", laptop["device"], "--json", "--data", daemon.data).objects()[0]
            for name in ("Anna", "Ben")
        ]
        lines = status(daemon.data).out.splitlines()
        waybread("device", "revoke", tokens[0]["token"].partition(".")[0], "--data", daemon.data)
        (told,) = as_data(daemon.data)["devices"]
    head = next(line for line in lines if line.startswith("DEVICE "))
    row = lines[lines.index(head) + 1]
    assert row[head.index("TOKEN NAMES") :] == "Anna, Ben"
    assert sorted(token["name"] for token in told["live_tokens"]) == ["", "Ben"]


async def test_when_a_device_was_last_seen_is_told_after_it_is_revoked_too(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as daemon:
        phone = daemon.device("phone")
        async with greeted(daemon.url, phone["token"]):
            pass
        await asyncio.to_thread(waybread, "device", "revoke", phone["device"], "--data", daemon.data)
        (told,) = (await asyncio.to_thread(as_data, daemon.data))["devices"]
        assert told["tokens"] == {}
        assert 0 <= time.time() * 1000 - told["seen_ms"] < 60_000
        assert "never" not in (await asyncio.to_thread(status, daemon.data)).out
