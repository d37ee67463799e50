"""The page for everyone: by keyboard, from right to left, and for those who do not see it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from importlib.resources import files
from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect

from tests.page.browsing import House, Phone, phone_at
from tests.running import waybread

pytestmark = pytest.mark.asyncio(loop_scope="session")

VIEWS = ("#/", "#/s/parser", "#/s/hostile", "#/s/parser/r/0003", "#/s/parser/r/0006?line=800", "#/s/hostile/r/0002")
OTHER_VIEWS = ("#/s/parser/files", "#/settings", "#/pair", "#/s/none", "#/s/parser/r/ffff")
AXE = (files("axe_playwright_python") / "axe.min.js").read_text("utf-8")
TAGS = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}}
_MOST_TABS = 40


async def settled(page: Page) -> None:
    await expect(page.locator("main")).to_be_visible()
    await page.wait_for_timeout(80)
    await expect(page.get_by_text("Loading…")).to_have_count(0)


async def finds_nothing(page: Page, place: str) -> None:
    if await page.evaluate("typeof axe") == "undefined":
        await page.evaluate(AXE)
    told: dict[str, Any] = await page.evaluate("options => axe.run(options)", TAGS)
    assert [(one["id"], one["nodes"][0]["html"]) for one in told["violations"]] == [], place
    assert len(told["passes"]) > 10, place


async def open_find(page: Page) -> None:
    await page.get_by_role("button", name="Find").click()
    await page.get_by_role("searchbox").fill("output 9")
    await page.get_by_role("searchbox").press("Enter")
    await expect(page.locator(".count")).to_contain_text("of")


async def open_copy(page: Page) -> None:
    await page.get_by_role("button", name="Copy").click()


async def open_line(page: Page) -> None:
    await page.get_by_role("button", name="Go to").click()


async def to_start(page: Page) -> None:
    await page.locator(".scroller").evaluate("scroller => { scroller.scrollTop = 0 }")
    await page.wait_for_timeout(150)


async def wrong_code(page: Page) -> None:
    await page.get_by_label("Link or code").fill("wrong")
    await page.get_by_role("button", name="Pair").click()
    await expect(page.get_by_role("alert")).not_to_be_empty()


async def sign_out(page: Page) -> None:
    await page.get_by_role("button", name="Forget everything").click()


async def search(page: Page) -> None:
    await page.get_by_role("searchbox").fill("nowhere")


STATES: list[tuple[str, Callable[[Page], Awaitable[None]]]] = [
    ("#/s/parser/r/0006", open_find),
    ("#/s/parser/r/0006", open_copy),
    ("#/s/parser/r/0006", open_line),
    ("#/s/parser", to_start),
    ("#/pair", wrong_code),
    ("#/settings", sign_out),
    ("#/", search),
]


@pytest.mark.parametrize("scheme, width", [("light", 390), ("dark", 320)])
async def test_axe_finds_nothing_in_any_view_or_state(
    library: House, chromium: Browser, scheme: str, width: int
) -> None:
    async with phone_at(library, chromium, color_scheme=scheme, viewport={"width": width, "height": 640}) as phone:
        await phone.pair()
        page = await phone.open()
        for address in (*VIEWS, *OTHER_VIEWS):
            await phone.show(address)
            await settled(page)
            await finds_nothing(page, address)
        for address, act in STATES:
            # By way of another view, so that what the state before opened is closed.
            await phone.show("#/s/none")
            await settled(page)
            await phone.show(address)
            await settled(page)
            await act(page)
            await finds_nothing(page, f"{address} after {act.__name__}")
        await phone.lose_network()
        await expect(page.locator(".banner")).to_contain_text("Offline since")
        await finds_nothing(page, "offline")


async def test_axe_finds_nothing_where_a_pairing_was_taken_back(phone: Phone) -> None:
    page = await phone.open()
    await expect(page.locator(".dot.live")).to_be_visible()
    waybread("device", "revoke", phone.house.device, data=phone.house.daemon.data)
    await expect(page.get_by_role("heading", level=1)).to_have_text("Not paired any more")
    await finds_nothing(page, "revoked")


async def test_code_stays_from_left_to_right_on_a_page_from_right_to_left(library: House, chromium: Browser) -> None:
    async with phone_at(library, chromium) as phone:
        await phone.pair()
        page = await phone.open("#/s/parser")
        await settled(page)
        await page.evaluate("document.documentElement.setAttribute('dir', 'rtl')")
        directions = await page.locator("pre.text").evaluate_all(
            "all => all.map((one) => getComputedStyle(one).direction)"
        )
        assert set(directions) == {"ltr"}
        await page.get_by_role("link", name="Files read").click()
        assert await page.locator(".path").first.evaluate("one => getComputedStyle(one).direction") == "ltr"
        assert await page.locator("h1").evaluate("one => getComputedStyle(one).direction") in ("ltr", "rtl")
        await page.get_by_role("link", name="Back").click()
        await page.locator("a.id").last.click()
        assert await page.locator(".row code").first.evaluate("one => getComputedStyle(one).direction") == "ltr"


async def tab_to(page: Page, selector: str) -> None:
    """Goes on by the tab key until that element has the focus: as a person does, who waits until it is there."""
    await expect(page.locator(selector).first).to_be_visible()
    for _ in range(_MOST_TABS):
        await page.keyboard.press("Tab")
        if await page.evaluate("(selector) => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"the tab key does not lead to {selector}")


async def test_everything_can_be_reached_by_keyboard_alone(reader: Phone) -> None:
    page = await reader.open()
    await settled(page)
    await tab_to(page, "input[type=search]")
    await page.keyboard.type("parser")
    await expect(page.locator(".session")).to_have_count(1)
    await tab_to(page, "a.session")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", level=1)).to_be_focused()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Fix the parser")
    await tab_to(page, "button[aria-label='Wrap lines']")
    await page.keyboard.press("Space")
    await expect(page.get_by_role("button", name="Wrap lines")).to_have_attribute("aria-pressed", "true")
    await page.keyboard.press("Space")
    await tab_to(page, "a[aria-label='Files read']")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", level=1)).to_have_text("Files read")
    await tab_to(page, ".file a.id")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", level=1)).to_have_text("#0001 read")
    await tab_to(page, ".tool.named")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("searchbox")).to_be_focused()
    await page.keyboard.type("line_77 ")
    await page.keyboard.press("Enter")
    await expect(page.locator("mark.current")).to_have_text("line_77 ")
    await tab_to(page, ".rows")
    await page.keyboard.press("End")
    await expect(page.locator(".row[data-line='120']")).to_be_in_viewport()
    await page.go_back()
    await expect(page.locator(".file a.id")).to_be_focused()
    await page.go_back()
    await expect(page.get_by_role("link", name="Files read")).to_be_visible()


async def test_the_focus_is_seen(reader: Phone) -> None:
    page = await reader.open("#/s/parser")
    await settled(page)
    for selector in ("a[aria-label='Back']", "button[aria-label='Wrap lines']", ".scroller", "a.id"):
        await tab_to(page, selector)
        outline = await page.evaluate(
            "(({ outlineStyle, outlineWidth }) => [outlineStyle, parseFloat(outlineWidth)])(getComputedStyle(document.activeElement))"
        )
        assert outline[0] != "none", selector
        assert outline[1] >= 2, selector


async def test_lists_tell_how_long_they_are_and_where_one_is(reader: Phone) -> None:
    page = await reader.open("#/s/parser/r/0006?line=800")
    await settled(page)
    row = page.locator(".row[data-line='800']")
    assert [await row.get_attribute(name) for name in ("role", "aria-posinset", "aria-setsize")] == [
        "listitem",
        "800",
        "2000",
    ]
