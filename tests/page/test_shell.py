"""The service worker in Chromium: the page opens without a network, takes a new version without fuss, and keeps nothing else.

The page here is the real one with a small `main.js` in the place of its own, so that a test can make other versions of it.
"""

from __future__ import annotations

import asyncio
import shutil
import threading
import time
from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser
from playwright.async_api import Page as Tab
from websockets.asyncio.server import ServerConnection, serve
from websockets.http11 import Request, Response

from tests.page.browsing import page_at
from waybread_daemon.page.answers import VERSION_HEADER, Page
from waybread_daemon.page.files import STATIC, shell

pytestmark = pytest.mark.asyncio(loop_scope="session")

MAIN = """
import { forgetShell, keepShell } from './core/surroundings.js';
window.version = '%s';
window.news = 0;
window.forget = forgetShell;
try {
  window.evaluated = eval('"yes"');
} catch (fault) {
  window.evaluated = fault.name;
}
await keepShell(() => { window.news += 1; });
"""


class Site:
    """A page that is served, from files of the test. `mixed`: a path that answers as if it were of another version."""

    def __init__(self, folder: Path) -> None:
        self.static = folder / "static"
        shutil.copytree(STATIC, self.static, ignore=shutil.ignore_patterns("view"))
        (self.static / "app.css").write_text("body { margin: 0 }\n")
        self.mixed = ""
        self.asked: list[str] = []
        self.publish("one")
        self._loop = asyncio.new_event_loop()
        self._stopping = asyncio.Event()
        self._started = threading.Event()
        self._thread = threading.Thread(target=lambda: self._loop.run_until_complete(self._serve()))
        self._thread.start()
        assert self._started.wait(10)

    def publish(self, version: str) -> None:
        """Puts another version of the page in place."""
        (self.static / "js/main.js").write_text(MAIN % version)
        self.shell = shell.__wrapped__(self.static)
        self._page = Page((), self.shell)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def close(self) -> None:
        if self._loop.is_closed():
            return
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join(10)
        self._loop.close()

    async def _serve(self) -> None:
        async with serve(_hang_up, "127.0.0.1", 0, process_request=self._answer) as server:
            self.port: int = next(iter(server.sockets)).getsockname()[1]
            self._started.set()
            await self._stopping.wait()

    def _answer(self, connection: ServerConnection, request: Request) -> Response:
        path = request.path.partition("?")[0]
        self.asked.append(path)
        answer = self._page.answer(path, request.headers["Host"], request.headers)
        if answer is None:
            return connection.respond(404, "nothing\n")
        if path == self.mixed:
            del answer.headers[VERSION_HEADER]
            answer.headers[VERSION_HEADER] = "another"
        return answer


async def _hang_up(socket: ServerConnection) -> None:
    await socket.close()


@pytest.fixture
def site(tmp_path: Path) -> Generator[Site]:
    site = Site(tmp_path)
    yield site
    site.close()


@pytest_asyncio.fixture(loop_scope="session")
async def tab(site: Site, chromium: Browser) -> AsyncGenerator[Tab]:
    """A tab that has loaded the page once, with its worker in control."""
    async with page_at(chromium) as page:
        await page.goto(site.url)
        await until(page, "navigator.serviceWorker.controller?.state === 'activated'")
        yield page


async def until(page: Tab, expression: str) -> None:
    """Waits until that is so. Playwright's own way makes code of a text, which the page forbids."""
    end = time.monotonic() + 10
    while not await page.evaluate(expression):
        assert time.monotonic() < end, expression
        await page.wait_for_timeout(20)


async def caches(page: Tab) -> dict[str, list[str]]:
    """What is in the caches: paths by the name of the cache."""
    found: dict[str, list[str]] = await page.evaluate(
        """async () => Object.fromEntries(await Promise.all((await caches.keys()).map(async (name) => [
            name, (await (await caches.open(name)).keys()).map((request) => new URL(request.url).pathname).sort()])))"""
    )
    return found


async def test_it_keeps_the_page_and_nothing_else(site: Site, tab: Tab) -> None:
    await tab.evaluate("fetch('/healthz')")
    await tab.evaluate("fetch('/?secret=1')")
    assert await caches(tab) == {f"waybread-shell-{site.shell.version}": sorted(set(site.shell.files) - {"/sw.js"})}


