"""What tests of the page in a browser share: a daemon with its device, phones that look at it, and sessions to look at."""

from __future__ import annotations

import asyncio
import functools
import json
import shutil
import subprocess
import sys
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Page, expect

from tests.page.limits import limited, watched
from tests.running import Daemon, environment, waybread
from waybread_client import Backoff, Change, Link, Session

PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2, "has_touch": True}

PAIR = """async ({url, device, name, role, token}) => {
  const { openDatabase } = await import('/js/core/database.js');
  const { Pairings } = await import('/js/core/pairings.js');
  const database = await openDatabase();
  await new Pairings(database).add({ url, name, paired: { type: 'paired', re: 1, device, role, token } });
  database.close();
}"""
"""Puts a pairing where the page keeps it."""


class _Prepared:
    """A store with a device and a token to look with: made once, because each command takes its time, and copied."""

    def __init__(self) -> None:
        self._folder = TemporaryDirectory(prefix="waybread-page-")
        self.data = Path(self._folder.name) / "data"
        self.device, self.token = self._add("laptop")
        _, self.viewer = self._add("phone", "--role", "viewer", "--device", self.device)

    def _add(self, *words: str) -> tuple[str, str]:
        made = json.loads(waybread("device", "add", *words, "--json", data=self.data).stdout)
        return str(made["device"]), str(made["token"])


_prepared = functools.cache(_Prepared)


class House:
    """A daemon and a device on it, named `laptop`. `token` is its own, `viewer` one that only looks.

    `door` is the port by which phones come in.
    """

    def __init__(self, data: Path, *flags: str) -> None:
        prepared = _prepared()
        shutil.copytree(prepared.data, data)
        self.device, self.token, self.viewer = prepared.device, prepared.token, prepared.viewer
        self.daemon = Daemon(data, 0, *flags)
        self._data = data
        self._flags = flags
        self.port = self.daemon.port
        self.door = self.port

    @property
    def url(self) -> str:
        """Where the page is."""
        return f"http://127.0.0.1:{self.door}/"

    @property
    def plain_url(self) -> str:
        """A picture of the page's site: no script of the page runs there, and nothing is kept."""
        return f"{self.url}icons/icon.svg"

    def kill(self) -> None:
        """The daemon is gone from one moment to the next."""
        self.daemon.kill()

    def start(self) -> None:
        """It runs again, on the same port and store."""
        self.daemon = Daemon(self._data, self.port, *self._flags)

    def close(self) -> None:
        if self.daemon.process.poll() is None:
            self.daemon.kill()

    @asynccontextmanager
    async def link(self) -> AsyncGenerator[Link]:
        """The device's own link: what is inserted over it is what the page shows."""
        async with Link(self.daemon.url, self.token, backoff=Backoff(0.05, 0.3)) as link:
            yield link


class Phone:
    """A browser at a phone's size, with a page. `faults` are what the page or the browser complained of."""

    def __init__(self, house: House, context: BrowserContext, page: Page) -> None:
        self.house = house
        self.context = context
        self.page = page
        self.faults: list[str] = []
        self._away = False
        page.on("pageerror", lambda fault: self.faults.append(str(fault)))
        page.on("console", self._heard)

    def _heard(self, said: ConsoleMessage) -> None:
        # A browser looks for the first name where a site's picture does not tell of another. The page asks for the second
        # only where a socket failed: it is as much of a fault, or as little.
        if said.type == "error" and not said.location["url"].endswith(("/favicon.ico", "/healthz")):
            self.faults.append(said.text)

    async def pair(self) -> None:
        """Puts a pairing where the page keeps it, from an address of its site that is not the page."""
        link = f"ws://127.0.0.1:{self.house.door}/link"
        given = {"url": link, "device": self.house.device, "name": "laptop", "role": "viewer"}
        async with limited("pairing"):
            await self.page.goto(self.house.plain_url)
            await self.page.evaluate(PAIR, {**given, "token": self.house.viewer})

    async def open(self, address: str = "#/") -> Page:
        """Loads the page anew at an address."""
        if self.page.url.partition("#")[0] == self.house.url:
            # What differs behind the `#` alone would load nothing.
            await self.page.goto("about:blank")
        await self.page.goto(self.house.url + address)
        if self._away and await self.page.evaluate("navigator.onLine"):
            # Chromium 150 forgets to tell it to what is loaded later, as long as it is only a test that took the network.
            await self.find_network()
            await self.lose_network()
        return self.page

    async def lose_network(self) -> None:
        """The browser says that there is none."""
        self._away = True
        await self.context.set_offline(True)

    async def find_network(self) -> None:
        self._away = False
        await self.context.set_offline(False)

    async def show(self, address: str) -> Page:
        """Goes to another address of the page that is there already."""
        await self.page.evaluate("address => { location.hash = address }", address)
        return self.page

    def real_faults(self) -> list[str]:
        """What is no mere word of the browser on a link that a test has broken."""
        return [fault for fault in self.faults if "WebSocket connection to" not in fault]


