"""Text that tries to be more than text, in every place that a tool, a model or a name can fill."""

from __future__ import annotations

import pytest
from playwright.async_api import Page, expect

from tests.page.browsing import Phone
from waybread_client import Change

pytestmark = pytest.mark.asyncio(loop_scope="session")

SCRIPT = "<script>alert('script')</script>"
IMAGE = "<img src=x onerror=alert('image')>"
LINK = "<a href=javascript:alert('link')>tap</a>"
STYLE = "<style>*{display:none}</style>"
ESCAPE, NULL, OVERRIDE, POP, BELL = "\x1b[31m", "\0", "\u202e", "\u202c", "\a"
HOSTILE = f"{SCRIPT}{IMAGE}{LINK}{STYLE}{ESCAPE}{NULL}{OVERRIDE}reversed{POP}{BELL}"
SHORT = f"{LINK}{ESCAPE}{NULL}{OVERRIDE}reversed{POP}{BELL}"
"""Names of turns and tools are short."""
MARKS = [
    "U+001B escape",
    "U+0000 null",
    "U+202E right-to-left override",
    "U+202C pop directional formatting",
    "U+0007 bell",
]
IN_WORDS = [mark for mark in MARKS if mark.startswith("U+202")]
"""On one line control characters are already put into words, as in brackets."""
PATH = f"{IMAGE}{OVERRIDE}gnp.exe"
_HIDDEN = "[\\0-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u202a-\\u202e\\u2066-\\u2069]"


async def marks(page: Page, selector: str) -> list[str]:
    """Of which characters the marks in a place stand."""
    found: list[str] = await page.locator(selector).first.evaluate(
        "place => [...place.querySelectorAll('.mark')].map((mark) => mark.title)"
    )
    return found


async def nothing_came_of_it(page: Page) -> None:
    """No element is of the text's making, and nothing that would not be seen is in a place of the page."""
    assert (
        await page.locator("main :is(script, img, style, iframe, object), header :is(script, img, style)").count() == 0
    )
    assert await page.locator("a[href^='javascript:']").count() == 0
    hidden = await page.evaluate(
        f"[...document.querySelectorAll('h1, main *')].filter((one) => new RegExp('{_HIDDEN}').test(one.textContent)).length"
    )
    assert hidden == 0


async def test_it_is_text_in_every_view_and_what_hides_is_marked(phone: Phone) -> None:
    dialogs: list[str] = []

    async def dismiss(dialog: object) -> None:
        dialogs.append(str(dialog))

    phone.page.on("dialog", dismiss)
    async with phone.house.link() as link:
        session = await link.open("s", "agent", title=HOSTILE, directory=f"/home/{HOSTILE}")
        await session.turn(SHORT)
        await session.message("user", HOSTILE)
        await session.result(SHORT, {"command": HOSTILE}, f"{HOSTILE}\n{HOSTILE}\n")
        await session.read(PATH, f"/home/{PATH}", f"{HOSTILE}\n".encode(), args={"path": PATH})
        await session.change([Change(PATH, f"/home/{PATH}", f"{HOSTILE}\n".encode(), b"gone\n")], args={"path": PATH})
        await session.message("assistant", f"{HOSTILE} #0001")
    page = await phone.open()
    await expect(page.locator(".session .title")).to_contain_text(SCRIPT)
    assert await marks(page, ".session .title") == MARKS
    assert await marks(page, ".session .directory") == MARKS
    assert await marks(page, ".session .last") == IN_WORDS
    await nothing_came_of_it(page)
    await page.locator(".session").click()
    await expect(page.locator("h1")).to_contain_text(IMAGE)
    assert await marks(page, "h1") == MARKS
    assert SCRIPT in await page.title()
    assert OVERRIDE not in await page.title()
    await page.locator(".scroller").evaluate("scroller => { scroller.scrollTop = 0 }")
    for place in (".turn", ".message .text", ".tool-name", ".asked"):
        await expect(page.locator(place).first).to_contain_text(LINK)
        assert await marks(page, place) == (IN_WORDS if place == ".asked" else MARKS), place
    await nothing_came_of_it(page)
    await page.locator("a.id", has_text="#0001").first.click()
    await expect(page.locator(".row[data-line='2'] code")).to_contain_text(SCRIPT)
    assert await marks(page, ".row[data-line='2']") == MARKS
    await nothing_came_of_it(page)
    await phone.show("#/s/s/files")
    await expect(page.locator(".path")).to_contain_text(IMAGE)
    assert await marks(page, ".path") == ["U+202E right-to-left override"]
    await nothing_came_of_it(page)
    for address in (f"#/s/{SCRIPT}", f"#/s/s/r/{IMAGE}", f"#/d/{LINK}/s/{IMAGE}", "#/s/%00/r/%E0%A4%A"):
        await phone.open(address)
        await expect(page.locator("h1")).to_be_visible()
        await nothing_came_of_it(page)
    assert dialogs == []


async def test_the_title_of_a_session_cannot_turn_the_names_beside_it(phone: Phone) -> None:
    async with phone.house.link() as link:
        for name in ("one", "two"):
            await (await link.open(name, "agent", title=f"{OVERRIDE}{name}")).message("user", "Said.")
    page = await phone.open()
    await expect(page.locator(".session")).to_have_count(2)
    # The letters stand in the order in which they were written: the first is left of the last.
    places: list[list[float]] = await page.locator(".session .title").evaluate_all(
        """titles => titles.map((title) => {
          const text = title.lastChild;
          const at = (from) => {
            const range = document.createRange();
            range.setStart(text, from);
            range.setEnd(text, from + 1);
            return range.getBoundingClientRect().left;
          };
          return [at(0), at(2)];
        })"""
    )
    assert [first < last for first, last in places] == [True, True]
