"""Networks that end, phones that sleep, and daemons that go back in time: the page is right again by itself."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from tests.page.browsing import House, Phone, phone_at
from tests.page.cables import Cable, cable_to
from tests.page.walking import said_in
from tests.running import waybread

_MOST_S = 10
_AWAY_MS = 20_000
pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(loop_scope="session")
async def cable(house: House) -> AsyncGenerator[Cable]:
    """Lies between the phone and the test's own daemon."""
    async with cable_to(house.port) as cable:
        house.door = cable.port
        yield cable


@pytest_asyncio.fixture(loop_scope="session")
async def far(cable: Cable, house: House, chromium: Browser) -> AsyncGenerator[Phone]:
    """A phone that is paired through the cable."""
    async with phone_at(house, chromium) as phone:
        await phone.pair()
        yield phone
        assert [fault for fault in phone.real_faults() if "net::ERR_" not in fault] == []


async def is_live(page: Page) -> None:
    await expect(page.locator(".dot.live")).to_be_visible()


async def never_loaded_again(page: Page) -> None:
    """Puts a mark into the page that a reload would take away."""
    await page.evaluate("window.mark = 1")


async def seconds_until(page: Page, said: str) -> float:
    """How long it takes until the last message is this one. The browser's own looks are up to a second apart."""
    begin = time.monotonic()
    while (await page.locator(".message .text").all_inner_texts())[-1:] != [said]:
        assert time.monotonic() - begin < _MOST_S, said
        await asyncio.sleep(0.01)
    return time.monotonic() - begin


async def test_a_network_that_ends_and_comes_back_leaves_no_gap_and_nothing_twice(far: Phone, cable: Cable) -> None:
    async with far.house.link() as link:
        session = await link.open("s", "agent")
        page = await far.open("#/s/s")
        await is_live(page)
        await never_loaded_again(page)
        number = 0
        for _ in range(3):
            for _ in range(5):
                number += 1
                await session.message("user", f"Message {number}.")
            await expect(page.get_by_text(f"Message {number}.", exact=True)).to_be_in_viewport()
            cable.cut()
            await far.lose_network()
            await expect(page.locator(".banner")).to_contain_text("Offline since")
            for _ in range(5):
                number += 1
                await session.message("user", f"Message {number}.")
            cable.mend()
            await far.find_network()
            print(f"right again {await seconds_until(page, f'Message {number}.'):.2f} s after the network's return")
        await is_live(page)
        assert await said_in(page) == [f"Message {one}." for one in range(1, number + 1)]
        assert await page.evaluate("window.mark") == 1


async def test_a_network_that_was_away_for_long_is_live_again_within_a_second(far: Phone, cable: Cable) -> None:
    async with far.house.link() as link:
        session = await link.open("s", "agent")
        await session.message("user", "Before.")
        page = await far.open("#/s/s")
        await is_live(page)
        sockets: list[str] = []
        page.on("websocket", lambda socket: sockets.append(socket.url))
        cable.cut()
        await far.lose_network()
        await expect(page.locator(".banner")).to_contain_text("Offline since")
        await page.wait_for_timeout(_AWAY_MS)
        assert len(sockets) <= 2
        await session.message("user", "Meanwhile.")
        cable.mend()
        await far.find_network()
        seconds = await seconds_until(page, "Meanwhile.")
        print(f"right again {seconds:.2f} s after the network's return")
        assert seconds < 1
        # Nothing tells it of this one.
        cable.cut()
        await expect(page.locator(".banner")).to_contain_text("Reconnecting since")
        await page.wait_for_timeout(_AWAY_MS)
        await session.message("user", "Again.")
        cable.mend()
        seconds = await seconds_until(page, "Again.")
        print(f"right again {seconds:.2f} s after the return of what nothing told it of")
        # Its looks are up to a second apart.
        assert seconds < 2
        assert len(sockets) <= 6
        assert await said_in(page) == ["Before.", "Meanwhile.", "Again."]


