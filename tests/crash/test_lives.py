"""A store that lives through hundreds of kills, at random moments and at named points, with and without power cuts."""

from __future__ import annotations

import asyncio
import itertools
import random
from collections import Counter
from pathlib import Path

import apsw
import pytest

from tests.crash.launcher import Order
from tests.crash.ledger import Ledger
from tests.crash.lives import launching
from tests.crash.points import ANY, KINDS, NEVER, Loses, Point
from tests.crash.story import AT_RANDOM, Story
from tests.crash.survey import survey
from waybread_client import Link
from waybread_daemon.serving import STORE_NAME
from waybread_daemon.store.sqlite import open_accounts
from waybread_daemon.store.sqlite.statements import Rows, run

LOSSES: tuple[Loses, ...] = ("nothing", "all", "some")
POINTS = [NEVER, *KINDS[:4], NEVER, *KINDS[4:8], ANY, *KINDS[8:12], NEVER, *KINDS[12:]]


async def kills_of(folder: Path, stores: list[int], seed: int) -> Counter[str]:
    """Stores one after another, each through so many kills and to a clean end: how often it died where."""
    kills: Counter[str] = Counter()
    async with launching() as launcher:
        for number, lives in enumerate(stores):
            data = folder / f"store-{seed}-{number}"
            data.mkdir(parents=True)
            story = Story(Ledger(data, seed + number), launcher, seed + number)
            # Each store begins elsewhere in the list, or a young store would die at the same points only.
            at = number * 7 % len(POINTS)
            await story.live(lives, POINTS[at:] + POINTS[:at])
            await story.end()
            kills += story.kills
    return kills


async def check_kills(folder: Path, old: list[int], young: list[int], seed: int) -> None:
    async with asyncio.TaskGroup() as tasks:
        both = [tasks.create_task(kills_of(folder, old, seed)), tasks.create_task(kills_of(folder, young, seed + 100))]
    kills = both[0].result() + both[1].result()
    print(f"{kills.total()} kills: {dict(kills.most_common())}")
    assert kills.total() == sum(old) + sum(young)
    assert {*KINDS, ANY, AT_RANDOM} == kills.keys()


async def test_after_each_of_300_kills_all_that_was_acknowledged_is_there_once_in_order_and_retries_get_first_answers(
    tmp_path: Path,
) -> None:
    await check_kills(tmp_path, [140], [20] * 8, seed=1)


@pytest.mark.long
async def test_after_each_of_1000_kills_all_that_was_acknowledged_is_there_once_in_order_and_retries_get_first_answers(
    tmp_path: Path,
) -> None:
    await check_kills(tmp_path, [400], [30] * 20, seed=1000)


async def test_the_books_notice_an_answer_that_was_given_before_its_commit_was_synced(tmp_path: Path) -> None:
    async with launching() as launcher:
        ledger = Ledger(tmp_path / "data", 1)
        story = Story(ledger, launcher, 1)
        await story.live_once(Point())
        ledger.look_through()
        with pytest.raises((AssertionError, KeyError)):
            await power_cuts_without_syncs(story)


async def power_cuts_without_syncs(story: Story) -> None:
    """Some, because where the power fails before the first answer there is nothing to notice."""
    for _ in range(20):
        await story.live_once(Point("before write log", 100, "all"), hasty=True)


# --- The first start -------------------------------------------------------------------------------------------------


async def test_a_first_start_killed_at_any_of_its_calls_leaves_a_folder_that_starts_whole(tmp_path: Path) -> None:
    async with launching() as launcher:
        whole = await launcher.start(Order(str(tmp_path / "whole")))
        await whole.stop()
        calls = 0
        for at in itertools.count(1):
            data = tmp_path / str(at)
            life = await launcher.start(Order(str(data), point=Point(ANY, at, LOSSES[at % 3], at)))
            if life.url:
                await life.kill()
                break
            calls += 1
            await life.over()
            assert life.died_at == ANY
            # The next start is none the wiser: it makes the whole store, and a device finds its place in it.
            life = await launcher.start(Order(str(data)))
            assert life.url
            await life.kill()
            with open_accounts(data / STORE_NAME) as accounts:
                accounts.add_device("device", "phone", 1)
            assert survey(data / STORE_NAME).lines == {}
            assert schema_of(data) == schema_of(tmp_path / "whole")
        assert calls > 40


def schema_of(data: Path) -> Rows:
    connection = apsw.Connection(str(data / STORE_NAME))
    try:
        return run(connection.cursor(), "SELECT name, sql FROM sqlite_schema ORDER BY name")
    finally:
        connection.close()


# --- The log ---------------------------------------------------------------------------------------------------------


async def test_the_log_does_not_grow_from_kill_to_kill_where_no_life_is_long_enough_for_a_checkpoint(
    tmp_path: Path,
) -> None:
    chance = random.Random(1)
    ledger = Ledger(tmp_path / "data", 1)
    written = 0
    async with launching() as launcher:
        for _ in range(16):
            life = await launcher.start(Order(str(ledger.data)))
            async with Link(life.url, ledger.clients[0].token) as link:
                session = await link.open("s", "agent")
                for _ in range(4):
                    # Half of it is left when it is compressed: hexadecimal digits.
                    await session.message("user", chance.randbytes(250_000).hex())
                    written += 250_000
            await life.kill()
    log = ledger.path.with_name(ledger.path.name + "-wal")
    assert written == 16_000_000
    assert log.stat().st_size < 8_000_000
