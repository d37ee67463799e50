"""Several tabs of one browser: what is paired and forgotten in one holds in all of them, whether they were awake or not."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any
from unittest.mock import ANY

import pytest
from playwright.async_api import Page, WebSocket, expect

from tests.page.browsing import PAIR, Phone, offered
from tests.running import waybread
from waybread_client import Link

_MOST_S = 10
_FORGOTTEN = "Everything that this browser kept for this page was deleted."
_KEPT = """async () => ({
  databases: (await indexedDB.databases()).map((one) => one.name),
  caches: await caches.keys(),
  workers: (await navigator.serviceWorker.getRegistrations()).length,
  local: Object.keys(localStorage),
  session: Object.keys(sessionStorage),
})"""
_NOTHING: dict[str, object] = {"databases": [], "caches": [], "workers": 0, "local": [], "session": []}
_DEAF = (
    "Object.defineProperty(window, 'BroadcastChannel', { get() { throw new DOMException('no', 'SecurityError'); } });"
)
"""A tab that hears nothing of the others."""
pytestmark = pytest.mark.asyncio(loop_scope="session")


@asynccontextmanager
async def another_tab(phone: Phone, script: str = "") -> AsyncGenerator[Phone]:
    """A second tab of the same browser. `script` runs in it before the page's own."""
    tab = Phone(phone.house, phone.context, await phone.context.new_page())
    if script != "":
        await tab.page.add_init_script(script)
    yield tab
    assert tab.real_faults() == []


async def sign_out(page: Page, name: str = "laptop") -> None:
    await page.get_by_role("button", name=f"Sign out of {name}").first.click()
    await page.get_by_role("dialog").get_by_role("button", name="Sign out").click()


async def forget(page: Page) -> None:
    await page.get_by_role("button", name="Forget everything").click()
    await page.get_by_role("dialog").get_by_role("button", name="Forget").click()


async def is_unpaired(page: Page) -> None:
    await expect(page.get_by_role("heading", level=1)).to_have_text("Pair this phone")


async def wake(page: Page) -> None:
    await page.evaluate("window.dispatchEvent(new Event('focus'))")


async def comes_to_keep(page: Page, expected: object) -> None:
    """What the browser keeps is this, at the latest after a while."""
    end = time.monotonic() + _MOST_S
    while (kept := await page.evaluate(_KEPT)) != expected:
        assert time.monotonic() < end, kept
        await asyncio.sleep(0.02)


async def freeze(tab: Phone, state: str) -> None:
    """What a browser does with tabs that nobody looks at, and undoes when somebody does."""
    session: Any = await tab.context.new_cdp_session(tab.page)
    await session.send("Page.setWebLifecycleState", {"state": state})
    await session.detach()


async def test_signing_out_ends_the_link_and_takes_away_the_texts_in_every_tab(phone: Phone) -> None:
    async with phone.house.link() as link, another_tab(phone) as other:
        await (await link.open("s", "agent", title="Mend the roof")).message("user", "Where does it leak?")
        opened: list[WebSocket] = []

        def note(socket: WebSocket) -> None:
            opened.append(socket)

        other.page.on("websocket", note)
        await phone.open("#/settings")
        await other.open("#/s/s")
        await expect(other.page.get_by_text("Where does it leak?")).to_be_visible()
        await expect(other.page.locator(".dot.live")).to_be_visible()
        await sign_out(phone.page)
        await is_unpaired(other.page)
        await expect(other.page.get_by_text("Where does it leak?")).to_have_count(0)
        assert [socket.is_closed() for socket in opened] == [True]
        await is_unpaired(phone.page)


async def test_signing_out_of_one_of_several_leaves_the_others_in_every_tab(phone: Phone) -> None:
    async with phone.house.link() as link, another_tab(phone) as other:
        await link.open("s", "agent", title="Mend the roof")
        again = {"url": f"ws://127.0.0.1:{phone.house.door}/link?again", "device": phone.house.device, "role": "viewer"}
        await phone.page.evaluate(PAIR, {**again, "name": "laptop", "token": phone.house.viewer})
        await phone.open("#/settings")
        await other.open()
        await expect(other.page.locator(".tabs a")).to_have_count(2)
        await expect(other.page.locator(".session .title")).to_have_text("Mend the roof")
        await sign_out(phone.page)
        await expect(other.page.locator(".tabs")).to_have_count(0)
        await expect(other.page.locator(".session .title")).to_have_text("Mend the roof")
        await expect(other.page.locator(".dot.live")).to_be_visible()
        await expect(phone.page.get_by_role("button", name="Sign out of laptop")).to_have_count(1)


