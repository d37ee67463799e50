"""The control socket of a daemon in this process, spoken to as a command does."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.daemon.served import Served, serving
from tests.daemon.waiting import until
from tests.daemon.wire import Map, greeted, linked, text_result
from waybread_daemon.link.accounts import token_id
from waybread_daemon.link.control import control as module
from waybread_daemon.link.control.control import Control
from waybread_daemon.link.control.place import SOCKET_NAME

CODE_CHARS = 26


class Log:
    """What the control socket logged."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str, dict[str, object]]] = []

    def info(self, event: str, **fields: object) -> None:
        self.lines.append(("info", event, fields))

    def warning(self, event: str, **fields: object) -> None:
        self.lines.append(("warning", event, fields))


class Commands:
    """Commands of one daemon."""

    def __init__(self, folder: Path, served: Served, control: Control, log: Log) -> None:
        self.folder = folder
        self.served = served
        self.control = control
        self.log = log

    @asynccontextmanager
    async def connected(self, line: bytes) -> AsyncGenerator[asyncio.StreamReader]:
        reader, writer = await asyncio.open_unix_connection(self.folder / SOCKET_NAME)
        writer.write(line)
        try:
            yield reader
        finally:
            writer.close()

    @asynccontextmanager
    async def asking(self, type_: str, **fields: object) -> AsyncGenerator[asyncio.StreamReader]:
        async with self.connected(json.dumps({"type": type_, **fields}).encode() + b"\n") as reader:
            yield reader

    async def ask(self, type_: str, **fields: object) -> list[Map]:
        """All that a request is told, until the daemon hangs up."""
        async with self.asking(type_, **fields) as reader, asyncio.timeout(20):
            return [json.loads(line) async for line in reader]


async def told(reader: asyncio.StreamReader) -> Map:
    """The next line."""
    async with asyncio.timeout(20):
        line: Map = json.loads(await reader.readline())
    return line


@asynccontextmanager
async def commanded(folder: Path, **settings: Any) -> AsyncGenerator[Commands]:
    async with serving(folder, **settings) as served:
        log = Log()
        control = Control(served.server, folder, served.port, log)
        await control.start()
        try:
            yield Commands(folder, served, control, log)
        finally:
            await control.close()


# --- Pairing ---------------------------------------------------------------------------------------------------------


async def pair(served: Served, code: str, **fields: object) -> Map:
    """What a client is told that says a code."""
    async with linked(served.url) as wire:
        return await wire.ask("hello", code=code, client="test 1", **fields)


async def test_a_code_pairs_one_device_and_the_command_hears_of_it(tmp_path: Path) -> None:
    async with commanded(tmp_path) as commands:
        async with commands.asking("pair", name="phone", role="viewer") as command:
            offer = await told(command)
            assert offer["type"] == "offer"
            assert len(offer["code"].replace("-", "")) == CODE_CHARS
            assert 290_000 < offer["expires_ms"] - commands.served.desk.now_ms() <= 300_000
            assert offer["bases"] == [f"http://127.0.0.1:{commands.served.port}"]
            assert (offer["local"], offer["fingerprint"]) == (True, "")
            paired = await pair(commands.served, offer["code"], name="what it calls itself")
            assert (paired["type"], paired["role"]) == ("paired", "viewer")
            assert await told(command) == {
                "type": "paired",
                "device": paired["device"],
                "name": "phone",
                "role": "viewer",
                "token": token_id(paired["token"]),
                "token_name": "what it calls itself",
            }
            assert await command.read() == b""
        async with greeted(commands.served.url, paired["token"]):
            pass
        assert (await pair(commands.served, offer["code"]))["code"] == "unauthenticated"


async def test_a_further_token_is_of_the_device_that_was_named(tmp_path: Path) -> None:
    async with commanded(tmp_path) as commands:
        device = await commands.served.add_device("tablet")
        async with commands.asking("pair", device=device.device) as command:
            paired = await pair(commands.served, (await told(command))["code"], name="x")
            assert paired["device"] == device.device
            assert await told(command) == {
                "type": "paired",
                "device": device.device,
                "name": "tablet",
                "role": "device",
                "token": token_id(paired["token"]),
                "token_name": "x",
            }


async def test_a_device_that_is_not_there_gets_no_code(tmp_path: Path) -> None:
    async with commanded(tmp_path) as commands:
        assert await commands.ask("pair", device="none") == [
            {
                "type": "error",
                "message": "there is no device with the id 'none': `waybread device list` shows them",
            }
        ]


