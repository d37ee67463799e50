"""Two devices in one daemon: a neighbour with things to hide, and one who looks."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from tests.daemon.wire import Wire, greeted
from tests.limits.watched import Account, new_account
from tests.neighbours.words import MINE, NEVER, OWNED, Map, Words, read
from tests.running import Daemon

_TIMES = re.compile(rb'(at_ms|opened_ms|changed_ms)("?:?)(\xcf.{8}|\d+)', re.DOTALL)


async def furnish(wire: Wire, words: Words, session: str, *, more: bool) -> None:
    """A session with a turn, a read and a listing; `more`: some of everything."""

    async def ask(type_: str, **fields: object) -> None:
        answer = await wire.ask(type_, session=session, **fields)
        assert answer["type"] != "error", answer

    def text_of(number: int) -> Map:
        return {"kind": "text", "text": f"{words.content.decode()}{number}"}

    await ask("open", kind="agent", title=words.content.decode(), directory=words.path)
    await ask("turn", turn=words.turn)
    await ask("result", key=words.key, tool="read", call=words.call, body=read(words, {"bytes": words.content}))
    if not more:
        return
    await ask("result", key="large", tool="read", body=read(words, {"bytes": words.large}, offset=2))
    for number in range(12):
        await ask("result", key=f"listing {number}", tool="grep", args={"p": words.path}, body=text_of(number))
    await ask("message", key="said", role="user", text=words.content.decode())
    await ask("recall", key="recalled", result="1")
    await ask("compact", key="compacted")
    await ask("turn", turn=f"{words.turn} 2")
    await ask("take_back", key="taken", turns=[f"{words.turn} 2"])
    await ask("carry", key="carried", results="all")


@asynccontextmanager
async def looking(daemon: Daemon, codec: str, role: str) -> AsyncGenerator[Wire]:
    """One who looks: a new device with a session of its own, linked in a role."""
    owner = new_account(daemon.data)
    async with greeted(daemon.url, owner.token, codec) as wire:
        await furnish(wire, MINE, MINE.session, more=False)
    account = new_account(daemon.data, role, owner.device)
    async with greeted(daemon.url, account.token, codec) as wire:
        yield wire


async def neighbour(daemon: Daemon) -> Account:
    """The device that has all that `OWNED` names."""
    account = new_account(daemon.data)
    async with greeted(daemon.url, account.token) as wire:
        await furnish(wire, OWNED, OWNED.session, more=True)
    return account


async def log_of(daemon: Daemon, account: Account) -> list[Map]:
    """The whole log of a device."""
    async with greeted(daemon.url, account.token) as wire:
        entries: list[Map] = []
        page: Map = {"next": 0, "more": True, "epoch": ""}
        while page["more"]:
            page = await wire.ask("sync", after=page["next"], epoch=page["epoch"])
            entries += page["entries"]
        return entries


def frame_of(wire: Wire, message: Map) -> bytes:
    """A message as it came, without the times in it."""
    return _TIMES.sub(rb"\1\2", wire.encode(message))


def renamed(frame: bytes, names: Words = OWNED, into: Words = NEVER) -> bytes:
    """A frame with one set of words put in place of the other."""
    pairs: list[tuple[str, str]] = [
        (names.session, into.session),
        (names.turn, into.turn),
        (names.key, into.key),
        (names.call, into.call),
        (names.path, into.path),
        (names.result, into.result),
        (names.sha256, into.sha256),
        (names.sha256[:8], into.sha256[:8]),
        (names.large_sha256, into.large_sha256),
        (names.large_sha256[:8], into.large_sha256[:8]),
        (f"`seq` {names.seq} ", f"`seq` {into.seq} "),
        (f"cursor {names.seq} ", f"cursor {into.seq} "),
    ]
    for old, new in pairs:
        frame = frame.replace(old.encode(), new.encode())
    return frame


async def all_that_it_sees(wire: Wire) -> list[bytes]:
    """What a device is shown of itself."""
    asked: list[tuple[str, dict[str, Any]]] = [
        ("sessions", {}),
        ("sync", {}),
        ("reads", {"session": MINE.session}),
        ("history", {"session": MINE.session}),
        ("show", {"session": MINE.session, "result": MINE.result}),
    ]
    return [frame_of(wire, {**await wire.ask(type_, **fields), "re": 0}) for type_, fields in asked]
