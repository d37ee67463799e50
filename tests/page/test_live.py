"""The page follows, through whatever happens to the link."""

from __future__ import annotations

import asyncio

import pytest
from playwright.async_api import Page, WebSocketRoute, expect

from tests.page.browsing import Phone, at_the_end

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def messages(page: Page) -> list[str]:
    """The messages that are in the page."""
    return await page.locator(".message .text").all_inner_texts()


async def test_what_is_inserted_appears_at_the_end(phone: Phone) -> None:
    async with phone.house.link() as link:
        session = await link.open("s", "agent", title="Live")
        page = await phone.open("#/s/s")
        await expect(page.get_by_text("Opened: an agent session")).to_be_visible()
        for number in range(1, 41):
            await session.message("user", f"Message {number}.")
        await expect(page.get_by_text("Message 40.")).to_be_in_viewport()


async def test_one_who_reads_above_stays_there_and_is_told_how_many_came(phone: Phone) -> None:
    async with phone.house.link() as link:
        session, page = await at_the_end(phone, link)
        await page.mouse.move(200, 400)
        await page.mouse.wheel(0, -800)
        await expect(page.get_by_role("button", name="To the end")).to_be_visible()
        before = await page.locator(".scroller").evaluate("scroller => scroller.scrollTop")
        for number in range(41, 44):
            await session.message("user", f"Message {number}.")
        await expect(page.get_by_role("button", name="3 new")).to_be_visible()
        assert await page.locator(".scroller").evaluate("scroller => scroller.scrollTop") == before
        await page.get_by_role("button", name="3 new").click()
        await expect(page.get_by_text("Message 43.")).to_be_in_viewport()
        await expect(page.locator(".to-end")).to_be_hidden()


async def test_a_daemon_killed_in_mid_stream_and_started_again_leaves_no_gap_and_nothing_twice(phone: Phone) -> None:
    async with phone.house.link() as link:
        session = await link.open("s", "agent", title="Live")
        page = await phone.open("#/s/s")
        await expect(page.locator(".dot.live")).to_be_visible()

        async def say() -> None:
            for number in range(1, 31):
                await session.message("user", f"Message {number}.")
                await asyncio.sleep(0.02)

        saying = asyncio.create_task(say())
        await asyncio.sleep(0.2)
        phone.house.kill()
        await expect(page.locator(".banner")).to_contain_text("Reconnecting since")
        await expect(page.locator(".banner")).to_contain_text("What you see is less than a minute old.")
        phone.house.start()
        await saying
        await expect(page.get_by_text("Message 30.")).to_be_visible()
        await expect(page.locator(".banner")).to_have_count(0)
        await page.locator(".scroller").evaluate("scroller => { scroller.scrollTop = 0 }")
        await expect(page.get_by_text("Message 1.", exact=True)).to_be_visible()
        said = await page.evaluate(WALK)
        assert said == [f"Message {number}." for number in range(1, 31)]


WALK = """async () => {
  const scroller = document.querySelector('.scroller');
  const said = new Map();
  for (let top = 0; top <= scroller.scrollHeight; top += 400) {
    scroller.scrollTop = top;
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    for (const slot of document.querySelectorAll('.slot')) {
      const text = slot.querySelector('.message .text');
      if (text !== null) said.set(Number(slot.getAttribute('aria-posinset')), text.textContent);
    }
  }
  return [...said.keys()].sort((one, other) => one - other).map((key) => said.get(key));
}"""


async def test_offline_it_shows_what_it_has_and_says_so_and_is_right_again_within_a_second(phone: Phone) -> None:
    async with phone.house.link() as link:
        session = await link.open("s", "agent", title="Live")
        await session.message("user", "Before.")
        page = await phone.open("#/s/s")
        await expect(page.get_by_text("Before.")).to_be_visible()
        await expect(page.locator(".dot.live")).to_be_visible()
        await phone.lose_network()
        await expect(page.locator(".banner")).to_contain_text("Offline since")
        await expect(page.get_by_text("Before.")).to_be_visible()
        await session.message("user", "Meanwhile.")
        await phone.find_network()
        await expect(page.get_by_text("Meanwhile.")).to_be_visible(timeout=1000)


async def test_a_deleted_session_says_so(phone: Phone) -> None:
    async with phone.house.link() as link:
        session = await link.open("s", "agent", title="Live")
        await session.message("user", "Before.")
        page = await phone.open("#/s/s")
        await expect(page.get_by_text("Before.")).to_be_visible()
        await session.delete()
        await expect(page.get_by_text("This session is not there")).to_be_visible()
        await page.get_by_role("link", name="Back").click()
        await expect(page.get_by_text("This device has no sessions yet.")).to_be_visible()


_LIST_IS_KEPT = """async () => {
  const { openDatabase } = await import('/js/core/database.js');
  const database = await openDatabase();
  while (!(await database.all('sessions')).some((one) => one.row)) await new Promise((again) => setTimeout(again, 20));
  database.close();
}"""


async def test_a_list_that_fits_the_screen_is_waited_for_and_not_asked_for_without_end(phone: Phone) -> None:
    """What is kept is there before the daemon has answered: near its end as it is, it cannot ask for more yet."""
    async with phone.house.link() as link:
        await link.open("s", "agent", title="Mend the roof")
        await phone.open()
        await expect(phone.page.locator(".dot.live")).to_be_visible()
        await expect(phone.page.locator(".session .title")).to_have_text("Mend the roof")
        await phone.page.evaluate(_LIST_IS_KEPT)
        held, asked = asyncio.Event(), 0

        async def hold(route: WebSocketRoute) -> None:
            daemon = route.connect_to_server()
            answers: list[str | bytes] = []

            def answer(message: str | bytes) -> None:
                if '"session_list"' in str(message) and not held.is_set():
                    answers.append(message)
                else:
                    route.send(message)

            def ask(message: str | bytes) -> None:
                nonlocal asked
                asked += '"type":"sessions"' in str(message)
                daemon.send(message)

            daemon.on_message(answer)
            route.on_message(ask)
            await held.wait()
            for message in answers:
                route.send(message)

        await phone.page.route_web_socket("**/link", hold)
        await phone.open()
        await expect(phone.page.locator(".session .title")).to_have_text("Mend the roof")
        async with asyncio.timeout(10):
            assert await phone.page.evaluate("new Promise((done) => setTimeout(() => done('awake'), 500))") == "awake"
        held.set()
        await expect(phone.page.locator(".dot.live")).to_be_visible()
        assert asked == 1