async def test_after_a_sleep_that_no_side_was_told_of_it_is_right_again_at_once(far: Phone, cable: Cable) -> None:
    async with far.house.link() as link:
        session = await link.open("s", "agent")
        await session.message("user", "Before.")
        page = await far.open("#/s/s")
        await expect(page.get_by_text("Before.")).to_be_visible()
        await is_live(page)
        cable.silence()
        await session.message("user", "While it slept.")
        await asyncio.sleep(0.3)
        await expect(page.get_by_text("While it slept.")).to_have_count(0)
        await page.evaluate("window.dispatchEvent(new Event('pageshow'))")
        print(f"right again {await seconds_until(page, 'While it slept.'):.2f} s after waking up")
        assert await said_in(page) == ["Before.", "While it slept."]


async def test_a_daemon_that_was_killed_is_found_again_soon_after_its_return(phone: Phone) -> None:
    async with phone.house.link() as link:
        session = await link.open("s", "agent")
        page = await phone.open("#/s/s")
        await is_live(page)
        await never_loaded_again(page)
        for number in range(1, 4):
            phone.house.kill()
            await expect(page.locator(".banner")).to_contain_text("Reconnecting since")
            phone.house.start()
            saying = asyncio.create_task(session.message("user", f"Message {number}."))
            print(f"right again {await seconds_until(page, f'Message {number}.'):.2f} s after the daemon's return")
            await saying
        assert await said_in(page) == [f"Message {number}." for number in range(1, 4)]
        assert await page.evaluate("window.mark") == 1


async def test_without_any_network_it_opens_on_what_it_has_and_says_how_old_that_is(far: Phone, cable: Cable) -> None:
    async with far.house.link() as link:
        session = await link.open("s", "agent", title="Mend the roof")
        for number in range(1, 31):
            await session.result("bash", {"command": f"echo {number}"}, f"output {number}")
        await (await link.open("other", "agent", title="Never opened")).message("user", "Unseen.")
    page = await far.open()
    await page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    await page.get_by_text("Mend the roof").click()
    await page.locator("a.id", has_text="#001e").first.click()
    await expect(page.locator(".row[data-line='1']")).to_contain_text("output 30")
    await page.wait_for_timeout(1000)
    cable.cut()
    await far.lose_network()
    await far.open("#/s/s")
    await expect(page.locator(".card", has_text="output 30")).to_be_visible()
    await expect(page.locator(".banner")).to_contain_text("Offline since")
    await expect(page.locator(".banner")).to_contain_text("What you see is less than a minute old.")
    await page.locator("a.id", has_text="#001e").first.click()
    await expect(page.locator(".row[data-line='1']")).to_contain_text("output 30")
    await page.get_by_role("link", name="Back").click()
    await page.get_by_role("link", name="Back").click()
    await page.get_by_text("Never opened").click()
    await expect(page.get_by_text("Unseen.")).to_have_count(0)
    cable.mend()
    await far.find_network()
    await expect(page.get_by_text("Unseen.")).to_be_visible()
    await is_live(page)


async def test_a_store_restored_from_a_backup_shows_as_it_is_now(phone: Phone, tmp_path: Path) -> None:
    house, backup = phone.house, tmp_path / "backup.sqlite"
    async with house.link() as link:
        session = await link.open("s", "agent", title="Kept")
        await session.message("user", "In the backup.")
        waybread("backup", str(backup), data=house.daemon.data)
        await session.message("user", "Lost.")
        await (await link.open("later", "agent", title="Lost, too")).message("user", "Lost.")
        page = await phone.open("#/s/s")
        await expect(page.get_by_text("Lost.", exact=True)).to_be_visible()
        await never_loaded_again(page)
    house.daemon.stop()
    waybread("restore", str(backup), data=house.daemon.data)
    house.start()
    await expect(page.get_by_text("In the backup.")).to_be_visible()
    await expect(page.get_by_text("Lost.", exact=True)).to_have_count(0)
    assert await said_in(page) == ["In the backup."]
    await page.get_by_role("link", name="Back").click()
    await expect(page.locator(".session .title")).to_have_text(["Kept"])
    assert await page.evaluate("window.mark") == 1


