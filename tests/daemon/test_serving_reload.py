"""SIGHUP to a real daemon: what takes effect, what waits, and what is refused."""

from __future__ import annotations

import asyncio
import json
import signal
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
import trustme

from tests.daemon.cli.support import Daemon, serving
from tests.daemon.waiting import until
from tests.daemon.wire import greeted, linked, text_result
from waybread_daemon.config import FILE_NAME

SETTLED = ("settings_reloaded", "settings_refused")


def lines(daemon: Daemon, *events: str) -> list[dict[str, Any]]:
    """What the log says of some events."""
    said = [json.loads(line) for line in daemon.log().splitlines()]
    return [line for line in said if line["event"] in events]


async def reload(daemon: Daemon, settings: str) -> dict[str, Any]:
    """Writes the settings, sends the signal, and gives what the log says of it."""
    (daemon.data / FILE_NAME).write_text(settings)
    before = len(lines(daemon, *SETTLED))
    daemon.process.send_signal(signal.SIGHUP)
    await until(lambda: len(lines(daemon, *SETTLED)) > before)
    return lines(daemon, *SETTLED)[-1]


def status(daemon: Daemon, host: str) -> int:
    url = daemon.url.replace("ws:", "http:").replace("/link", "/healthz")
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers={"Host": host})) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as fault:
        with fault:
            return fault.code


async def test_settings_that_can_change_take_effect_and_links_stay(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as daemon:
        token = daemon.device()["token"]
        async with greeted(daemon.url, token) as wire:
            assert await asyncio.to_thread(status, daemon, "nas.example") == 403
            told = await reload(daemon, 'allowed_hosts = ["nas.example"]\nlog_level = "debug"\nmax_message = 5000000\n')
            assert told["changed"] == ["max_message", "allowed_hosts", "log_level"]
            assert await asyncio.to_thread(status, daemon, "nas.example") == 200
            assert (await wire.ask("open", session="s", kind="agent"))["type"] == "opened"
            assert lines(daemon, "request")
            async with linked(daemon.url) as fresh:
                assert (await fresh.ask("hello", token=token, client="t"))["limits"]["max_message"] == 5_000_000
            told = await reload(daemon, "device_quota_bytes = 1\n")
            assert told["changed"] == ["max_message", "allowed_hosts", "device_quota_bytes", "log_level"]
            assert await asyncio.to_thread(status, daemon, "nas.example") == 403
            refused = await wire.ask("result", **text_result("s", "k"))
            assert (refused["type"], refused["code"]) == ("error", "storage_full")
            # What is no longer said is as it is without being said, but for flags.
            await reload(daemon, "device_quota_bytes = 0\n")
            assert (await wire.ask("result", **text_result("s", "k")))["type"] == "inserted"
        assert daemon.stop() == 0


async def test_the_log_speaks_at_the_level_of_the_moment(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as daemon:
        token = daemon.device()["token"]
        async with greeted(daemon.url, token) as wire:
            await wire.ask("ping")
            await reload(daemon, 'log_level = "debug"\n')
            await wire.ask("ping")
            (daemon.data / FILE_NAME).write_text('log_level = "error"\n')
            daemon.process.send_signal(signal.SIGHUP)
            # A log at that level does not tell of it: what it tells no more shows it.
            async with asyncio.timeout(10):
                while True:
                    before = daemon.log()
                    await wire.ask("ping")
                    if daemon.log() == before:
                        break
        daemon.stop()
        assert daemon.log() == before
    assert len(lines(daemon, "request")) >= 1


async def test_settings_that_cannot_change_are_named_and_nothing_of_them_is_taken(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as daemon:
        told = await reload(daemon, 'page_bytes = 2048\nmetrics = true\npublic_url = "https://way.example"\n')
        assert told["changed"] == ["public_url"]
        await until(lambda: lines(daemon, "restart_needed"))
        (waiting,) = lines(daemon, "restart_needed")
        # `--port 0` is a flag and stays the same; so does the port that was taken.
        assert (waiting["settings"], waiting["level"]) == (["page_bytes", "metrics"], "warning")
        async with linked(daemon.url) as wire:
            welcome = await wire.ask("hello", token=daemon.device()["token"], client="t")
            assert welcome["limits"]["page_bytes"] == 262144


@pytest.mark.parametrize(
    "settings,faults",
    [
        (
            'allowed_host = ["nas.example"]\nmax_connections = 0\nallowed_hosts = ["nas.example"]\n',
            ["has an unknown setting 'allowed_host': is it allowed_hosts?", "max_connections is 0 in"],
        ),
        ("max_frame = \n", ["is no TOML"]),
        ('allowed_hosts = ["nas.example"]\nmax_message = 4096\n', ["less than max_frame"]),
    ],
)
async def test_all_faults_are_told_and_the_old_settings_stay(tmp_path: Path, settings: str, faults: list[str]) -> None:
    with serving(tmp_path / "data") as daemon:
        told = await reload(daemon, settings)
        assert (told["event"], told["level"], len(told["faults"])) == ("settings_refused", "error", len(faults))
        assert [part in fault for part, fault in zip(faults, told["faults"], strict=True)] == [True] * len(faults)
        assert await asyncio.to_thread(status, daemon, "nas.example") == 403
        assert (await reload(daemon, 'allowed_hosts = ["nas.example"]\n'))["changed"] == ["allowed_hosts"]


async def test_flags_and_the_environment_stay_above_the_file(tmp_path: Path) -> None:
    with serving(tmp_path / "data", "--log-level", "warning") as daemon:
        (daemon.data / FILE_NAME).write_text('log_level = "debug"\nmax_connections = 3\nport = 1\n')
        daemon.process.send_signal(signal.SIGHUP)
        async with greeted(daemon.url, daemon.device()["token"]) as wire:
            await wire.ask("ping")
        assert daemon.stop() == 0
    # Neither the port nor the level differ from what the flags say.
    assert daemon.log() == ""


async def test_other_certificate_files_are_taken(tmp_path: Path) -> None:
    authority = trustme.CA()
    folder = tmp_path / "data"
    folder.mkdir()
    for name in ("one", "two"):
        pair = authority.issue_cert("127.0.0.1")
        pair.private_key_pem.write_to_path(str(folder / f"{name}.key"))
        for at, blob in enumerate(pair.cert_chain_pems):
            blob.write_to_path(str(folder / f"{name}.pem"), append=at > 0)
    (folder / FILE_NAME).write_text('tls_cert = "one.pem"\ntls_key = "one.key"\n')
    with serving(folder) as daemon:
        assert daemon.first_line.startswith("waybread listening on wss://127.0.0.1:")
        told = await reload(daemon, 'tls_cert = "two.pem"\ntls_key = "two.key"\n')
        assert told["changed"] == ["tls_cert", "tls_key"]
        assert len(lines(daemon, "certificate_renewed")) == 1
        told = await reload(daemon, 'tls_cert = "two.pem"\ntls_key = "one.key"\n')
        assert told["event"] == "settings_refused"
        told = await reload(daemon, "")
        assert (told["changed"], lines(daemon, "restart_needed")[-1]["settings"]) == ([], ["tls_cert", "tls_key"])
