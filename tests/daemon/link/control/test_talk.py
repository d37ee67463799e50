"""One command's connection, over a pair of sockets."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from waybread_daemon.link.control import talk as module
from waybread_daemon.link.control.messages import LINE_BYTES, AskStatus, Purged
from waybread_daemon.link.control.talk import GoneError, RefusalError, Talk


@asynccontextmanager
async def talking() -> AsyncGenerator[tuple[Talk, socket.socket]]:
    """The daemon's side, and the command's socket."""
    ours, theirs = socket.socketpair()
    reader, writer = await asyncio.open_unix_connection(sock=ours, limit=LINE_BYTES)
    try:
        yield Talk(reader, writer), theirs
    finally:
        theirs.close()
        writer.close()


async def test_one_line_is_heard_and_lines_are_told() -> None:
    async with talking() as (talk, command):
        command.sendall(b'{"type":"status"}\n')
        assert await talk.hear() == AskStatus()
        await talk.tell(Purged())
        await talk.tell(Purged())
        assert command.recv(100) == b'{"type":"purged"}\n{"type":"purged"}\n'


@pytest.mark.parametrize(
    "line,sentence",
    [
        (b"\n", "this is no request"),
        (b"{]\n", "this is no request"),
        (b'{"type":"sing"}\n', "this is no request (Invalid value 'sing' - at `$.type`)"),
        (b"\xff\xfe\n", "this is no request"),
        (b"[" * 20_000 + b"\n", "this is no request"),
        (b"x" * (LINE_BYTES * 2) + b"\n", f"the request is over {LINE_BYTES} bytes: send less"),
    ],
)
async def test_what_is_no_request_is_refused_with_a_sentence(line: bytes, sentence: str) -> None:
    async with talking() as (talk, command):
        command.settimeout(5)
        sending = asyncio.to_thread(command.sendall, line)
        with pytest.raises(RefusalError) as caught:
            await asyncio.gather(sending, talk.hear())
        assert sentence in str(caught.value)


async def test_a_command_that_says_nothing_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "READ_TIMEOUT_S", 0.05)
    async with talking() as (talk, _):
        with pytest.raises(RefusalError, match=r"no request came within 0\.05 s"):
            await talk.hear()


async def test_work_goes_on_while_the_command_is_there_and_ends_with_it() -> None:
    async with talking() as (talk, command):
        await talk.while_there(asyncio.sleep(0.01))
        endless = asyncio.ensure_future(asyncio.sleep(3600))
        waiting = asyncio.ensure_future(talk.while_there(endless))
        command.sendall(b"whatever else it says is passed over\n")
        await asyncio.sleep(0.05)
        assert not waiting.done()
        command.close()
        with pytest.raises(GoneError):
            await waiting
        await asyncio.sleep(0)
        assert endless.cancelled()


async def test_what_the_work_raises_comes_through() -> None:
    async def fails() -> None:
        raise KeyError("x")

    async with talking() as (talk, _):
        with pytest.raises(KeyError):
            await talk.while_there(fails())
