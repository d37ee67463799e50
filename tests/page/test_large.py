"""Results of 60 MB and sessions of 20,000 entries: they open and scroll, and only what is seen is in the page."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from tests.page.browsing import House, Phone, phone_at

pytestmark = pytest.mark.asyncio(loop_scope="session")

LINES = 1_000_000
HALF = "a word and another " * 263_158
"""5 MB."""
ENTRIES = 20_000
MOST_ROWS = 200
_AT_ONCE = 100
MOST_SLOTS = 120
MOST_HEAP_BYTES = 64 * 1024 * 1024


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def archive(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[House]:
    """A daemon with the sessions `huge`, whose result has 60 MB, `line`, whose result has a line of 10 MB, and `many`."""
    house = House(tmp_path_factory.mktemp("archive") / "data")
    try:
        async with house.link() as link:
            huge = await link.open("huge", "agent", title="A result of 60 MB")
            text = "".join(
                f"{number:010d} a line of a log that has sixty characters at all\n" for number in range(1, LINES + 1)
            )
            assert len(text) == 60 * LINES
            await huge.result("bash", {"command": "cat huge.log"}, text)
            line = await link.open("line", "agent", title="A line of 10 MB")
            await line.result("bash", {"command": "cat line"}, f"before\n{HALF}NEEDLE{HALF}\nafter\n")
            many = await link.open("many", "agent", title="Many entries")
            for first in range(1, ENTRIES, _AT_ONCE):
                said = [many.message("user", f"Message {number}.") for number in range(first, first + _AT_ONCE)]
                await asyncio.gather(*said)
        yield house
    finally:
        house.close()


@pytest_asyncio.fixture(loop_scope="session")
async def visitor(archive: House, chromium: Browser) -> AsyncGenerator[Phone]:
    async with phone_at(archive, chromium) as phone:
        await phone.pair()
        yield phone
        assert phone.faults == []


async def heap_bytes(page: Page) -> int:
    """What the page's script holds after its garbage is gone."""
    session: Any = await page.context.new_cdp_session(page)
    await session.send("HeapProfiler.collectGarbage")
    return int((await session.send("Runtime.getHeapUsage"))["usedSize"])


async def to_share(page: Page, share: float) -> None:
    await page.locator(".rows").evaluate(
        "(rows, share) => { rows.scrollTop = (rows.scrollHeight - rows.clientHeight) * share }", share
    )


async def shows(page: Page, line: int) -> None:
    """A line is in sight, with its own text."""
    row = page.locator(f".row[data-line='{line}'] code")
    await expect(row).to_have_text(f"{line:010d} a line of a log that has sixty characters at all")
    await expect(row).to_be_in_viewport()


async def first_seen(page: Page) -> int:
    return int((await page.locator(".seen").inner_text()).partition("–")[0].replace(",", ""))