async def test_a_phone_that_is_paired_in_one_tab_is_paired_in_all(stranger: Phone) -> None:
    async with stranger.house.link() as link, another_tab(stranger) as other:
        await link.open("s", "agent", title="Mend the roof")
        await other.open()
        await is_unpaired(other.page)
        with offered(stranger.house) as offer:
            await stranger.page.goto(offer["page"])
            await stranger.page.get_by_role("button", name="Pair").click()
            await expect(stranger.page.locator(".session .title")).to_have_text("Mend the roof")
        await expect(other.page.locator(".session .title")).to_have_text("Mend the roof")


async def test_forgetting_everything_reaches_every_tab_and_none_keeps_anything_until_it_is_paired_again(
    phone: Phone,
) -> None:
    async with phone.house.link() as link, another_tab(phone) as other:
        session = await link.open("s", "agent", title="Mend the roof")
        await session.message("user", "Where does it leak?")
        for tab, address in ((phone, "#/"), (other, "#/s/s")):
            await tab.open(address)
            await tab.page.evaluate("navigator.serviceWorker.ready.then(() => true)")
            await tab.open(address)
            await expect(tab.page.locator(".dot.live")).to_be_visible()
        await phone.page.get_by_role("link", name="Settings").click()
        await phone.page.get_by_label("Wrap long lines").check()
        await forget(phone.page)
        for tab in (phone, other):
            await is_unpaired(tab.page)
            await expect(tab.page.locator("main")).to_contain_text(_FORGOTTEN)
            assert await tab.page.evaluate("location.hash") == "#/"
        await expect(other.page.get_by_text("Where does it leak?")).to_have_count(0)
        await comes_to_keep(other.page, _NOTHING)
        # Whatever happens in them now.
        await session.message("user", "Above the door.")
        for tab in (phone, other):
            await wake(tab.page)
            await tab.page.evaluate("fetch('/app.css', { cache: 'reload' }).then((answer) => answer.text())")
            await tab.page.evaluate("window.dispatchEvent(new PageTransitionEvent('pagehide'))")
            await tab.page.wait_for_timeout(500)
            assert await tab.page.evaluate(_KEPT) == _NOTHING
        with offered(phone.house) as offer:
            await phone.page.get_by_label("Link or code").fill(offer["code"])
            await phone.page.get_by_role("button", name="Pair").click()
            for tab in (phone, other):
                await expect(tab.page.locator(".session .title")).to_have_text("Mend the roof")
                await expect(tab.page.get_by_text(_FORGOTTEN)).to_have_count(0)
        kept = {**_NOTHING, "databases": ["waybread"], "workers": 1}
        await comes_to_keep(phone.page, {**kept, "caches": [await shell_name(phone)]})
        assert await phone.page.evaluate(
            "async () => (await (await caches.open((await caches.keys())[0])).keys()).length > 10"
        )


async def shell_name(phone: Phone) -> str:
    """What the cache of this version of the page is called."""
    version = await phone.page.evaluate("fetch('/').then((answer) => answer.headers.get('Waybread-Shell'))")
    return f"waybread-shell-{version}"


@pytest.mark.parametrize("end", [sign_out, forget])
async def test_a_tab_that_slept_meanwhile_finds_out_when_it_wakes(
    phone: Phone, end: Callable[[Page], Awaitable[None]]
) -> None:
    async with phone.house.link() as link, another_tab(phone) as other:
        await (await link.open("s", "agent", title="Mend the roof")).message("user", "Where does it leak?")
        await phone.open("#/settings")
        await other.open("#/s/s")
        await expect(other.page.get_by_text("Where does it leak?")).to_be_visible()
        await phone.page.bring_to_front()
        await freeze(other, "frozen")
        await end(phone.page)
        await is_unpaired(phone.page)
        await freeze(other, "active")
        await is_unpaired(other.page)
        await expect(other.page.get_by_text("Where does it leak?")).to_have_count(0)
        counts = {"pairings": 0, "sessions": 0, "entries": 0, "windows": 0}
        if end is sign_out:
            assert await phone.page.evaluate(_COUNTS) == counts
        else:
            await comes_to_keep(phone.page, _NOTHING)


_COUNTS = """async () => {
  const { openDatabase } = await import('/js/core/database.js');
  const database = await openDatabase();
  const counts = {};
  for (const store of ['pairings', 'sessions', 'entries', 'windows']) counts[store] = (await database.all(store)).length;
  database.close();
  return counts;
}"""