async def test_a_command_that_goes_away_takes_its_code_with_it(tmp_path: Path) -> None:
    async with commanded(tmp_path) as commands:
        async with commands.asking("pair") as command:
            code = (await told(command))["code"]
        await until(lambda: not commands.control._serving)
        assert (await pair(commands.served, code))["code"] == "unauthenticated"


async def test_five_wrong_codes_void_it_and_the_command_hears_why(tmp_path: Path) -> None:
    async with commanded(tmp_path) as commands, commands.asking("pair") as command:
        code = (await told(command))["code"]
        for number in range(5):
            assert (await pair(commands.served, f"{number}" * CODE_CHARS))["code"] == "unauthenticated"
        void = await told(command)
        assert void["type"] == "void"
        assert void["why"].startswith("5 wrong codes were tried, so every open code is void: make a new one")
        assert (await pair(commands.served, code))["code"] == "unauthenticated"


async def test_a_code_is_in_no_log(tmp_path: Path) -> None:
    async with commanded(tmp_path) as commands, commands.asking("pair") as command:
        code = (await told(command))["code"]
        await pair(commands.served, code)
        await told(command)
        logged = repr((commands.log.lines, commands.served.log))
        assert code not in logged
        assert code.replace("-", "") not in logged


# --- Status ----------------------------------------------------------------------------------------------------------


async def test_the_status_tells_what_only_the_daemon_knows(tmp_path: Path) -> None:
    async with commanded(tmp_path, device_quota_bytes=77, public_url="https://way.example") as commands:
        device = await commands.served.add_device()
        token = await commands.served.add_token(device, "agent")
        async with greeted(commands.served.url, token):
            (status,) = await commands.ask("status")
        assert status["links"] == [
            {"type": "link", "device": device.device, "token": token.partition(".")[0], "role": "agent"}
        ]
        assert (status["type"], status["pid"], status["server"]) == ("status", os.getpid(), "waybread/test")
        assert (status["ready"], status["why"], status["address"]) == (True, "", "wss://way.example/link")
        assert (status["device_quota_bytes"], status["free_floor_bytes"]) == (77, 0)


async def test_a_store_that_takes_nothing_is_told_with_its_reason(tmp_path: Path) -> None:
    async with commanded(tmp_path) as commands:
        commands.served.desk.live.failing = "the disk is full"
        (status,) = await commands.ask("status")
        assert (status["ready"], status["why"]) == (False, "the disk is full")
        commands.served.desk.live.failing = ""
        commands.served.desk.room.full = "less than 2 GiB are free"
        (status,) = await commands.ask("status")
        assert (status["ready"], status["why"]) == (False, "less than 2 GiB are free")


# --- Deleting --------------------------------------------------------------------------------------------------------


async def test_a_deleted_session_is_pushed_to_who_follows_it(tmp_path: Path) -> None:
    async with commanded(tmp_path) as commands:
        device = await commands.served.add_device()
        async with greeted(commands.served.url, await commands.served.add_token(device)) as wire:
            await wire.ask("open", session="s", kind="agent")
            await wire.ask("result", **text_result("s", "k1"))
            await wire.ask("sync", follow=True)
            assert await commands.ask("delete_session", device=device.device, session="s") == [
                {"type": "deleted", "sessions": 1}
            ]
            (entry,) = [push["entry"] for push in await wire.pushes(1)]
            assert (entry["kind"], entry["session"]) == ("deleted", "s")
        assert await commands.ask("delete_session", device=device.device, session="s", wait=True) == [
            {"type": "deleted", "sessions": 0},
            {"type": "purged"},
        ]


async def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    async with commanded(tmp_path) as commands:
        device = await commands.served.add_device()
        (refused,) = await commands.ask("delete_session", device=device.device, session="none")
        assert refused["message"].startswith("there is no session 'none'")
        (refused,) = await commands.ask("delete_device", device="none")
        assert refused["message"].startswith("there is no device with the id 'none'")


async def test_a_deleted_device_is_cut_off_and_its_tokens_are_none_any_more(tmp_path: Path) -> None:
    async with commanded(tmp_path) as commands:
        device, other = await commands.served.add_device("lost"), await commands.served.add_device("kept")
        token, kept = await commands.served.add_token(device), await commands.served.add_token(other)
        async with greeted(commands.served.url, token) as wire, greeted(commands.served.url, kept) as left:
            await wire.ask("open", session="s", kind="agent")
            await left.ask("open", session="s", kind="agent")
            assert await commands.ask("delete_device", device=device.device, wait=True) == [
                {"type": "deleted", "sessions": 1},
                {"type": "purged"},
            ]
            assert await wire.close_code() == 4403
            assert (await left.ask("result", **text_result("s", "k1")))["type"] == "inserted"
        async with linked(commands.served.url) as wire:
            assert (await wire.ask("hello", token=token, client="x"))["code"] == "unauthenticated"
        listed = await commands.served.store.look(lambda reader: [one.name for one in reader.devices()])
        assert listed == ["kept"]


