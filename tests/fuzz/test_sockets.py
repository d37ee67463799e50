"""Frames at random over real sockets to a real daemon: each gets what it has to, and nobody else notices."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from tests.daemon.wire import JSON, MSGPACK, greeted, text_result
from tests.fuzz.attacker import MAX_FRAME, MAX_MESSAGE, Attacker, Tally
from tests.limits.watched import MIB, assert_no_fault, memory_bytes, new_account
from tests.running import Daemon, running

AT_ONCE = 2
"""Attackers of each codec."""
GROWTH_MOST_BYTES = 48 * MIB
WAIT_MOST_S = 5
"""A neighbour waits so long at most: it is some milliseconds where nothing else wants the processor."""


async def neighbour(daemon: Daemon, stop: asyncio.Event) -> int:
    """Another device's client: how many of its requests were answered, each rightly and in time."""
    asked = 0
    async with greeted(daemon.url, new_account(daemon.data).token) as wire:
        await wire.ask("open", session="quiet", kind="agent")
        while not stop.is_set():
            began = time.monotonic()
            asked += 1
            answer = await wire.ask("result", **text_result("quiet", f"k{asked}", f"text {asked}"))
            assert answer["text"] == f"[{answer['result']}]\ntext {asked}", answer
            assert int(answer["result"][1:], 16) == asked
            shown = await wire.ask("show", session="quiet", result=answer["result"])
            assert shown["text"] == f"text {asked}"
            assert time.monotonic() - began < WAIT_MOST_S
            await asyncio.sleep(0.02)
        assert wire.pushed == []
    return asked


async def attack(daemon: Daemon, token: str, frames: int, first_seed: int) -> Tally:
    """All attackers at once, `frames` in all."""
    tally = Tally()
    each = frames // (2 * AT_ONCE)
    async with asyncio.TaskGroup() as group:
        for codec in (MSGPACK, JSON):
            for number in range(AT_ONCE):
                attacker = Attacker(daemon.url, token, codec, first_seed + number, tally)
                group.create_task(attacker.run(each))
    return tally


async def fuzzed(tmp_path: Path, frames: int, first_seed: int) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "waybread.toml").write_text(f"max_frame = {MAX_FRAME}\nmax_message = {MAX_MESSAGE}\n", encoding="utf-8")
    with running(data) as daemon:
        token = new_account(data).token
        stop = asyncio.Event()
        other = asyncio.create_task(neighbour(daemon, stop))
        try:
            warm = await attack(daemon, token, frames // 4, first_seed)
            before = memory_bytes(daemon)
            tally = await attack(daemon, token, frames - frames // 4, first_seed + 100)
            after = memory_bytes(daemon)
        finally:
            stop.set()
            asked = await other
        print(f"\nfuzz: {warm}; {tally}; neighbour {asked}; memory {before // MIB} to {after // MIB} MiB")
        assert asked > 20
        assert warm.frames + tally.frames >= frames
        assert set(tally.closed) == {1007, 1009}
        assert {"bad_message", "unknown_type", "too_large", "unknown_session", "key_conflict"} <= set(tally.codes)
        assert after - before < GROWTH_MOST_BYTES
        assert daemon.process.poll() is None
        assert daemon.stop() == 0
        assert_no_fault(daemon)


async def test_twenty_thousand_frames_get_what_they_have_to_and_no_neighbour_is_lost(tmp_path: Path) -> None:
    await fuzzed(tmp_path, 20_000, 0)


@pytest.mark.long
async def test_a_million_frames_get_what_they_have_to_and_no_neighbour_is_lost(tmp_path: Path) -> None:
    await fuzzed(tmp_path, 1_000_000, 1000)