async def test_a_tab_that_was_told_nothing_compares_what_is_kept_when_it_wakes(phone: Phone) -> None:
    async with phone.house.link() as link, another_tab(phone, _DEAF) as other:
        await (await link.open("s", "agent", title="Mend the roof")).message("user", "Where does it leak?")
        await phone.open("#/settings")
        await other.open("#/s/s")
        await expect(other.page.get_by_text("Where does it leak?")).to_be_visible()
        await sign_out(phone.page)
        await is_unpaired(phone.page)
        # What the other tab has in its hands is not put back where it was.
        await link.open("later", "agent", title="Later")
        await expect(other.page.get_by_text("Where does it leak?")).to_be_visible()
        await other.page.wait_for_timeout(800)
        assert set((await phone.page.evaluate(_COUNTS)).values()) == {0}
        await wake(other.page)
        await is_unpaired(other.page)


async def test_a_tab_that_was_told_nothing_still_learns_that_everything_was_forgotten(phone: Phone) -> None:
    async with another_tab(phone, _DEAF) as other:
        await phone.open("#/settings")
        await other.open()
        await expect(other.page.locator(".dot.live")).to_be_visible()
        await forget(phone.page)
        await expect(other.page.locator("main")).to_contain_text(_FORGOTTEN)
        await comes_to_keep(other.page, _NOTHING)


async def test_an_address_does_not_come_to_mean_another_device_when_the_first_is_signed_out_of_elsewhere(
    phone: Phone,
) -> None:
    added = await asyncio.to_thread(waybread, "device", "add", "laptop", "--json", data=phone.house.daemon.data)
    second = json.loads(added.stdout)
    for token, name in ((phone.house.token, "first"), (second["token"], "second")):
        async with Link(phone.house.daemon.url, token) as link:
            session = await link.open("work", "agent", title="Work")
            await session.result("bash", {"command": "make"}, f"output of the {name}")
    async with another_tab(phone) as other:
        given = {"url": f"ws://127.0.0.1:{phone.house.door}/link", "name": "laptop", "role": "device"}
        await phone.page.evaluate(PAIR, {**given, "device": second["device"], "token": second["token"]})
        await phone.open("#/settings")
        called = [f"laptop ({device})" for device in (phone.house.device, second["device"])]
        await expect(phone.page.locator(".file .path")).to_have_text(called)
        await other.open("#/s/work/r/0001")
        await expect(other.page.get_by_text("output of the first")).to_be_visible()
        await sign_out(phone.page, called[0])
        await expect(other.page.get_by_role("heading", level=1)).to_have_text("Not paired")
        await expect(other.page.get_by_text("output of")).to_have_count(0)
        # The one that is left needs nothing to tell it from others.
        await expect(phone.page.locator(".file .path")).to_have_text("laptop")
        await other.page.get_by_role("link", name="Back").click()
        await expect(other.page.get_by_role("heading", level=1)).to_have_text("laptop")
        await other.page.locator(".session").click()
        await other.page.get_by_role("link", name="#0001").first.click()
        await expect(other.page.get_by_text("output of the second")).to_be_visible()


async def test_a_tab_that_is_frozen_for_the_second_time_does_not_hold_up_what_is_forgotten(phone: Phone) -> None:
    async with another_tab(phone) as other:
        for tab in (phone, other):
            await tab.open("#/settings")
            await tab.page.evaluate("navigator.serviceWorker.ready.then(() => true)")
        for state in ("frozen", "active", "frozen"):
            await freeze(other, state)
        await phone.page.bring_to_front()
        await forget(phone.page)
        await is_unpaired(phone.page)
        await comes_to_keep(phone.page, {**_NOTHING, "databases": ANY})
        await freeze(other, "active")
        await is_unpaired(other.page)
        await comes_to_keep(phone.page, _NOTHING)


async def test_what_a_person_deletes_in_the_browsers_own_settings_is_told_and_is_no_newer_page(phone: Phone) -> None:
    await phone.open()
    await phone.page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    await phone.open()
    await expect(phone.page.locator(".dot.live")).to_be_visible()
    session: Any = await phone.context.new_cdp_session(phone.page)
    origin = phone.house.url.rstrip("/")
    await session.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "all"})
    await is_unpaired(phone.page)
    await expect(phone.page.locator("main")).to_contain_text(_FORGOTTEN)
    await expect(phone.page.get_by_text("A newer version")).to_have_count(0)
