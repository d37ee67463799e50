"""Texts that are selected and copied: they stay, and are what was sent."""

from __future__ import annotations

import pytest
from playwright.async_api import Browser, Page, expect

from tests.page.browsing import House, Phone, at_the_end, phone_at

pytestmark = pytest.mark.asyncio(loop_scope="session")

_SELECT = """([first, last]) => {
  const [from, to] = [first, last].map((selector) => [...document.querySelectorAll(selector)].at(-1));
  getSelection().setBaseAndExtent(from, 0, to, to.childNodes.length);
}"""
_CLIPBOARD = ["clipboard-read", "clipboard-write"]


async def select(page: Page, first: str, last: str) -> None:
    """Selects from the beginning of one element to the end of another."""
    await page.evaluate(_SELECT, [first, last])


async def copied(page: Page) -> str:
    return str(await page.evaluate("navigator.clipboard.readText()"))


async def test_what_is_copied_of_lines_that_end_as_on_windows_has_no_half_of_an_end(
    house: House, chromium: Browser
) -> None:
    async with phone_at(house, chromium, permissions=_CLIPBOARD) as phone, house.link() as link:
        session = await link.open("s", "agent")
        await session.result("bash", {"command": "dir"}, "one\r\ntwo\r\nthree\r\n")
        await phone.pair()
        page = await phone.open("#/s/s/r/0001")
        await expect(page.locator(".row[data-line='3'] code")).to_have_text("three␍")
        await select(page, ".row[data-line='1'] code", ".row[data-line='2'] code")
        await page.keyboard.press("Control+c")
        assert await copied(page) == "one\ntwo"
        await page.get_by_role("button", name="Copy").click()
        await page.get_by_role("button", name="Lines 1–3").click()
        await expect(page.locator(".count")).to_have_text("Copied.")
        assert await copied(page) == "one\r\ntwo\r\nthree"
        await page.get_by_role("button", name="Everything").click()
        await expect(page.locator(".count")).to_have_text("Copied 17 B.")
        assert await copied(page) == "one\r\ntwo\r\nthree\r\n"
        await phone.show("#/s/s")
        await expect(page.locator(".card.result pre")).to_be_visible()
        await select(page, ".card.result pre", ".card.result pre")
        await page.keyboard.press("Control+c")
        assert await copied(page) == "[#0001]\none\ntwo\nthree"


async def test_a_text_that_is_selected_at_the_end_stays_where_it_is_while_more_comes(phone: Phone) -> None:
    async with phone.house.link() as link:
        session, page = await at_the_end(phone, link)
        await select(page, ".message .text", ".message .text")
        top = await page.locator(".scroller").evaluate("scroller => scroller.scrollTop")
        for number in range(41, 101):
            await session.message("user", f"Message {number}.")
        await expect(page.get_by_role("button", name="60 new")).to_be_visible()
        assert await page.locator(".scroller").evaluate("scroller => scroller.scrollTop") == top
        assert await page.evaluate("getSelection().toString()") == "Message 40."
        await page.get_by_role("button", name="60 new").click()
        await expect(page.get_by_text("Message 100.")).to_be_in_viewport()


async def test_at_the_end_a_selection_that_is_given_up_lets_it_follow_again(phone: Phone) -> None:
    async with phone.house.link() as link:
        session, page = await at_the_end(phone, link)
        await select(page, ".message .text", ".message .text")
        await expect(page.locator(".to-end")).to_be_visible()
        await page.evaluate("getSelection().removeAllRanges()")
        await expect(page.locator(".to-end")).to_be_hidden()
        await session.message("user", "Message 41.")
        await expect(page.get_by_text("Message 41.")).to_be_in_viewport()