async def test_without_a_network_the_page_opens(site: Site, tab: Tab) -> None:
    site.close()
    await tab.reload()
    assert await tab.evaluate("window.version") == "one"
    await tab.goto(f"{site.url}#/s/x/r/0012")
    assert await tab.evaluate("getComputedStyle(document.body).margin") == "0px"


async def test_the_first_worker_is_no_news(tab: Tab) -> None:
    assert await tab.evaluate("window.news") == 0


async def test_a_new_version_is_told_once_and_shows_when_the_page_is_loaded_again(site: Site, tab: Tab) -> None:
    loads: list[str] = []
    tab.on("framenavigated", lambda frame: loads.append(frame.url))
    old = site.shell.version
    site.publish("two")
    await tab.reload()
    assert await tab.evaluate("window.version") == "one"
    await until(tab, "window.news === 1")
    await until(tab, "caches.keys().then((names) => names.length === 1)")
    assert list(await caches(tab)) == [f"waybread-shell-{site.shell.version}"] != [f"waybread-shell-{old}"]
    await tab.wait_for_timeout(500)
    assert await tab.evaluate("[window.version, window.news]") == ["one", 1]
    await tab.reload()
    assert await tab.evaluate("[window.version, window.news]") == ["two", 0]
    assert loads == [site.url, site.url]


async def test_a_version_that_is_not_whole_does_not_take_over(site: Site, tab: Tab) -> None:
    site.publish("two")
    site.mixed = "/js/core/home.js"
    before = len(site.asked)
    await tab.reload()
    while "/js/core/home.js" not in site.asked[before:]:
        await tab.wait_for_timeout(20)
    await until(tab, "navigator.serviceWorker.getRegistration().then((one) => one.installing === null)")
    await tab.reload()
    assert await tab.evaluate("[window.version, window.news]") == ["one", 0]
    site.mixed = ""
    await tab.reload()
    await until(tab, "window.news === 1")
    await tab.reload()
    assert await tab.evaluate("window.version") == "two"


async def test_an_unchanged_page_asks_for_nothing_but_the_worker(site: Site, tab: Tab) -> None:
    site.asked.clear()
    await tab.reload()
    await tab.wait_for_timeout(500)
    assert set(site.asked) <= {"/sw.js"}


async def test_it_can_be_taken_away_wholly(site: Site, tab: Tab) -> None:
    await tab.evaluate("window.forget()")
    assert await caches(tab) == {}
    assert await tab.evaluate("navigator.serviceWorker.getRegistrations().then((all) => all.length)") == 0
    site.publish("two")
    await tab.reload()
    assert await tab.evaluate("window.version") == "two"


async def test_the_page_makes_no_code_of_text(tab: Tab) -> None:
    assert await tab.evaluate("window.evaluated") == "EvalError"


FORBIDDEN = [
    "document.body.innerHTML = '<b>x</b>'",
    "document.createElement('script').src = 'data:,x'",
    "trustedTypes.createPolicy('other', {})",
    "trustedTypes.createPolicy('waybread-worker', {})",
    "navigator.serviceWorker.register('/other.js')",
    "fetch('http://127.0.0.1:9/')",
    "new Promise((resolve, reject) => { new WebSocket('ws://127.0.0.1:9/link').onerror = reject })",
]


async def test_the_page_cannot_do_what_it_forbids_itself(tab: Tab) -> None:
    for attempt in FORBIDDEN:
        blocked: list[str] = await tab.evaluate(
            f"""async () => {{
                const violations = [];
                const tell = (event) => violations.push(event.effectiveDirective);
                document.addEventListener('securitypolicyviolation', tell);
                try {{ await ({attempt}); return ['done']; }} catch {{ }}
                await new Promise((told) => setTimeout(told, 50));
                document.removeEventListener('securitypolicyviolation', tell);
                return violations;
            }}"""
        )
        assert blocked, attempt
        assert set(blocked) <= {"require-trusted-types-for", "trusted-types", "script-src", "connect-src"}, attempt
