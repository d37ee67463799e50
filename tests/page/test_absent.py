"""What is not there: sessions that are gone, what was never kept while there is no link, places that do not exist."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Locator, Page, expect

from tests.page.browsing import Phone, tell_many
from tests.running import waybread
from waybread_client import Link, Session

pytestmark = pytest.mark.asyncio(loop_scope="session")

GONE = "This session is not there"
NOT_KEPT = "Not kept here: it needs the link."
VIEWS = {
    "#/s/s": "The roof leaks.",
    "#/s/s/r/0001": "first line",
    "#/s/s/e/4": "first line",
    "#/s/s/a/4": "path: roof.txt",
    "#/s/s/files": "lines 1–2 of 2",
}
"""Each view of `tell_roof`, and what stands in it."""


async def tell_roof(link: Link) -> Session:
    """A session `s` whose entry 4 is its one result, a read."""
    session = await link.open("s", "agent", title="Mend the roof")
    await session.turn("1")
    await session.message("user", "The roof leaks.")
    await session.read("roof.txt", "/home/me/roof.txt", b"first line\nlast line\n", args={"path": "roof.txt"})
    return session


def content(page: Page, address: str) -> Locator:
    return page.locator("main").get_by_text(VIEWS[address]).first


async def pull(page: Page, to: str) -> None:
    """Scrolls to a place, as the browser reckons it: more than once, because heights are only known when they were seen."""
    for _ in range(3):
        await page.locator(".scroller").evaluate(f"scroller => {{ scroller.scrollTop = {to} }}")
        await page.wait_for_timeout(100)


async def lose_link(phone: Phone) -> None:
    """The daemon is gone, and the page has noticed. What the browser fetches on its own has come before."""
    await phone.page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    phone.house.kill()
    await expect(phone.page.locator(".banner")).to_contain_text("Reconnecting since")


async def leads_home(page: Page) -> None:
    """The session is gone, nothing of it is left, and its notice leads to the sessions."""
    await expect(page.get_by_text(GONE)).to_be_visible()
    await expect(page.locator("main").get_by_text("line")).to_have_count(0)
    await page.get_by_role("link", name="All sessions").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("laptop")
    assert await page.evaluate("location.hash") == "#/"


@pytest.mark.parametrize("address", VIEWS)
async def test_every_view_of_a_session_that_is_deleted_meanwhile_says_so(phone: Phone, address: str) -> None:
    async with phone.house.link() as link:
        session = await tell_roof(link)
        page = await phone.open(address)
        await expect(content(page, address)).to_be_visible()
        await session.delete()
        await leads_home(page)


async def test_every_view_of_a_session_that_never_was_says_so(phone: Phone) -> None:
    async with phone.house.link() as link:
        await tell_roof(link)
    for address in VIEWS:
        page = await phone.open(address.replace("#/s/s", "#/s/other"))
        await leads_home(page)


async def test_a_session_that_is_deleted_while_there_is_no_link_is_gone_when_it_is_back(phone: Phone) -> None:
    async with phone.house.link() as link:
        session = await tell_roof(link)
        page = await phone.open("#/s/s/r/0001")
        await expect(content(page, "#/s/s/r/0001")).to_be_visible()
        await phone.lose_network()
        await expect(page.locator(".banner")).to_contain_text("Offline since")
        await session.delete()
        await expect(content(page, "#/s/s/r/0001")).to_be_visible()
        await phone.find_network()
        await leads_home(page)


async def test_a_session_that_a_restored_store_does_not_have_is_gone_and_a_result_is_that_of_the_store(
    phone: Phone, tmp_path: Path
) -> None:
    house, backup = phone.house, tmp_path / "backup.sqlite"
    async with house.link() as link:
        kept = await link.open("kept", "agent")
        waybread("backup", str(backup), data=house.daemon.data)
        await kept.result("bash", {"command": "ls"}, "lost line")
        await tell_roof(link)
    page = await phone.open("#/s/s/r/0001")
    await expect(content(page, "#/s/s/r/0001")).to_be_visible()
    other = await phone.context.new_page()
    await other.goto(f"{house.url}#/s/kept/r/0001")
    await expect(other.locator(".row")).to_contain_text("lost line")
    house.daemon.stop()
    waybread("restore", str(backup), data=house.daemon.data)
    house.start()
    await expect(other.get_by_text("This session has no result #0001.")).to_be_visible()
    await leads_home(page)


async def test_a_session_that_is_opened_after_its_address_was_is_there(phone: Phone) -> None:
    page = await phone.open("#/s/s")
    await expect(page.get_by_text(GONE)).to_be_visible()
    async with phone.house.link() as link:
        await tell_roof(link)
    await expect(page.get_by_text("The roof leaks.")).to_be_visible()


async def test_a_result_that_comes_after_its_address_was_opened_is_there(phone: Phone) -> None:
    async with phone.house.link() as link:
        session = await link.open("s", "agent")
        page = await phone.open("#/s/s/r/0001")
        await expect(page.get_by_text("This session has no result #0001.")).to_be_visible()
        await session.result("bash", {"command": "date"}, "Tuesday")
        await expect(page.locator(".row[data-line='1'] code")).to_have_text("Tuesday")
        await expect(page.get_by_text("This session has no result #0001.")).to_have_count(0)


async def test_a_text_of_another_session_is_none_of_this_one(phone: Phone) -> None:
    async with phone.house.link() as link:
        await tell_roof(link)
        await link.open("other", "agent")
    page = await phone.open("#/s/other/e/4")
    await expect(page.get_by_text("This session has no entry 4.")).to_be_visible()


@pytest.mark.parametrize("address", VIEWS)
async def test_a_view_that_was_never_kept_says_so_without_a_link_and_loads_by_itself(
    phone: Phone, address: str
) -> None:
    async with phone.house.link() as link:
        await tell_roof(link)
    page = await phone.open("#/settings")
    await phone.show("#/")
    await expect(page.locator(".dot.live")).to_be_visible()
    await lose_link(phone)
    await phone.show(address)
    await expect(page.get_by_text(NOT_KEPT)).to_be_visible()
    await expect(page.get_by_text("Loading")).to_have_count(0)
    await expect(page.get_by_role("link", name="Back")).to_be_visible()
    phone.house.start()
    await expect(content(page, address)).to_be_visible()
    await expect(page.get_by_text(NOT_KEPT)).to_have_count(0)


async def scrolled(page: Page, place: float) -> None:
    """Scrolls the lines to a share of their way."""
    await page.locator(".rows").evaluate(
        "(rows, place) => { rows.scrollTop = place * (rows.scrollHeight - rows.clientHeight) }", place
    )


async def test_lines_that_were_not_kept_say_so_without_a_link_and_those_kept_are_there(phone: Phone) -> None:
    async with phone.house.link() as link:
        session = await link.open("s", "agent")
        lines = "\n".join(f"output {number}" for number in range(1, 20_001))
        await session.result("bash", {"command": "make"}, lines)
    page = await phone.open("#/s/s/r/0001")
    await expect(page.locator(".row[data-line='1']")).to_contain_text("output 1")
    await scrolled(page, 1)
    await expect(page.locator(".row[data-line='20000']")).to_contain_text("output 20000")
    await lose_link(phone)
    for place in (0.3, 0.4, 0.5, 0.6):
        await scrolled(page, place)
        await expect(page.get_by_text(NOT_KEPT)).to_be_visible()
    # What waits for the link does not keep from what is here, though the page had let go of it.
    await scrolled(page, 0)
    await expect(page.locator(".row[data-line='1']")).to_contain_text("output 1")
    await expect(page.get_by_text(NOT_KEPT)).to_have_count(0)
    await scrolled(page, 0.5)
    await expect(page.get_by_text(NOT_KEPT)).to_be_visible()
    phone.house.start()
    await expect(page.locator(".row[data-line='10010']")).to_contain_text("output 10010")
    await expect(page.get_by_text(NOT_KEPT)).to_have_count(0)


async def test_a_line_that_goes_on_says_without_a_link_that_the_rest_is_not_here(phone: Phone) -> None:
    async with phone.house.link() as link:
        session = await link.open("s", "agent")
        await session.result("bash", {"command": "make"}, f"{'x' * 300_000}END")
    page = await phone.open("#/s/s/r/0001")
    on = page.get_by_role("button", name="the line goes on")
    await expect(on).to_be_attached()
    await lose_link(phone)
    await on.evaluate("button => button.click()")
    await expect(page.get_by_text(NOT_KEPT)).to_be_visible()
    phone.house.start()
    await expect(page.get_by_text(NOT_KEPT)).to_have_count(0)
    await on.evaluate("button => button.click()")
    await expect(page.get_by_role("button", name="from character 20,000")).to_be_attached()


async def test_what_was_before_says_without_a_link_that_it_is_not_here_and_covers_no_entry(phone: Phone) -> None:
    async with phone.house.link() as link:
        await tell_many(link, 500)
    page = await phone.open("#/s/many")
    await expect(page.get_by_text("Message 500.")).to_be_visible()
    await expect(page.locator(".dot.live")).to_be_visible()
    await lose_link(phone)
    await pull(page, "0")
    before = page.get_by_text(NOT_KEPT)
    await expect(before).to_be_in_viewport()
    first = page.locator(".slot", has_text="Message 301.")
    boxes: list[Any] = [await before.bounding_box(), await first.locator(".role").bounding_box()]
    assert boxes[0]["y"] + boxes[0]["height"] <= boxes[1]["y"]
    phone.house.start()
    await expect(page.locator(".slot", has_text="Message 300.")).to_be_attached()
    # It came above what one looks at, which stays.
    assert abs((await first.locator(".role").bounding_box() or boxes[0])["y"] - boxes[1]["y"]) <= 2
    await expect(before).to_have_count(0)


async def test_a_list_of_sessions_that_is_not_whole_says_so_at_its_end(phone: Phone) -> None:
    async with phone.house.link() as link:
        for number in range(220):
            await link.open(f"s{number}", "agent", title=f"Session {number}")
    page = await phone.open("#/")
    await expect(page.locator(".dot.live")).to_be_visible()
    await expect(page.get_by_text("Session 219")).to_be_visible()
    await lose_link(phone)
    await pull(page, "scroller.scrollHeight")
    older = page.get_by_text("Older ones are not kept here: they need the link.")
    await expect(older).to_be_in_viewport()
    await expect(page.get_by_text("Session 20", exact=True)).to_be_in_viewport()
    await page.get_by_role("searchbox").fill("session 7")
    await expect(older).to_be_attached()
    await page.get_by_role("searchbox").fill("session 19")
    await expect(page.locator(".session")).to_have_count(10)
    await page.get_by_role("searchbox").fill("nowhere")
    await expect(older).to_be_visible()
    phone.house.start()
    await expect(page.get_by_text("No session has that in its title.")).to_be_visible()
    await page.get_by_role("searchbox").fill("session 19")
    await expect(page.locator(".session")).to_have_count(11)
    await expect(older).to_have_count(0)


@pytest.mark.parametrize(
    "wrong, right, heading",
    [
        ("#/foo/bar", "#/", "laptop"),
        ("#/s/", "#/", "laptop"),
        ("#nowhere", "#/", "laptop"),
        ("#/s/s/r/zz%zz", "#/s/s/r/0000", "#0000"),
        ("#/s/s/r/", "#/s/s", "Mend the roof"),
        ("#/s/s/nowhere/1", "#/s/s", "Mend the roof"),
        ("#/s/s/files/x", "#/s/s/files", "Files read"),
        ("#/s/s/r/0001?line=-3", "#/s/s/r/0001", "#0001 read"),
        ("#/s/%E0%A4%A", "#/s/%25E0%25A4%25A", "%E0%A4%A"),
        ("#/settings/x", "#/settings", "Settings"),
    ],
)
async def test_an_address_that_leads_nowhere_becomes_that_of_what_is_shown(
    phone: Phone, wrong: str, right: str, heading: str
) -> None:
    async with phone.house.link() as link:
        await tell_roof(link)
    page = await phone.open(wrong)
    await expect(page.get_by_role("heading", level=1)).to_have_text(heading)
    assert await page.evaluate("location.hash") == right
    await phone.show("#/settings")
    await phone.show(wrong)
    await expect(page.get_by_role("heading", level=1)).to_have_text(heading)
    assert await page.evaluate("location.hash") == right
    await page.go_back()
    assert await page.evaluate("location.hash") == ("#/settings" if wrong != "#/settings/x" else right)


async def test_all_of_what_a_tool_was_asked_can_be_seen(phone: Phone) -> None:
    command = "\n".join(f"echo {number}" for number in range(1, 501))
    async with phone.house.link() as link:
        session = await link.open("s", "agent")
        await session.result("bash", {"command": command, "timeout_s": 7, "env": {"A": ["b"]}}, "done")
    page = await phone.open("#/s/s/r/0001")
    await page.get_by_role("link", name="as asked").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("#0001 as asked bash")
    rows = page.locator(".row")
    await expect(rows.first).to_contain_text("echo 1")
    said = {await rows.nth(at).locator("code").inner_text() for at in range(await rows.count())}
    assert {"command: echo 1", "  echo 2", "  echo 30"} <= said
    await scrolled(page, 1)
    await expect(rows.last).to_contain_text("timeout_s: 7")
    await expect(page.locator(".row[data-line='500']")).to_contain_text("  echo 500")


async def test_what_a_tool_was_asked_that_is_too_long_for_the_page_is_told_so(phone: Phone) -> None:
    async with phone.house.link() as link:
        session = await link.open("s", "agent")
        await session.result("bash", {"command": "x" * 900_000}, "done")
    page = await phone.open("#/s/s")
    told = "What was asked has 900,014 characters: the page does not get them, “waybread export” does."
    await expect(page.locator(".card.result")).to_contain_text(told)
    await page.locator("a.id").first.click()
    await page.get_by_role("link", name="as asked").click()
    await expect(page.locator(".row")).to_contain_text(told)