@contextmanager
def offered(house: House) -> Generator[dict[str, str]]:
    """What `waybread pair` prints, while it waits."""
    command = [sys.executable, "-m", "waybread_daemon", "pair", "--role", "viewer", "--device", house.device, "--json"]
    with subprocess.Popen(
        command, env=environment(house.daemon.data), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield json.loads(process.stdout.readline())
        finally:
            process.terminate()


@asynccontextmanager
async def page_at(browser: Browser, **settings: Any) -> AsyncGenerator[Page]:
    """A page in a browser that keeps nothing of those before it. `settings` are those of a browser's context."""
    async with limited("opening a page"):
        context = await browser.new_context(**settings)
        page = await context.new_page()
    try:
        async with watched(page):
            yield page
    finally:
        async with limited("closing a page"):
            await context.close()


@asynccontextmanager
async def phone_at(house: House, browser: Browser, **settings: Any) -> AsyncGenerator[Phone]:
    """A phone that is not paired yet."""
    async with page_at(browser, **{**PHONE, **settings}) as page:
        yield Phone(house, page.context, page)


SOURCE = "".join(f"line_{number} = {number}\n" for number in range(1, 241)).encode()


async def tell_story(link: Link, session: str = "parser") -> Session:
    """A session with one of everything. Results: 1 read, 2 stub, 3 edit, 4 grep, 5 its stub, 6 capped, 7 recall,
    8 error, 9 read that is taken back, 10 patch. Its turn 2 is taken back; at its end it is compacted.
    """
    told = await link.open(session, "agent", title="Fix the parser", directory="/home/me/src/parser")
    path, absolute = "src/parser.py", "/home/me/src/parser/src/parser.py"
    await told.turn("1")
    await told.message("user", "Why do the tests fail?")
    await told.read(path, absolute, SOURCE, 1, 120, args={"path": path, "offset": 1, "limit": 120})
    await told.read(path, absolute, SOURCE, 40, 41, args={"path": path, "offset": 40, "limit": 41})
    await told.change([Change(path, absolute, SOURCE, SOURCE.replace(b"_7 = 7\n", b"_7 = 8\n"))], args={"path": path})
    found = "\n".join(f"src/file_{number}.py:{number}: raise ValueError" for number in range(1, 11))
    for _ in range(2):
        await told.result("grep", {"pattern": r"\braise \w+", "path": "src"}, found)
    await told.result("bash", {"command": "make lines"}, "\n".join(f"output {number}" for number in range(1, 2001)))
    await told.recall("#0006", 800, 5)
    await told.result("bash", {"command": "make test"}, "make: *** No rule to make target 'test'.", error=True)
    await told.turn("2")
    await told.read("notes.txt", "/home/me/notes.txt", b"one\ntwo\n", args={"path": "notes.txt"})
    await told.take_back(["2"])
    await told.turn("3")
    changes = [
        Change("NEW.md", "/home/me/NEW.md", None, b"# New\n"),
        Change("old.md", "/home/me/old.md", b"old\n", None),
        Change("x.py", "/home/me/x.py", b"a\nb\nc\n", b"a\nB\nc\n"),
    ]
    await told.change(changes, tool="apply_patch", args={"paths": ["NEW.md", "old.md", "x.py"]})
    await told.compact()
    await told.message("summary", "The parser was mended; #0006 has the lines.")
    return told


HOSTILE = "<script>document.title = 'taken'</script><img src=x onerror=\"document.title = 'taken'\">"


async def tell_hostile(link: Link, session: str = "hostile") -> Session:
    """A session whose texts try to be more than texts. Results: 1 markup and controls, 2 a line of a million characters."""
    told = await link.open(session, "agent", title=f"{HOSTILE} \u202elive", directory="/tmp")
    await told.turn("1")
    await told.message("user", f"{HOSTILE} \x1b[31mred\x1b[0m \u202ereversed\u202c")
    await told.result("bash", {"command": f"echo {HOSTILE}"}, f"{HOSTILE}\n\x1b[31mred\x1b[0m\n\u202ereversed\u202c\n")
    await told.result("bash", {"command": "one long line"}, "x" * 1_000_000 + "NEEDLE")
    return told


async def tell_many(link: Link, count: int, session: str = "many") -> Session:
    """A session of so many messages, `Message 1` and on, of different lengths."""
    told = await link.open(session, "agent", title="Many entries")
    await told.turn("1")
    for first in range(1, count + 1, 100):
        numbers = range(first, min(first + 100, count + 1))
        await asyncio.gather(*[told.message(*_said(number)) for number in numbers])
    return told


async def at_the_end(phone: Phone, link: Link) -> tuple[Session, Page]:
    """A session of `Message 1.` to `Message 40.`, more than is seen at once, and the page at its end."""
    told = await link.open("s", "agent", title="Live")
    for number in range(1, 41):
        await told.message("user", f"Message {number}.")
    page = await phone.open("#/s/s")
    await expect(page.get_by_text("Message 40.")).to_be_in_viewport()
    return told, page


def _said(number: int) -> tuple[Any, str]:
    role = "user" if number % 3 == 0 else "assistant"
    return role, f"Message {number}. " + "And some words that make it longer. " * (number % 7)


async def seen_ids(page: Page) -> Sequence[str]:
    """The ids of the results that are in the page, in order."""
    return await page.locator(".card.result .head a.id").all_inner_texts()
