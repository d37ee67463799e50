"""A phone that is paired with several devices, and with more tabs than a device takes links."""

from __future__ import annotations

import json

import pytest
from playwright.async_api import expect

from tests.page.browsing import PAIR, Phone
from tests.page.test_tabs import another_tab
from tests.running import waybread

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def pair_with(phone: Phone, device: str, *, called: str) -> None:
    """Pairs the phone with a further device of its daemon. `called`: what the phone calls it until it learns its name."""
    data = phone.house.daemon.data
    made = json.loads(waybread("device", "add", device, "--json", data=data).stdout)
    viewer = json.loads(
        waybread("device", "add", "phone", "--role", "viewer", "--device", made["device"], "--json", data=data).stdout
    )
    link = f"ws://127.0.0.1:{phone.house.door}/link"
    given = {"url": link, "device": made["device"], "name": called, "role": "viewer", "token": viewer["token"]}
    await phone.page.evaluate(PAIR, given)


async def test_where_one_pairing_was_taken_back_the_others_are_a_tap_away(phone: Phone) -> None:
    await pair_with(phone, "desktop", called="desktop")
    page = await phone.open()
    await expect(page.locator(".dot.live")).to_be_visible()
    waybread("device", "revoke", phone.house.device, data=phone.house.daemon.data)
    await expect(page.get_by_role("heading", level=1)).to_have_text("Not paired any more")
    await expect(page.locator(".tabs a")).to_have_text(["laptop", "desktop"])
    await expect(page.locator(".tabs [aria-current]")).to_have_text("laptop")
    await page.locator(".tabs a", has_text="desktop").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("desktop")
    await expect(page.locator(".dot.live")).to_be_visible()


async def test_what_a_device_is_called_is_learned_by_every_tab(phone: Phone) -> None:
    async with another_tab(phone) as other:
        await pair_with(phone, "desktop", called="127.0.0.1")
        await other.open()
        await expect(other.page.locator(".tabs a")).to_have_text(["laptop", "127.0.0.1"])
        page = await phone.open()
        await page.locator(".tabs a", has_text="127.0.0.1").click()
        await expect(page.get_by_role("heading", level=1)).to_have_text("desktop")
        await expect(other.page.locator(".tabs a")).to_have_text(["laptop", "desktop"])


async def test_a_tab_that_gets_no_link_says_the_reason_that_the_daemon_gives(phone: Phone) -> None:
    house = phone.house
    house.daemon.stop()
    (house.daemon.data / "waybread.toml").write_text("max_device_connections = 1\n")
    house.start()
    page = await phone.open()
    await expect(page.locator(".dot.live")).to_be_visible()
    async with another_tab(phone) as other:
        await other.open()
        banner = other.page.locator(".banner")
        await expect(banner).to_contain_text("The daemon says: this device has 1 links already, which is the most")
        await page.goto("about:blank")
        await expect(other.page.locator(".dot.live")).to_be_visible()
        await expect(banner).to_have_count(0)