async def test_a_result_of_60_mb_is_read_by_windows_wherever_one_goes(visitor: Phone) -> None:
    page = await visitor.open("#/s/huge")
    await page.locator(".card .head a.id", has_text="#0001").tap()
    await shows(page, 1)
    await expect(page.locator(".sub")).to_contain_text("1,000,000 lines")
    before = await heap_bytes(page)
    await to_share(page, 0.5)
    await expect(page.locator(".seen")).to_contain_text("–500,")
    middle = await first_seen(page)
    assert abs(middle - LINES // 2) < 100
    await shows(page, middle + 2)
    await to_share(page, 1)
    await shows(page, LINES)
    for line in (777_777, 3, 999_999, 123_456):
        await page.get_by_role("button", name="Go to", exact=True).click()
        await page.get_by_label("Line, 1 to 1,000,000").fill(f"{line}")
        await page.get_by_role("button", name="Go", exact=True).click()
        await shows(page, line)
        await page.get_by_role("button", name="Go to", exact=True).click()
        assert await page.locator(".row").count() < MOST_ROWS
    for step in range(30):
        await to_share(page, step / 30)
        await page.wait_for_timeout(30)
        assert await page.locator(".row").count() < MOST_ROWS
    await to_share(page, 0)
    await shows(page, 1)
    grown = await heap_bytes(page) - before
    print(f"memory of the page's script after walking through 60 MB: {grown / 1024 / 1024:.1f} MiB more")
    assert grown < MOST_HEAP_BYTES


@pytest.mark.parametrize("by", ["Stop", "Escape"])
async def test_what_is_found_in_60_mb_is_led_to_while_the_search_goes_on(visitor: Phone, by: str) -> None:
    sent: list[str | bytes] = []

    def note(data: str | bytes) -> None:
        sent.append(data)

    visitor.page.on("websocket", lambda socket: socket.on("framesent", note))
    page = await visitor.open("#/s/huge/r/0001")
    await shows(page, 1)
    await page.get_by_role("button", name="Find").click()
    await page.get_by_role("searchbox").fill("00012345 A LINE")
    await page.get_by_role("searchbox").press("Enter")
    await shows(page, 12_345)
    await expect(page.locator("mark.current")).to_have_text("00012345 a line")
    await expect(page.locator(".count")).to_contain_text("1 of 1 so far")
    # What one goes to meanwhile is there as soon as ever.
    await to_share(page, 0.5)
    await expect(page.locator(".seen")).to_contain_text("–500,")
    await shows(page, await first_seen(page) + 2)
    if by == "Stop":
        await page.get_by_role("button", name="Stop").press("Enter")
        await expect(page.get_by_role("button", name="The next place")).to_be_focused()
    else:
        await page.get_by_role("searchbox").press("Escape")
        await expect(page.get_by_role("searchbox")).to_have_value("00012345 A LINE")
    await expect(page.get_by_role("button", name="Stop")).to_have_count(0)
    await expect(page.locator(".count")).to_contain_text(re.compile(r"^1 of 1 so far, .+ searched$"))
    await page.wait_for_timeout(200)
    asked = len(sent)
    await page.wait_for_timeout(500)
    assert len(sent) == asked


async def in_sight(page: Page, text: str) -> None:
    """The place that is looked at is within what is seen, and nothing covers it."""
    async with asyncio.timeout(20):
        while await page.evaluate(_IN_SIGHT) != text:
            await page.wait_for_timeout(50)


_IN_SIGHT = """() => {
  const mark = document.querySelector('mark.current');
  if (mark === null) return null;
  const { left, top, width, height } = mark.getClientRects()[0];
  return mark.contains(document.elementFromPoint(left + width / 2, top + height / 2)) ? mark.textContent : null;
}"""
_LISTEN = """() => {
  window.said = [];
  const count = document.querySelector('.count');
  new MutationObserver(() => window.said.push(count.textContent)).observe(count, { subtree: true, childList: true, characterData: true });
}"""


@pytest.mark.parametrize("wrap", [False, True])
async def test_a_place_in_the_middle_of_a_line_of_10_mb_is_seen_while_the_search_goes_on(
    visitor: Phone, wrap: bool
) -> None:
    page = await visitor.open("#/s/line/r/0001")
    await expect(page.locator(".row[data-line='3']")).to_be_attached()
    if wrap:
        await page.get_by_role("button", name="Wrap").click()
    await page.get_by_role("button", name="Find").click()
    await page.get_by_role("searchbox").fill("needle")
    await page.evaluate(_LISTEN)
    await page.get_by_role("searchbox").press("Enter")
    await in_sight(page, "NEEDLE")
    await expect(page.locator(".count")).to_have_text("1 of 1")
    said: list[str] = await page.evaluate("window.said")
    assert len({text for text in said if text.startswith("None so far, ")}) >= 3
    assert any(text.startswith("1 of 1 so far, ") for text in said)
    for key, start in (("Home", "before"), ("End", "after")):
        await page.locator(".rows").press(key)
        await expect(page.get_by_text(start, exact=True)).to_be_in_viewport()
        await page.get_by_role("searchbox").press("Enter")
        await in_sight(page, "NEEDLE")
    # A step from place to place, across the parts in which the line is shown.
    await page.get_by_role("searchbox").fill("another a")
    await page.get_by_role("searchbox").press("Enter")
    await expect(page.locator(".count")).to_have_text("1 of 10000 or more")
    await in_sight(page, "another a")
    for number in (10_000, 9_999):
        await page.get_by_role("button", name="The place before").click()
        await expect(page.locator(".count")).to_have_text(f"{number} of 10000 or more")
        await in_sight(page, "another a")


async def test_a_long_line_is_read_on_from_where_its_part_ended(visitor: Phone) -> None:
    page = await visitor.open("#/s/line/r/0001")
    on, back = page.get_by_role("button", name="the line goes on"), page.get_by_role("button", name="from character")
    for character in ("20,000", "40,000"):
        await on.click()
        await expect(back).to_have_text(f"‹ from character {character}")
        await expect(back).to_be_in_viewport()
    await back.click()
    await expect(back).to_have_text("‹ from character 30,000")
    await expect(on).to_be_in_viewport()
    for _ in range(3):
        await back.click()
    await expect(back).to_have_count(0)
    await expect(page.locator(".row[data-line='2'] code")).to_contain_text(HALF[:10_000])


async def test_a_line_of_a_result_is_reachable_by_its_address_and_survives_a_reload(visitor: Phone) -> None:
    page = await visitor.open("#/s/huge/r/0001?line=654321")
    await shows(page, 654_321)
    await page.mouse.move(200, 400)
    await page.wait_for_timeout(300)
    await page.mouse.wheel(0, 400)
    await expect(page.locator(".seen")).to_contain_text("654,341")
    while "line=654341" not in page.url:
        await page.wait_for_timeout(50)
    await page.reload()
    await shows(page, 654_341)


async def test_20_000_entries_open_at_the_end_and_scroll_to_the_beginning_without_a_gap(visitor: Phone) -> None:
    page = await visitor.open("#/s/many")
    await expect(page.get_by_text(f"Message {ENTRIES}.")).to_be_in_viewport()
    walked = await page.evaluate(_UP)
    assert walked["most"] < MOST_SLOTS
    assert walked["numbers"] == list(range(1, ENTRIES + 1))
    await page.get_by_role("button", name="To the end").click()
    await expect(page.get_by_text(f"Message {ENTRIES}.")).to_be_in_viewport()
    assert await page.locator(".slot").count() < MOST_SLOTS
    print(f"memory of the page's script with 20,000 entries: {await heap_bytes(page) / 1024 / 1024:.1f} MiB")


_UP = """async () => {
  const scroller = document.querySelector('.scroller');
  const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  const numbers = new Set();
  let most = 0;
  const until = performance.now() + 60_000;
  while (performance.now() < until) {
    const slots = document.querySelectorAll('.slot');
    most = Math.max(most, slots.length);
    let opened = false;
    for (const slot of slots) {
      const said = /^Message (\\d+)\\./.exec(slot.querySelector('.message .text')?.textContent ?? '');
      if (said !== null) numbers.add(Number(said[1]));
      opened ||= slot.textContent.startsWith('Opened');
    }
    if (opened) break;
    scroller.scrollTop -= 2400;
    await frame();
  }
  return { most, numbers: [...numbers].sort((one, other) => one - other) };
}"""
