"""Sessions of few kinds of steps, so that rare meetings of them come often: compactions, undos and restarts."""

from __future__ import annotations

import random
from pathlib import Path

from tests.differential import steps
from tests.differential.compare import compare_steps
from tests.differential.drivers import desk_driver
from tests.differential.steps import Step

_LATE = (
    Step("compact"),
    Step("reads"),
    Step("restart"),
    Step("restart"),
    Step("carry", {"results": "all"}),
    Step("carry", {"results": ["#0001", "#0003", "#0005", "#0007"]}),
)


def _session(seed: int) -> tuple[str, list[Step]]:
    chance = random.Random(seed)
    made: list[Step] = []
    for _ in range(chance.randint(8, 20)):
        turns = chance.sample(steps.TURNS[:3], 1)
        path, absolute = chance.choice(steps.FILES[:2])
        read = Step("read", {"path": path, "absolute": absolute, "content": steps.CONTENTS[4]})
        made.append(
            chance.choice((read, read, Step("turn", {"turn": turns[0]}), Step("take_back", {"turns": turns}), *_LATE))
        )
    return chance.choice(steps.KINDS), made


async def test_a_restart_after_any_order_of_compactions_and_undos_changes_no_answer(tmp_path: Path) -> None:
    async with desk_driver(tmp_path) as driver:
        for seed in range(600):
            kind, made = _session(seed)
            await compare_steps(driver, f"r{seed}", kind, made)