_WATCH = """() => {
  window.missed = [];
  const look = () => {
    if (document.querySelector('.banner') === null) window.missed.push(location.hash);
    requestAnimationFrame(look);
  };
  look();
}"""
"""Notes the addresses of all frames that are painted without the notice."""
_FIRST = """
const begun = {};
new MutationObserver(() => {
  if (document.querySelector('main') !== null) begun.view ??= performance.now();
  if (document.querySelector('.banner') !== null) begun.notice ??= performance.now();
}).observe(document, { childList: true, subtree: true, attributes: true });
window.begun = begun;
"""
_AWAY = "Object.defineProperty(Navigator.prototype, 'onLine', { get: () => false });"
"""As a browser says it. One that a test took the network from may say otherwise in what is loaded later."""


async def test_the_notice_stands_through_every_view_and_never_blinks(far: Phone, cable: Cable) -> None:
    async with far.house.link() as link:
        session = await link.open("s", "agent", title="Mend the roof")
        await session.result("bash", {"command": "seq 30"}, "\n".join(f"output {number}" for number in range(1, 31)))
    page = await far.open()
    await is_live(page)
    await page.get_by_text("Mend the roof").click()
    await page.locator("a.id", has_text="#0001").first.click()
    await expect(page.locator(".row[data-line='1']")).to_contain_text("output 1")
    await far.show("#/")
    cable.cut()
    notice = page.locator(".banner [role=status]")
    await expect(notice).to_contain_text("Reconnecting since")
    said = await notice.inner_text()
    await page.evaluate(_WATCH)
    await page.get_by_text("Mend the roof").click()
    await page.locator("a.id", has_text="#0001").first.click()
    await expect(page.locator(".row[data-line='1']")).to_contain_text("output 1")
    await page.get_by_role("link", name="Back").click()
    await expect(page.locator(".card.result")).to_have_count(1)
    await page.get_by_role("link", name="Back").click()
    await page.get_by_role("link", name="Settings").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Settings")
    assert await notice.inner_text() == said
    await page.get_by_role("link", name="Pair with another device").click()
    await expect(page.get_by_label("Link or code")).to_be_visible()
    assert await page.evaluate("window.missed") == []
    await page.get_by_role("link", name="Back").click()
    cable.mend()
    await expect(page.locator(".banner")).to_have_count(0)
    await is_live(page)


async def test_how_long_it_is_away_is_told_from_when_the_link_was_last_there_over_reloads(
    far: Phone, cable: Cable
) -> None:
    async with far.house.link() as link:
        await link.open("s", "agent", title="Mend the roof")
    page = await far.open()
    await is_live(page)
    await page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    notice = page.locator(".banner [role=status]")
    cable.cut()
    await expect(notice).to_contain_text("Reconnecting since")
    said = await notice.inner_text()
    await asyncio.sleep(1.1)
    for address in ("#/settings", "#/s/s", "#/"):
        await far.open(address)
        await expect(notice).to_have_text(said)
    await page.clock.install()
    await page.clock.fast_forward(3 * 24 * 3600 * 1000)
    await far.open()
    await expect(notice).to_contain_text("Reconnecting since")
    # Another day, and which one.
    assert await notice.inner_text() != said
    await expect(page.locator(".banner")).to_contain_text("What you see is 3 days old.")


async def test_a_page_that_is_opened_without_a_network_says_so_at_once(far: Phone, cable: Cable) -> None:
    page = await far.open()
    await is_live(page)
    await page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    await far.open()
    await is_live(page)
    cable.cut()
    await far.lose_network()
    await page.add_init_script(_AWAY + _FIRST)
    await far.open()
    await expect(page.locator(".banner")).to_contain_text("Offline since")
    begun = await page.evaluate("window.begun")
    assert 0 <= begun["notice"] - begun["view"] < 350


async def test_a_link_that_comes_at_once_is_no_news_however_long_the_page_was_closed(phone: Phone) -> None:
    page = await phone.open()
    await is_live(page)
    await page.clock.install()
    await page.clock.fast_forward(3600 * 1000)
    await page.add_init_script(_FIRST)
    await phone.open()
    await is_live(page)
    assert list(await page.evaluate("window.begun")) == ["view"]
