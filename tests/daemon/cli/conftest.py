"""A store with something in it, made once by a real daemon: what the commands that only look are tried on."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.daemon.cli.support import serving
from waybread_client import Change, Link

NASTY = "red \x1b[31m\x9b2J\x07 bell\r\nand a tab\there\n"
LONG = "".join(f"row {number}\n" for number in range(1, 3001))


@dataclass
class Filled:
    """`data` holds two devices: both have a session `same`, the first one `work` and the deleted `gone`, too."""

    data: Path
    phone: str
    laptop: str
    texts: list[str]
    """What the model got in `work`."""


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Filled:
    data = tmp_path_factory.mktemp("filled") / "data"
    with serving(data) as daemon:
        phone, laptop = daemon.device("phone"), daemon.device("laptop")
        texts = asyncio.run(_fill(daemon.url, phone["token"], laptop["token"]))
    return Filled(data, phone["device"], laptop["device"], texts)


async def _fill(url: str, phone: str, laptop: str) -> list[str]:
    async with Link(url, laptop) as link:
        await link.open("same", "chat")
    async with Link(url, phone) as link:
        await link.open("same", "agent")
        await (await link.open("gone", "agent")).delete()
        work = await link.open("work", "agent", title="a\ttitle", directory="/home/me")
        await work.turn("t1")
        await work.message("user", "please")
        return [
            (await work.result("bash", {"command": "make"}, NASTY, call="call-7")).text,
            (await work.read("a.py", "/home/me/a.py", b"one\ntwo\n", args={"path": "a.py"})).text,
            (await work.read("a.py", "/home/me/a.py", b"one\ntwo\n", args={"path": "a.py"})).text,
            (await work.change([Change("a.py", "/home/me/a.py", b"one\ntwo\n", b"one\n2\n")])).text,
            (await work.result("bash", {"x": "y" * 600}, LONG)).text,
            (await work.recall("#0005", 1500, 2)).text,
            (await work.result("bash", {}, "no newline at its end", error=True)).text,
            (await work.result("bash", {}, "")).text,
            (await work.compact()).table,
        ]
