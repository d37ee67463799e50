"""Bytes at random where HTTP and WebSocket are expected, below the messages: the daemon closes and goes on."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tests.daemon.waiting import until
from tests.daemon.wire import greeted, text_result
from tests.limits.watched import assert_no_fault, new_account, open_sockets
from tests.running import Daemon, running

TRIES = 300
AT_ONCE = 60
HANDSHAKE = (
    b"GET /link HTTP/1.1\r\n"
    b"Host: 127.0.0.1\r\n"
    b"Upgrade: websocket\r\n"
    b"Connection: Upgrade\r\n"
    b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
    b"Sec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Protocol: waybread.v1.json\r\n"
    b"\r\n"
)
WORDS = (b"\r\n", b"\x00", b": ", b"HTTP/9.9", b"Host: a\r\nHost: b\r\n", b"Origin: null\r\n", b"\xff\xfe", b"x" * 9000)


@pytest.fixture
async def daemon(tmp_path: Path) -> AsyncGenerator[Daemon]:
    with running(tmp_path / "data") as daemon:
        yield daemon
        assert daemon.stop() == 0
        assert_no_fault(daemon)


async def exchange(daemon: Daemon, data: bytes, *, handshake: bytes = b"") -> bytes:
    """Sends bytes and gives all that comes back until the daemon closes, or says nothing more: then it ends its side."""
    reader, writer = await asyncio.open_connection("127.0.0.1", daemon.port)
    try:
        async with asyncio.timeout(30):
            if handshake:
                writer.write(handshake)
                await reader.readuntil(b"\r\n\r\n")
            writer.write(data)
            said = b""
            while True:
                try:
                    async with asyncio.timeout(0.25):
                        piece = await reader.read(65_536)
                except TimeoutError:
                    writer.write_eof()
                    return said + await reader.read()
                said += piece
                if not piece:
                    return said
    except ConnectionError:
        return b""
    finally:
        writer.transport.abort()


async def all_closed(daemon: Daemon, before: int) -> None:
    await until(lambda: open_sockets(daemon) <= before, 15)


async def others_are_served(daemon: Daemon) -> None:
    async with greeted(daemon.url, new_account(daemon.data).token) as wire:
        await wire.ask("open", session="s", kind="agent")
        assert (await wire.ask("result", **text_result("s", "k")))["text"] == "[#0001]\nout"


def spoiled_handshake(chance: random.Random) -> bytes:
    lines = HANDSHAKE.split(b"\r\n")
    match chance.randrange(5):
        case 0:
            chance.shuffle(lines)
        case 1:
            del lines[chance.randrange(len(lines) - 2)]
        case 2:
            lines[chance.randrange(len(lines) - 2)] += chance.choice(WORDS)
        case 3:
            return chance.randbytes(chance.randrange(200))
        case _:
            spoiled = bytearray(HANDSHAKE)
            spoiled[chance.randrange(len(spoiled))] = chance.randrange(256)
            return bytes(spoiled)
    return b"\r\n".join(lines)


async def test_handshakes_at_random_are_refused_or_taken_and_leave_no_socket_behind(daemon: Daemon) -> None:
    before = open_sockets(daemon)
    statuses: set[bytes] = set()
    for first in range(0, TRIES, AT_ONCE):
        tried = [spoiled_handshake(random.Random(seed)) for seed in range(first, first + AT_ONCE)]
        for said in await asyncio.gather(*(exchange(daemon, data) for data in tried)):
            assert not said or said.startswith(b"HTTP/1.1 "), said
            statuses.add(said[9:12])
    assert {b"101", b"400", b"403"} <= statuses
    assert not statuses & {b"500", b"200"}
    await all_closed(daemon, before)
    await others_are_served(daemon)


def spoiled_frames(chance: random.Random) -> bytes:
    """WebSocket frames: of reserved kinds and bits, not masked, with lengths that lie, or no frames at all."""
    made = b""
    for _ in range(chance.randint(1, 4)):
        if chance.random() < 0.2:
            made += chance.randbytes(chance.randrange(40))
            continue
        payload = chance.choice((b"", b"{}", b"\xff\xfe", b'{"type":"ping","id":1}', b"x" * 125))
        length = chance.choice((len(payload), len(payload), 125, 0)) | (0x80 if chance.random() < 0.9 else 0)
        mask = b"\0\0\0\0" if length & 0x80 else b""
        first = 0x81 if chance.random() < 0.3 else chance.randrange(256)
        made += bytes([first, length]) + mask + payload
    return made


async def test_websocket_frames_at_random_end_their_link_and_leave_no_socket_behind(daemon: Daemon) -> None:
    before = open_sockets(daemon)
    ends: set[bytes] = set()
    for first in range(0, TRIES, AT_ONCE):
        tried = [spoiled_frames(random.Random(seed)) for seed in range(first, first + AT_ONCE)]
        for said in await asyncio.gather(*(exchange(daemon, data, handshake=HANDSHAKE) for data in tried)):
            # The last frame is a closing one, with a code, where the daemon had anything to say.
            at = said.rfind(b"\x88")
            ends.add(said[at + 2 : at + 4] if at >= 0 else b"")
    codes = {int.from_bytes(code) for code in ends if code}
    assert {1002, 1007, 4401} <= codes
    assert not codes & {1011}, "an internal error"
    await all_closed(daemon, before)
    await others_are_served(daemon)
