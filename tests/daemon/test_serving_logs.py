"""What the log of a real daemon tells, and what it must not."""

import asyncio
import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.daemon.cli.support import serving, waybread
from tests.daemon.wire import CODECS, greeted, linked, text_result

SECRETS = [
    "SECRET-BODY",
    "SECRET-ARGUMENT",
    "SECRET-PATH",
    "SECRET-FILE",
    "SECRET-TITLE",
    "SECRET-MESSAGE",
    "SECRET-TOKEN",
]


async def everything(url: str, token: str, codec: str) -> None:
    """Requests of all kinds, good and bad ones, each with something that no log may hold."""
    async with greeted(url, token, codec) as wire:
        await wire.ask("open", session="s", kind="agent", title="SECRET-TITLE", directory="/SECRET-PATH")
        await wire.ask("message", session="s", key="m", role="user", text="SECRET-MESSAGE")
        await wire.ask("result", **text_result("s", "k", "SECRET-BODY", args={"a": "SECRET-ARGUMENT"}))
        await wire.ask("result", **text_result("s", "k", "another SECRET-BODY"))
        read = {"kind": "read", "path": "SECRET-PATH", "absolute": "/SECRET-PATH", "content": {"text": "SECRET-FILE"}}
        await wire.ask("result", session="s", key="r", tool="read", body=read)
        await wire.ask("result", session="s", key="r2", tool="read", body=read | {"content": {"sha256": "SECRET-FILE"}})
        await wire.ask("recall", session="s", key="c", result="SECRET-BODY")
        await wire.ask("show", session="s", result="SECRET-BODY")
        await wire.ask("SECRET-BODY")
        await wire.say_bytes(b"\xc1SECRET-BODY" if not wire.text else b'{"SECRET-BODY')
        await wire.close_code()
    async with linked(url, codec) as wire:
        await wire.send("hello", token="SECRET-TOKEN.SECRET-TOKEN")
        await wire.close_code()
    async with linked(url, codec) as wire:
        await wire.send("hello", token=["SECRET-TOKEN"])
        await wire.close_code()


def status_of(url: str, token: str) -> int:
    asked = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"})
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(asked)
    caught.value.close()
    return caught.value.code


@pytest.mark.parametrize("level", ["debug", "info", "warning"])
@pytest.mark.parametrize("codec", CODECS)
async def test_no_token_body_or_path_is_in_the_log_at_any_level(tmp_path: Path, level: str, codec: str) -> None:
    with serving(tmp_path / "data", "--log-level", level) as daemon:
        token = daemon.device()["token"]
        await everything(daemon.url, token, codec)
        http = daemon.url.replace("ws:", "http:").replace("/link", "/SECRET-PATH")
        assert await asyncio.to_thread(status_of, http, token) == 404
        assert daemon.stop() == 0
    log = daemon.log()
    assert [secret for secret in SECRETS if secret in log] == []
    assert token.partition(".")[2] not in log
    assert (log == "") == (level == "warning")


async def test_every_line_is_one_json_event_with_ids_and_sizes(tmp_path: Path) -> None:
    with serving(tmp_path / "data", "--log-level", "debug") as daemon:
        made = daemon.device()
        async with greeted(daemon.url, made["token"]) as wire:
            await wire.ask("open", session="s", kind="agent")
            await wire.ask("result", **text_result("s", "k", "x" * 1000))
        waybread("device", "revoke", made["device"], "--data", daemon.data)
        assert daemon.stop() == 0
    lines: list[dict[str, Any]] = [json.loads(line) for line in daemon.log().splitlines()]
    assert [line["event"] for line in lines] == [
        "listening",
        "link_opened",
        "request",
        "request",
        "link_closed",
        "draining",
        "stopped",
    ]
    assert {(line["level"], "timestamp" in line) for line in lines} == {("info", True), ("debug", True)}
    assert (lines[1]["connection"], lines[1]["device"], lines[1]["client"]) == (1, made["device"], "test 1")
    assert (lines[3]["connection"], lines[3]["id"], lines[3]["type"]) == (1, 3, "result")
    assert lines[3]["bytes"] > 1000
