"""What the page asks, and whom: nobody but its own daemon, and those that a daemon's settings name."""

from __future__ import annotations

import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Browser, expect

from tests.page.browsing import House, Phone, offered, phone_at
from tests.page.limits import limited

pytestmark = pytest.mark.asyncio(loop_scope="session")

VIEWS = ("#/", "#/s/parser", "#/s/parser/r/0006", "#/s/hostile", "#/s/parser/files", "#/settings", "#/pair")


def policy_of(house: House) -> dict[str, set[str]]:
    """The directives of the page's Content-Security-Policy."""
    with urllib.request.urlopen(house.url) as answer:
        text: str = answer.headers["Content-Security-Policy"]
    directives = [directive.split() for directive in text.split(";")]
    return {name: set(values) for name, *values in directives}


async def test_the_policy_lets_nothing_in_and_nothing_out(library: House) -> None:
    host = f"127.0.0.1:{library.port}"
    own = {"'self'"}
    assert policy_of(library) == {
        "default-src": {"'none'"},
        "script-src": own,
        "style-src": own,
        "img-src": own,
        "font-src": own,
        "manifest-src": own,
        "worker-src": own,
        "connect-src": {"'self'", f"ws://{host}", f"wss://{host}"},
        "base-uri": {"'none'"},
        "form-action": {"'none'"},
        "frame-ancestors": {"'none'"},
        "require-trusted-types-for": {"'script'"},
        "trusted-types": {"waybread-worker"},
    }


async def test_no_address_outside_the_daemon_is_ever_asked(reader: Phone) -> None:
    asked: list[str] = []
    reader.context.on("request", lambda request: asked.append(request.url))
    reader.page.on("websocket", lambda socket: asked.append(socket.url))
    for address in VIEWS:
        await reader.open(address)
        await reader.page.wait_for_timeout(200)
    assert {urlsplit(url).netloc for url in asked} == {f"127.0.0.1:{reader.house.port}"}
    assert {url.partition("#")[0] for url in asked if url.startswith("ws")} == {
        f"ws://127.0.0.1:{reader.house.port}/link"
    }


async def test_the_whole_address_bar_of_a_session_stays_in_the_browser(reader: Phone) -> None:
    asked: list[str] = []
    reader.context.on("request", lambda request: asked.append(urlsplit(request.url).path + urlsplit(request.url).query))
    await reader.open("#/s/parser/r/0006?line=7")
    await expect(reader.page.locator(".row[data-line='7']")).to_be_visible()
    assert [path for path in asked if "parser" in path or "line" in path] == []


async def test_several_daemons_and_devices_stand_beside_each_other(tmp_path: Path, chromium: Browser) -> None:
    near, other = House(tmp_path / "near"), House(tmp_path / "other")
    # Each has to know the other's address, which they have only now.
    (tmp_path / "near/waybread.toml").write_text(f'page_daemons = ["ws://127.0.0.1:{other.port}"]\n')
    (tmp_path / "other/waybread.toml").write_text(f'allowed_origins = ["http://127.0.0.1:{near.port}"]\n')
    for house in (near, other):
        house.kill()
        house.start()
    try:
        async with near.link() as link:
            await link.open("one", "agent", title="Of the near one")
        async with other.link() as link:
            await link.open("two", "agent", title="Of the other one")
        async with phone_at(near, chromium) as phone:
            with offered(near) as offer:
                page = phone.page
                await page.goto(offer["page"])
                await page.get_by_role("button", name="Pair").click()
                await expect(page.locator(".session .title")).to_have_text("Of the near one")
            with offered(other) as offer:
                await phone.open("#/pair")
                await page.get_by_label("Link or code").fill(offer["page"])
                await page.get_by_role("button", name="Pair").click()
                await expect(page.locator(".session .title")).to_have_text("Of the other one")
            tabs = page.get_by_role("navigation", name="Devices").get_by_role("link")
            await expect(tabs).to_have_count(2)
            await tabs.first.click()
            await expect(page.locator(".session .title")).to_have_text("Of the near one")
            other.kill()
            await expect(page.locator(".dot.live")).to_be_visible()
            await tabs.last.click()
            await expect(page.locator(".banner")).to_contain_text("Reconnecting since")
            await expect(page.locator(".session .title")).to_have_text("Of the other one")
            other.start()
            await expect(page.locator(".dot.live")).to_be_visible()
            assert phone.real_faults() == []
    finally:
        near.close()
        other.close()


async def test_a_daemon_that_no_setting_names_is_not_linked_to_and_the_page_says_why(
    house: House, library: House, chromium: Browser
) -> None:
    async with phone_at(house, chromium) as phone:
        with offered(library) as offer:
            page = await phone.open("#/pair")
            await page.get_by_label("Link or code").fill(offer["page"])
            await page.get_by_role("button", name="Pair").click()
            await expect(page.get_by_role("alert")).to_contain_text("page_daemons")
            # It is not tried: the browser has nothing to complain of.
            assert phone.faults == []
            await page.get_by_role("link", name=f"Open 127.0.0.1:{library.port}").click()
            await expect(page.locator(".offer")).to_have_text(f"Code {offer['code']}")
            await page.get_by_role("button", name="Pair").click()
            await expect(page.get_by_role("heading", level=1)).to_have_text("laptop")
            assert page.url.startswith(library.url)
            assert phone.faults == []


async def test_a_page_that_the_browser_has_kept_hears_of_a_daemon_that_is_named_later(
    house: House, library: House, chromium: Browser
) -> None:
    named = f"ws://127.0.0.1:{library.port}"
    names = "async (named) => (await fetch('/')).headers.get('Content-Security-Policy').includes(named)"
    # Not by asking for the page: a worker that is busy with that does not let the next one take over.
    renewed = """async (before) => {
      for (;;) {
        const now = await caches.keys();
        if (now.length === 1 && now[0] !== before[0]) return;
        await new Promise((done) => setTimeout(done, 50));
      }
    }"""
    async with phone_at(house, chromium) as phone:
        page = await phone.open("#/pair")
        await page.evaluate("navigator.serviceWorker.ready.then(() => true)")
        assert await page.evaluate(names, named) is False
        before = await page.evaluate("caches.keys()")
        house.kill()
        (house.daemon.data / "waybread.toml").write_text(f'page_daemons = ["{named}"]\n')
        house.start()
        await phone.open("#/pair")
        async with limited("the next worker"):
            await page.evaluate(renewed, before)
        assert await page.evaluate(names, named) is True


async def test_a_browser_would_put_the_page_on_the_home_screen(reader: Phone) -> None:
    page = await reader.open()
    await page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    session: Any = await reader.context.new_cdp_session(page)
    manifest = await session.send("Page.getAppManifest")
    assert manifest["errors"] == []
    assert manifest["url"] == f"{reader.house.url}manifest.webmanifest"
    errors = (await session.send("Page.getInstallabilityErrors"))["installabilityErrors"]
    # A context of a test is like a private window, from which nothing is installed.
    assert [one["errorId"] for one in errors if one["errorId"] != "in-incognito"] == []