async def test_a_device_whose_links_do_not_close_is_not_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_LINKS_END_WITHIN_S", 0.1)
    async with commanded(tmp_path) as commands:
        device = await commands.served.add_device()
        token = await commands.served.add_token(device)
        monkeypatch.setattr(commands.served.server, "linked_tokens", lambda: [token.partition(".")[0]])
        (refused,) = await commands.ask("delete_device", device=device.device)
        assert "did not close within 0.1 s: its tokens are revoked; repeat the command" in refused["message"]
        assert len(await commands.served.store.look(lambda reader: reader.devices())) == 1


# --- The socket itself -----------------------------------------------------------------------------------------------


async def test_what_is_no_request_gets_a_sentence_and_the_end(tmp_path: Path) -> None:
    async with commanded(tmp_path) as commands, commands.connected(b"GET / HTTP/1.1\r\n") as command:
        assert (await told(command))["message"].startswith("this is no request")
        assert await command.read() == b""


async def test_a_command_that_hangs_up_at_once_leaves_nothing_behind(tmp_path: Path) -> None:
    async with commanded(tmp_path) as commands:
        for line in (b"", b'{"type":"pair"}\n', b'{"type":"status"}\n'):
            async with commands.connected(line):
                pass
        await until(lambda: not commands.control._serving)
        assert [status["type"] for status in await commands.ask("status")] == ["status"]


async def test_another_user_is_told_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def is_owner(_: object) -> bool:
        return False

    monkeypatch.setattr(module, "is_owner", is_owner)
    async with commanded(tmp_path) as commands:
        # It may hang up before the request is read.
        with contextlib.suppress(ConnectionResetError):
            assert await commands.ask("status") == []


async def test_more_commands_than_it_takes_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CONNECTIONS_MOST", 1)
    async with commanded(tmp_path) as commands, commands.asking("pair") as command:
        await told(command)
        (refused,) = await commands.ask("status")
        assert "commands are connected already" in refused["message"]


async def test_a_fault_of_the_daemon_ends_one_command_and_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with commanded(tmp_path) as commands:
        with monkeypatch.context() as patched:
            patched.setattr(module, "machine_addresses", None)
            patched.setattr(module, "bases", None)
            assert await commands.ask("status") == [
                {"type": "error", "message": "a fault of the daemon, logged as fault-1: try again"}
            ]
        assert [type(fault) for fault in commands.served.faults] == [TypeError]
        commands.served.faults.clear()
        assert (await commands.ask("status"))[0]["type"] == "status"


async def test_a_daemon_that_stops_tells_who_waits_and_takes_the_socket_away(tmp_path: Path) -> None:
    async with commanded(tmp_path) as commands, commands.asking("pair") as command:
        code = (await told(command))["code"]
        await commands.control.close()
        assert (await told(command))["message"].startswith("the daemon stops: start it again")
        assert not (tmp_path / SOCKET_NAME).exists()
        assert (await pair(commands.served, code))["code"] == "unauthenticated"


async def test_a_folder_with_something_else_in_its_place_costs_the_commands_and_says_so(tmp_path: Path) -> None:
    (tmp_path / SOCKET_NAME).mkdir()
    async with commanded(tmp_path) as commands:
        assert commands.log.lines == [
            (
                "warning",
                "no_control_socket",
                {"why": "waybread.sock in the data folder is no socket: take it away and start the daemon again"},
            )
        ]
        await commands.served.new_token()
    assert (tmp_path / SOCKET_NAME).is_dir()


async def test_a_command_that_reads_nothing_holds_nobody_up(tmp_path: Path) -> None:
    async with commanded(tmp_path) as commands:
        with socket.socket(socket.AF_UNIX) as deaf:
            deaf.connect(str(tmp_path / SOCKET_NAME))
            deaf.sendall(b'{"type":"status"}\n')
            began = time.monotonic()
            assert (await commands.ask("status"))[0]["type"] == "status"
            assert time.monotonic() - began < 5
