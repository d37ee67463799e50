"""The product against a plain second model, on random sessions of all steps."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.differential.compare import compare
from tests.differential.drivers import Driver, desk_driver, link_driver

SIDE_BY_SIDE = 32
MOST_STEPS = 24


async def _run(driver: Driver, seeds: range) -> None:
    waiting = iter(seeds)

    async def worker() -> None:
        for seed in waiting:
            await compare(driver, seed, MOST_STEPS)

    async with asyncio.TaskGroup() as group:
        for _ in range(SIDE_BY_SIDE):
            group.create_task(worker())


async def test_four_thousand_random_sessions_in_process_answer_as_the_plain_model(tmp_path: Path) -> None:
    async with desk_driver(tmp_path) as driver:
        await _run(driver, range(4000))


@pytest.mark.parametrize("codec, seeds", [("msgpack", range(4000, 7000)), ("json", range(7000, 10000))])
async def test_three_thousand_random_sessions_over_the_link_answer_as_the_plain_model(
    tmp_path: Path, codec: str, seeds: range
) -> None:
    async with link_driver(tmp_path, codec) as driver:
        await _run(driver, seeds)


@pytest.mark.long
@pytest.mark.parametrize("codec", ["in process", "msgpack", "json"])
async def test_ten_thousand_more_random_sessions_answer_as_the_plain_model(tmp_path: Path, codec: str) -> None:
    seeds = range(10_000, 20_000)
    if codec == "in process":
        async with desk_driver(tmp_path) as driver:
            await _run(driver, seeds)
    else:
        async with link_driver(tmp_path, codec) as link:
            await _run(link, seeds)
