"""The main ways through the page in Debian's Firefox, driven by `firefox/ways.mjs`."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from pathlib import Path

from tests.page.browsers import firefox_path
from tests.page.browsing import House, offered, tell_hostile, tell_story
from tests.page.npm import packages

WAYS = Path(__file__).parent / "firefox/ways.mjs"
STEPS = [
    "paired by the link",
    "opened a transcript",
    "opened a result by its id, and came back",
    "read windows of a result",
    "saw hostile text as text",
    "followed",
    "was right again after the daemon was killed, without a reload",
    "opened without a daemon, and said how old it is",
    "forgot everything",
]
_MOST_S = 90


async def test_the_main_ways_work_in_firefox(house: House, tmp_path: Path) -> None:
    firefox, installed, node = firefox_path(), packages(), shutil.which("node")
    assert node is not None
    # Modules are looked for from where the program lies.
    program = tmp_path / "ways.mjs"
    shutil.copy(WAYS, program)
    (tmp_path / "node_modules").symlink_to(installed / "node_modules")
    (tmp_path / "profile").mkdir()
    async with house.link() as link:
        await tell_hostile(link)
        await tell_story(link)
        live = await link.open("live", "agent", title="Live")
        await live.message("user", "Message 1.")

        async def say(first: int, last: int) -> None:
            for number in range(first, last + 1):
                await live.message("user", f"Message {number}.")

        async def do(what: str) -> None:
            if what == "insert":
                await say(2, 5)
            elif what == "kill and start":
                saying = asyncio.create_task(say(6, 9))
                house.kill()
                house.start()
                await saying
            elif what == "kill":
                house.kill()
            else:
                house.start()

        with offered(house) as offer:
            given = {"firefox": firefox, "page": offer["page"], "site": house.url}
            process = await asyncio.create_subprocess_exec(
                *(node, str(program), json.dumps(given)),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env={**os.environ, "HOME": str(tmp_path / "profile"), "TMPDIR": str(tmp_path)},
            )
            assert process.stdin is not None
            assert process.stdout is not None
            assert process.stderr is not None
            steps: list[str] = []
            try:
                async with asyncio.timeout(_MOST_S):
                    async for line in process.stdout:
                        said = json.loads(line)
                        if "step" in said:
                            steps.append(said["step"])
                        else:
                            await do(said["ask"])
                            process.stdin.write(b"\n")
                    faults = (await process.stderr.read()).decode()
            except TimeoutError:
                faults = f"it did not end within {_MOST_S} s"
                process.terminate()
            status = await process.wait()
    assert steps == STEPS, faults
    assert status == 0, faults
