"""The page on screens of every size, with letters of every size: everything can be read and tapped."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from tests.page.browsing import House, Phone, phone_at, tell_hostile, tell_many, tell_story
from tests.page.looking import SPACED, TEXT_ALONE, at_rest, complaints
from tests.running import waybread
from waybread_client import Link

pytestmark = pytest.mark.asyncio(loop_scope="session")

LONG = "Mend the parser of numbers so that it takes what people write, and hold it by tests"
FROM_RIGHT = "תקן את המנתח של המספרים כך שיבין מה שאנשים כותבים"
DEEP = "/home/me/src/a-rather-deep/folder-of-a-project/with/packages/parser"
COMMAND = "grep -rn 'raise ValueError' src tests | sort | uniq -c | sort -rn | head -50 && make test"


async def tell_long(link: Link, session: str, title: str) -> None:
    """A session whose title, directory and command are long. Result: 1."""
    told = await link.open(session, "agent", title=title, directory=DEEP)
    await told.turn("1")
    await told.message("user", title)
    await told.result("bash", {"command": COMMAND}, "\n".join(f"line {number} of what it said" for number in range(30)))


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def gallery(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[House]:
    """A daemon with sessions that are hard to show on small screens."""
    house = House(tmp_path_factory.mktemp("gallery") / "data")
    try:
        async with house.link() as link:
            await tell_many(link, 60)
            await tell_hostile(link)
            await tell_story(link)
            await tell_long(link, "long", LONG)
            await tell_long(link, "right", FROM_RIGHT)
        yield house
    finally:
        house.close()


async def press(page: Page, name: str) -> None:
    await page.get_by_role("button", name=name).click()


async def find(page: Page) -> None:
    await press(page, "Find")
    await page.get_by_role("searchbox").fill("output 9")
    await page.get_by_role("searchbox").press("Enter")
    await expect(page.locator(".count")).to_contain_text("of")


async def go_to(page: Page) -> None:
    await press(page, "Go to")


async def copy(page: Page) -> None:
    await press(page, "Copy")


async def as_sent(page: Page) -> None:
    await page.get_by_role("link", name="as sent").click()


async def to_start(page: Page) -> None:
    await page.locator(".scroller").evaluate("scroller => { scroller.scrollTop = 0 }")


async def forget(page: Page) -> None:
    await press(page, "Forget everything")


async def only_look(_page: Page) -> None:
    pass


VIEWS: list[tuple[str, Callable[[Page], Awaitable[None]]]] = [
    ("#/", only_look),
    ("#/s/parser", only_look),
    ("#/s/parser", to_start),
    ("#/s/long", only_look),
    ("#/s/right", to_start),
    ("#/s/hostile", to_start),
    ("#/s/parser/r/0006?line=1800", only_look),
    ("#/s/parser/r/0006", find),
    ("#/s/parser/r/0006", go_to),
    ("#/s/parser/r/0006?line=1800", copy),
    ("#/s/long/r/0001", only_look),
    ("#/s/parser/r/0003", as_sent),
    ("#/s/parser/r/ffff", only_look),
    ("#/s/parser/files", only_look),
    ("#/s/none", only_look),
    ("#/pair", only_look),
    ("#/settings", only_look),
    ("#/settings", forget),
]
SIZES = [(320, 640), (390, 844), (844, 390), (1280, 800)]
_LARGER = "percent => document.documentElement.style.setProperty('font-size', `${percent}%`)"


async def at_100(_page: Page) -> None:
    pass


async def at_150(page: Page) -> None:
    await page.evaluate(_LARGER, 150)


async def at_200(page: Page) -> None:
    await page.evaluate(_LARGER, 200)


async def at_200_alone_and_spaced(page: Page) -> None:
    await page.evaluate(TEXT_ALONE, 2)
    await page.evaluate(SPACED)


async def from_right_to_left(page: Page) -> None:
    await page.evaluate("document.documentElement.setAttribute('dir', 'rtl')")


LETTERS = [at_100, at_150, at_200, at_200_alone_and_spaced]


@pytest.mark.parametrize(
    "size, letters",
    [(size, letters) for size in SIZES for letters in LETTERS]
    + [((320, 256), at_100), ((390, 844), from_right_to_left)],
    ids=lambda value: value.__name__ if callable(value) else f"{value[0]}x{value[1]}",
)
async def test_every_view_can_be_read_and_tapped(
    gallery: House, chromium: Browser, size: tuple[int, int], letters: Callable[[Page], Awaitable[None]]
) -> None:
    async with phone_at(gallery, chromium, viewport={"width": size[0], "height": size[1]}) as phone:
        await phone.pair()
        page = await phone.open()
        await expect(page.locator(".dot.live")).to_be_visible()
        await letters(page)
        for address, act in VIEWS:
            # By way of another view, so that what the one before opened is closed.
            await phone.show("#/s/none")
            await phone.show(address)
            await at_rest(page)
            await act(page)
            assert await complaints(page) == [], f"{address} {act.__name__}"
            if act is forget:
                await press(page, "Cancel")
        await phone.lose_network()
        for address in ("#/s/right", "#/s/parser/r/0006", "#/"):
            await phone.show(address)
            await expect(page.locator(".banner")).to_contain_text("Offline since")
            assert await complaints(page) == [], f"{address} offline"


async def test_what_is_said_of_a_pairing_that_was_taken_back_can_be_read_with_large_letters(phone: Phone) -> None:
    page = await phone.open()
    await page.set_viewport_size({"width": 320, "height": 320})
    await at_200(page)
    await expect(page.locator(".dot.live")).to_be_visible()
    waybread("device", "revoke", phone.house.device, data=phone.house.daemon.data)
    await expect(page.get_by_role("heading", level=1)).to_have_text("Not paired any more")
    assert await complaints(page) == [], "revoked"
    last = page.get_by_role("button", name="Sign out")
    await last.scroll_into_view_if_needed()
    await expect(last).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize("letters", [at_200, at_200_alone_and_spaced])
async def test_lines_have_their_place_when_letters_grow_while_one_reads(
    gallery: House, chromium: Browser, letters: Callable[[Page], Awaitable[None]]
) -> None:
    async with phone_at(gallery, chromium) as phone:
        await phone.pair()
        page = await phone.open("#/s/parser/r/0006?line=1000")
        await at_rest(page)
        await letters(page)
        await at_rest(page)
        await expect(page.locator(".seen")).to_contain_text("1,000")
        await expect(page.locator(".row[data-line='1000']")).to_be_in_viewport(ratio=0.9)
        await page.locator(".rows").press("End")
        await expect(page.locator(".row[data-line='2000']")).to_be_in_viewport(ratio=0.9)
        await page.locator(".rows").press("Home")
        await expect(page.locator(".row[data-line='1']")).to_be_in_viewport(ratio=0.9)


_UNDER = """link => {
  const { left, top, width, height } = link.getBoundingClientRect();
  const at = document.elementFromPoint(left + width / 2, top + height / 2);
  return at?.closest('.to-end') !== null;
}"""
_PUT_UNDER = """() => {
  const { top, height } = document.querySelector('.to-end').getBoundingClientRect();
  const fold = document.querySelector('.fold');
  const place = fold.getBoundingClientRect();
  document.querySelector('.scroller').scrollTop += place.top + place.height / 2 - top - height / 2;
}"""

_FOCUS_BEFORE = """() => {
  const links = [...document.querySelectorAll('.slot :is(a, button)')];
  links[links.indexOf(document.querySelector('.fold')) - 1].focus({ preventScroll: true });
}"""


async def test_the_button_to_the_end_never_lies_over_what_has_the_focus_or_the_last_line(
    gallery: House, chromium: Browser
) -> None:
    async with phone_at(gallery, chromium, viewport={"width": 320, "height": 640}) as phone:
        await phone.pair()
        page = await phone.open()
        await at_200(page)
        await phone.show("#/s/parser")
        await at_rest(page)
        await to_start(page)
        await at_rest(page)
        await page.evaluate(_PUT_UNDER)
        await at_rest(page)
        fold = page.locator(".fold").first
        assert await fold.evaluate(_UNDER)
        await page.evaluate(_FOCUS_BEFORE)
        assert await fold.evaluate(_UNDER)
        await page.keyboard.press("Tab")
        await expect(fold).to_be_focused()
        await at_rest(page)
        assert not await fold.evaluate(_UNDER)
        await press(page, "To the end")
        await expect(page.locator(".to-end")).to_be_hidden()
        await expect(page.locator(".scroller")).to_be_focused()
        last = page.locator(".message .text").last
        await expect(last).to_be_in_viewport(ratio=1)
        assert not await last.evaluate(_UNDER)
