"""What one does with the lines of a result: find, go to a line, copy. Each act is seen or said, and needs no pointer."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from tests.page.browsing import House, Phone, phone_at

pytestmark = pytest.mark.asyncio(loop_scope="session")

RESULT = "#/s/parser/r/0006"
"""2,000 lines, `output 1` and on."""


@pytest_asyncio.fixture(loop_scope="session")
async def page(reader: Phone) -> AsyncGenerator[Page]:
    page = await reader.open(RESULT)
    await expect(page.locator(".row[data-line='1']")).to_contain_text("output 1")
    yield page


async def opened(page: Page, name: str) -> Page:
    """The bar of that name is open, by keyboard."""
    await page.get_by_role("toolbar").get_by_role("button", name=name, exact=True).press("Enter")
    await expect(page.locator(".panel")).to_be_visible()
    if name != "Copy":
        await expect(page.locator(".panel input")).to_be_focused()
    return page


async def find(page: Page, text: str, key: str = "Enter") -> None:
    await page.get_by_role("searchbox").fill(text)
    await page.get_by_role("searchbox").press(key)


async def test_finding_begins_where_one_is_and_goes_round(reader: Phone) -> None:
    page = await reader.open(f"{RESULT}?line=1500")
    await expect(page.locator(".row[data-line='1500']")).to_be_in_viewport()
    await opened(page, "Find")
    await find(page, "output 19")
    await expect(page.locator(".row[data-line='1900'] mark.current")).to_be_in_viewport()
    await expect(page.locator(".count")).to_have_text("1 of 111")
    await page.keyboard.press("Shift+Enter")
    await expect(page.locator(".row[data-line='199'] mark.current")).to_be_in_viewport()
    await expect(page.locator(".count")).to_have_text("111 of 111")
    await page.keyboard.press("Enter")
    await expect(page.locator(".row[data-line='1900'] mark.current")).to_be_in_viewport()


async def test_the_only_place_is_led_to_again_after_one_went_away(page: Page) -> None:
    await opened(page, "Find")
    await find(page, "output 1234")
    place = page.locator(".row[data-line='1234'] mark.current")
    await expect(place).to_be_in_viewport()
    await page.locator(".rows").press("Home")
    await expect(page.locator(".row[data-line='1']")).to_be_in_viewport()
    await expect(place).to_have_count(0)
    await page.get_by_role("button", name="The next place").press("Enter")
    await expect(place).to_be_in_viewport()
    await expect(page.locator(".count")).to_have_text("1 of 1")


async def test_every_search_says_how_it_ended(page: Page) -> None:
    await opened(page, "Find")
    said = page.get_by_role("status").locator("visible=true").and_(page.locator(".count"))
    await page.keyboard.press("Enter")
    await expect(said).to_have_text("Type what to find.")
    await find(page, "nowhere")
    await expect(said).to_have_text("Not found")
    await expect(said).to_have_attribute("aria-busy", "false")
    # Another text is searched, whichever way one goes.
    await find(page, "output 2000", "Shift+Enter")
    await expect(said).to_have_text("1 of 1")
    await find(page, "")
    await expect(said).to_have_text("Type what to find.")
    await expect(page.locator("mark")).to_have_count(0)


@pytest.mark.parametrize("text", ["abc", "0", "", "2001", "-5", "1.5", "5 lines"])
async def test_a_line_that_is_not_there_is_answered_by_those_that_are(page: Page, text: str) -> None:
    await opened(page, "Go to")
    await page.get_by_label("Line, 1 to 2,000").fill(text)
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("status").and_(page.locator(".count"))).to_have_text("A line from 1 to 2,000.")
    await expect(page.locator(".row[data-line='1']")).to_be_in_viewport()
    await page.get_by_label("Line, 1 to 2,000").fill("7")
    await expect(page.locator(".count")).to_be_empty()


@pytest.mark.parametrize("text", ["1500", "1,500", "1 500", " 1.500 "])
async def test_a_line_is_gone_to_however_its_number_is_written(page: Page, text: str) -> None:
    await opened(page, "Go to")
    await page.get_by_label("Line, 1 to 2,000").fill(text)
    await page.keyboard.press("Enter")
    await expect(page.locator(".row[data-line='1500']")).to_be_in_viewport()
    await expect(page.locator(".count")).to_have_text("Line 1,500.")


@pytest.mark.parametrize("name", ["Find", "Go to", "Copy"])
async def test_escape_closes_a_bar_and_gives_the_focus_back(page: Page, name: str) -> None:
    await opened(page, name)
    await page.keyboard.press("Tab")
    await page.keyboard.press("Escape")
    await expect(page.locator(".panel")).to_have_count(0)
    opener = page.get_by_role("toolbar").get_by_role("button", name=name, exact=True)
    await expect(opener).to_be_focused()
    await expect(opener).to_have_attribute("aria-expanded", "false")


@pytest.mark.parametrize("secure", [True, False])
async def test_copying_says_so_and_keeps_the_focus(library: House, chromium: Browser, secure: bool) -> None:
    async with phone_at(library, chromium, permissions=["clipboard-read", "clipboard-write"]) as phone:
        if not secure:
            await phone.context.add_init_script("Object.defineProperty(window, 'isSecureContext', { value: false })")
        await phone.pair()
        page = await phone.open(RESULT)
        await expect(page.locator(".row[data-line='1']")).to_contain_text("output 1")
        await opened(page, "Copy")
        for name, said, copied in (
            ("Everything", "Copied 23 kB.", "\n".join(f"output {number}" for number in range(1, 2001))),
            ("Lines 1–", "Copied.", "output 1\noutput 2\n"),
        ):
            button = page.get_by_role("button", name=name)
            await button.press("Enter")
            await expect(page.locator(".count")).to_have_text(said)
            await expect(button).to_be_focused()
            assert str(await page.evaluate("navigator.clipboard.readText()")).startswith(copied)
        assert phone.faults == []


async def test_the_bars_stay_within_a_narrow_screen(library: House, chromium: Browser) -> None:
    async with phone_at(library, chromium, viewport={"width": 320, "height": 640}) as phone:
        await phone.pair()
        page = await phone.open(RESULT)
        await expect(page.locator(".row[data-line='1']")).to_contain_text("output 1")
        for name in ("Find", "Go to", "Copy"):
            await opened(page, name)
            if name != "Copy":
                await page.keyboard.press("Enter")
                await expect(page.locator(".count")).not_to_be_empty()
            over = await page.evaluate(
                """() => [...document.querySelectorAll('.bar > *, .panel > *')]
                    .filter((one) => one.getBoundingClientRect().right > 320 || one.getBoundingClientRect().left < 0)
                    .map((one) => one.outerHTML)"""
            )
            assert over == [], name
            await page.keyboard.press("Escape")
