"""A person's scrolling counts, also where the page is made anew before the browser has told of it, as phones do it."""

from __future__ import annotations

import pytest
from playwright.async_api import Page, expect

from tests.page.browsing import Phone
from tests.page.limits import limited

pytestmark = pytest.mark.asyncio(loop_scope="session")

_SCROLL_AND_PRESS = """([selector, px, name]) => {
  document.querySelector(selector).scrollTop += px;
  [...document.querySelectorAll('button')].find((one) => one.textContent.startsWith(name)).click();
}"""
_REST = "() => new Promise((done) => setTimeout(() => requestAnimationFrame(() => setTimeout(done)), 500))"
_FRAMES = (
    "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done))))"
)


async def scroll_and_press(page: Page, selector: str, px: int, name: str) -> None:
    """Both in one turn of the browser's loop: it tells of the scrolling only after the page was made anew."""
    await page.evaluate(_REST)
    await page.evaluate(_SCROLL_AND_PRESS, [selector, px, name])
    await page.evaluate(_FRAMES)


async def test_lines_stay_where_one_has_scrolled_to(reader: Phone) -> None:
    page = await reader.open("#/s/parser/r/0006")
    await expect(page.locator(".row[data-line='1'] code")).to_have_text("output 1")
    await scroll_and_press(page, ".rows", 10_000, "Find")
    await expect(page.locator(".row[data-line='501'] code")).to_be_in_viewport()


async def test_a_transcript_stays_where_one_has_scrolled_to(reader: Phone) -> None:
    page = await reader.open("#/s/parser")
    await expect(page.get_by_text("The parser was mended")).to_be_in_viewport()
    await expect(page.locator(".dot.live")).to_be_visible()
    await scroll_and_press(page, ".scroller", -700, "Show ")
    await expect(page.get_by_role("button", name="To the end")).to_be_visible()
    await expect(page.get_by_text("The parser was mended")).not_to_be_in_viewport()


async def test_lines_that_become_fewer_are_not_taken_for_scrolling(reader: Phone) -> None:
    page = await reader.open("#/s/parser/r/0006?line=1990")
    await expect(page.locator(".row[data-line='1990'] code")).to_have_text("output 1990")
    first = await page.locator(".seen").inner_text()
    for _ in range(2):
        await page.get_by_role("button", name="Wrap").click()
        await page.evaluate(_FRAMES)
    await expect(page.locator(".row[data-line='1995'] code")).to_be_in_viewport()
    assert await page.locator(".seen").inner_text() == first


async def test_at_the_end_of_the_lines_more_room_does_not_keep_the_page_busy(reader: Phone) -> None:
    page = await reader.open("#/s/parser/r/0006")
    await expect(page.locator(".row[data-line='1'] code")).to_have_text("output 1")
    await page.get_by_role("button", name="Find").click()
    await page.locator(".rows").evaluate("rows => { rows.scrollTop = rows.scrollHeight }")
    await expect(page.locator(".row[data-line='2000'] code")).to_be_in_viewport()
    async with limited("closing the panel", 20):
        # The lines are higher by the panel's height, and made anew before that is measured.
        await page.get_by_role("button", name="Find").first.click()
        await expect(page.get_by_role("searchbox")).to_have_count(0)
        await page.evaluate(_REST)
    await expect(page.locator(".row[data-line='2000'] code")).to_be_in_viewport()
    await expect(page.locator(".seen")).to_contain_text("2,000")
