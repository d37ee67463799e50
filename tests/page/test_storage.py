"""Browsers that keep nothing, or forbid even to look: the page runs from memory, says so, and is never blank."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, async_playwright, expect

from tests.page.browsers import FLAGS, chromium_path
from tests.page.browsing import PHONE, House, Phone, offered, phone_at

_KEEPS_NOTHING = "This browser keeps nothing for this page: pair again each time it is loaded."
_REFUSES = "throw new DOMException('The operation is insecure.', 'SecurityError');"
_BLOCKED = {
    "looking at it throws": f"Object.defineProperty(window, 'indexedDB', {{ get() {{ {_REFUSES} }} }});",
    "there is none": "Object.defineProperty(window, 'indexedDB', { value: undefined });",
    "opening throws": f"IDBFactory.prototype.open = () => {{ {_REFUSES} }};",
    "opening fails": """IDBFactory.prototype.open = () => {
        const request = { error: new DOMException('no', 'UnknownError') };
        setTimeout(() => request.onerror?.({ target: request }), 20);
        return request;
    };""",
    "opening is never answered": "IDBFactory.prototype.open = () => ({});",
    "reading throws": f"IDBDatabase.prototype.transaction = () => {{ {_REFUSES} }};",
    "everything throws": "".join(
        f"Object.defineProperty({owner}, '{name}', {{ get() {{ {_REFUSES} }} }});"
        for owner, name in (
            *(
                (("window"), name)
                for name in ("indexedDB", "localStorage", "sessionStorage", "caches", "BroadcastChannel")
            ),
            ("Navigator.prototype", "serviceWorker"),
        )
    ),
}
pytestmark = pytest.mark.asyncio(loop_scope="session")


async def pairs_and_reads(phone: Phone) -> Page:
    """Everything that a person does with the page, in a browser that keeps nothing of it."""
    page = phone.page
    async with phone.house.link() as link:
        session = await link.open("s", "agent", title="Mend the roof")
        await session.message("user", "Where does it leak?")
        await session.result("bash", {"command": "seq 900"}, "\n".join(f"output {number}" for number in range(1, 901)))
        await phone.open()
        await expect(page.locator("main")).to_contain_text(_KEEPS_NOTHING)
        with offered(phone.house) as offer:
            await page.get_by_label("Link or code").fill(offer["code"])
            await page.get_by_role("button", name="Pair").click()
            await expect(page.locator(".session .title")).to_have_text("Mend the roof")
        await page.get_by_text("Mend the roof").click()
        await expect(page.get_by_text("Where does it leak?")).to_be_visible()
        await page.locator("a.id", has_text="#0001").first.click()
        await expect(page.locator(".row[data-line='1']")).to_contain_text("output 1")
        await page.get_by_role("link", name="Back").click()
        await session.message("user", "Above the door.")
        await expect(page.get_by_text("Above the door.")).to_be_visible()
        await phone.show("#/settings")
        await expect(page.locator("main")).to_contain_text(_KEEPS_NOTHING)
        await page.get_by_label("Wrap long lines").check()
    return page


@pytest.mark.parametrize("way", _BLOCKED)
async def test_a_browser_without_a_database_is_paired_until_it_is_loaded_again(stranger: Phone, way: str) -> None:
    await stranger.page.add_init_script(_BLOCKED[way])
    page = await pairs_and_reads(stranger)
    await page.reload()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Pair this phone")
    await expect(page.locator("main")).to_contain_text(_KEEPS_NOTHING)


@pytest.mark.parametrize("way", _BLOCKED)
async def test_a_browser_without_a_database_signs_out_and_forgets(stranger: Phone, way: str) -> None:
    await stranger.page.add_init_script(_BLOCKED[way])
    page = await pairs_and_reads(stranger)
    await page.get_by_role("button", name="Sign out of laptop").click()
    await page.get_by_role("dialog").get_by_role("button", name="Sign out").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Pair this phone")
    with offered(stranger.house) as offer:
        await page.get_by_label("Link or code").fill(offer["code"])
        await page.get_by_role("button", name="Pair").click()
        await expect(page.locator(".session .title")).to_have_text("Mend the roof")
    await stranger.show("#/settings")
    await page.get_by_role("button", name="Forget everything").click()
    await page.get_by_role("dialog").get_by_role("button", name="Forget").click()
    await expect(page.locator("main")).to_contain_text("Everything that this browser kept for this page was deleted.")


@pytest_asyncio.fixture(loop_scope="session")
async def strict(house: House, tmp_path: Path) -> AsyncGenerator[Phone]:
    """Chromium as a person sets it who lets no site keep anything."""
    settings = tmp_path / "profile/Default/Preferences"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps({"profile": {"default_content_setting_values": {"cookies": 2}}}))
    path = chromium_path()
    async with async_playwright() as playwright:
        context = await playwright.chromium.launch_persistent_context(
            tmp_path / "profile", executable_path=path, args=FLAGS, **PHONE
        )
        phone = Phone(house, context, context.pages[0])
        yield phone
        await context.close()
        assert phone.real_faults() == []


async def test_chromium_set_to_let_no_site_keep_anything_is_paired_until_it_is_loaded_again(strict: Phone) -> None:
    page = await pairs_and_reads(strict)
    assert await page.evaluate(
        "try_ => { try { return localStorage.length } catch (fault) { return fault.name } }"
    ) == ("SecurityError")


async def test_a_browser_that_keeps_things_says_nothing_of_it(phone: Phone) -> None:
    page = await phone.open("#/settings")
    await expect(page.get_by_role("button", name="Forget everything")).to_be_visible()
    await expect(page.get_by_text(_KEEPS_NOTHING)).to_have_count(0)
    await phone.show("#/pair")
    await expect(page.get_by_label("Link or code")).to_be_visible()
    await expect(page.get_by_text(_KEEPS_NOTHING)).to_have_count(0)


async def test_a_fault_at_the_start_is_told_in_a_sentence(house: House, chromium: Browser) -> None:
    async with phone_at(house, chromium) as phone:
        await phone.page.add_init_script(
            "Object.defineProperty(History.prototype, 'state', { get() { throw new Error('there is no history'); } });"
        )
        page = await phone.open()
        await expect(page.get_by_role("alert")).to_have_text(
            "This page could not start (Error: there is no history). Load it again, or use another browser."
        )
