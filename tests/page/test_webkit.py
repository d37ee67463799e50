"""The main ways through the page in WebKit, the engine of Safari and of every browser on an iPhone."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator

import pytest
import pytest_asyncio

from tests.page.browsers import webkit
from tests.page.browsing import House, offered
from tests.page.webdriver import ENTER, Driver, Tab, screen

pytestmark = pytest.mark.asyncio(loop_scope="session")

LIVE = "document.querySelector('.dot.live') !== null"
LAST = "[...document.querySelectorAll('.message .text')].at(-1)?.textContent === given[0]"
SAID = ".message .text"
COUNTS = """async () => {
  const { openDatabase } = await import('/js/core/database.js');
  const database = await openDatabase();
  const stores = ['pairings', 'sessions', 'entries', 'windows'];
  const counts = await Promise.all(stores.map(async (store) => [store, (await database.all(store)).length]));
  database.close();
  return Object.fromEntries([...counts, ['caches', (await caches.keys()).length], ['storage', localStorage.length]]);
}"""
"""How much the browser keeps of each kind."""
KEPT = f"return ({COUNTS})()"
OVER = """
const wide = document.documentElement.clientWidth;
return [...document.querySelectorAll('header, header *, .stage, .scroller, .rows, .slot, .session, form, form *')]
  .filter((one) => one.getBoundingClientRect().right > wide + 1).map((one) => one.outerHTML.slice(0, 100));
"""
SMALL = """return [...document.querySelectorAll('input:not([type=checkbox])')]
  .filter((one) => parseFloat(getComputedStyle(one).fontSize) < 16).map((one) => one.outerHTML)"""


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Generator[Driver]:
    found = webkit()
    with screen(found.xvfb) as display:
        yield Driver(found, display, tmp_path_factory.mktemp("webkit"))


@pytest_asyncio.fixture(loop_scope="session")
async def reading(driver: Driver, library: House) -> AsyncGenerator[Tab]:
    """WebKit paired with the library."""
    async with driver.tab(library) as tab:
        await tab.pair()
        yield tab


async def test_a_link_pairs_with_one_tap_and_leaves_no_code_in_the_address(driver: Driver, house: House) -> None:
    async with house.link() as link, driver.tab(house) as tab:
        await link.open("s", "agent", title="Mend the roof")
        with offered(house) as offer:
            await tab.go(offer["page"])
            await tab.until("location.hash === '#/pair'")
            await tab.click("button[type=submit]", "Pair")
            await tab.shows("Mend the roof")
        assert "pair" not in await tab.run("return location.href")
        assert await tab.texts("h1") == ["laptop"]
        kept = await tab.run(KEPT)
        assert kept["pairings"] == 1
        assert kept["storage"] == 0


async def test_a_typed_code_pairs_and_a_wrong_one_is_told(driver: Driver, house: House) -> None:
    async with driver.tab(house) as tab:
        with offered(house) as offer:
            await tab.open()
            await tab.type("#code", f"{'0' * 26}{ENTER}")
            await tab.shows("That code is wrong")
            await tab.run("document.querySelector('#code').select()")
            await tab.type("#code", f"{offer['code'].lower().replace('-', ' ')}{ENTER}")
            await tab.until("document.querySelector('h1').textContent === 'laptop'")


async def test_sessions_a_transcript_and_a_result_behind_its_id(reading: Tab) -> None:
    await reading.open()
    await reading.until("document.querySelectorAll('.session').length === 3")
    assert (await reading.texts(".session .title"))[0] == "Fix the parser"
    await reading.click(".session", "Fix the parser")
    await reading.shows("The parser was mended")
    await reading.until(LIVE)
    await reading.until("document.querySelector('.scroller').scrollTop > 0")
    await reading.click(".message a.id", "#0006")
    await reading.until("document.querySelector('h1').textContent === '#0006 bash'")
    await reading.until("document.querySelector('.row[data-line=\"1\"] code')?.textContent === 'output 1'")
    await reading.back()
    await reading.shows("The parser was mended")
    await reading.until("document.activeElement.matches('.message a.id')")


async def test_windows_of_a_result_and_what_is_found_in_it(reading: Tab) -> None:
    await reading.open("#/s/parser/r/0006?line=1500")
    await reading.until("document.querySelector('.row[data-line=\"1500\"] code')?.textContent === 'output 1500'")
    await reading.run("const rows = document.querySelector('.rows'); rows.scrollTop = rows.scrollHeight")
    await reading.until("document.querySelector('.row[data-line=\"2000\"] code')?.textContent === 'output 2000'")
    assert await reading.run("return document.querySelectorAll('.row').length") < 200
    await reading.click("button", "Find")
    await reading.type("input[type=search]", f"output 777{ENTER}")
    await reading.until("document.querySelector('mark.current')?.textContent === 'output 777'")
    await reading.until("document.querySelector('.count').textContent === '1 of 1'")
    place = await reading.run(
        "const { top, bottom } = document.querySelector('mark.current').getBoundingClientRect();"
        "return top > 0 && bottom < innerHeight"
    )
    assert place is True


async def test_a_person_s_tap_copies_lines(reading: Tab) -> None:
    await reading.open("#/s/parser/r/0006")
    await reading.until("document.querySelector('.row[data-line=\"1\"] code')?.textContent === 'output 1'")
    await reading.click("button", "Copy")
    await reading.click("button", "Lines 1")
    await reading.until("document.querySelector('.panel .count').textContent === 'Copied.'")


async def test_hostile_text_is_text(reading: Tab) -> None:
    await reading.open("#/s/hostile")
    await reading.shows("<script>")
    marked = "[...document.querySelectorAll('.mark')].some((mark) => mark.title === given[0])"
    await reading.until(marked, "U+202E right-to-left override")
    await reading.until(marked, "U+001B escape")
    assert await reading.run("return document.querySelectorAll('main :is(script, img)').length") == 0
    assert await reading.run("return document.title") != "taken"


@pytest.mark.parametrize(
    "dark, ground", [(False, "rgb(246, 248, 243)"), (True, "rgb(20, 26, 18)")], ids=["light", "dark"]
)
async def test_it_is_light_or_dark_as_the_phone_is_and_nothing_goes_over_the_side(
    driver: Driver, library: House, dark: bool, ground: str
) -> None:
    async with driver.tab(library, dark=dark) as tab:
        await tab.pair()
        await tab.open()
        assert await tab.run("return getComputedStyle(document.body).backgroundColor") == ground
        for address in (
            "#/",
            "#/s/parser",
            "#/s/hostile",
            "#/s/parser/r/0006",
            "#/s/parser/files",
            "#/settings",
            "#/pair",
        ):
            await tab.open(address)
            await tab.until("document.querySelector('main') !== null && !document.body.innerText.includes('Loading…')")
            assert await tab.run(OVER) == [], address


async def test_no_field_is_so_small_that_an_iphone_zooms_in_on_it(reading: Tab) -> None:
    for address, opener in (("#/", ""), ("#/pair", ""), ("#/s/parser/r/0006", "Find"), ("#/s/parser/r/0006", "Go to")):
        await reading.open(address)
        if opener:
            await reading.click("button", opener)
        await reading.until("document.querySelector('input') !== null")
        assert await reading.run(SMALL) == [], address


async def test_it_follows_and_is_right_again_after_the_daemon_was_killed(driver: Driver, house: House) -> None:
    async with house.link() as link, driver.tab(house) as tab:
        session = await link.open("s", "agent")
        await session.message("user", "Message 1.")
        await tab.pair()
        await tab.open("#/s/s")
        await tab.until(LIVE)
        await tab.run("window.mark = 1")
        for number in range(2, 6):
            await session.message("user", f"Message {number}.")
        await tab.until(LAST, "Message 5.")
        house.kill()
        await tab.shows("Reconnecting since")
        house.start()
        for number in range(6, 10):
            await session.message("user", f"Message {number}.")
        await tab.until(LAST, "Message 9.")
        await tab.until(LIVE)
        assert await tab.texts(SAID) == [f"Message {number}." for number in range(1, 10)]
        assert await tab.run("return window.mark") == 1


async def test_a_page_that_one_has_left_opens_again_and_comes_back(driver: Driver, house: House) -> None:
    async with house.link() as link, driver.tab(house) as tab:
        session = await link.open("s", "agent")
        await session.message("user", "One.")
        await tab.pair()
        for _ in range(3):
            await tab.open("#/s/s")
            await tab.shows("One.")
            # WebKit freezes the page as it is, and with it what that was about to write.
            await tab.go(house.plain_url)
        await tab.back()
        await tab.shows("One.")
        await session.message("user", "Two.")
        await tab.shows("Two.")
        await tab.until(LIVE)
        await tab.until(f"({COUNTS})().then((kept) => kept.entries === 3)")


async def test_without_a_daemon_it_opens_on_what_it_keeps_and_then_forgets_all(driver: Driver, house: House) -> None:
    async with driver.tab(house) as tab:
        async with house.link() as link:
            session = await link.open("s", "agent")
            await session.message("user", "Kept.")
            await tab.pair()
            await tab.open("#/s/s")
            await tab.shows("Kept.")
            await tab.until(LIVE)
        await tab.until("navigator.serviceWorker.controller?.state === 'activated'")
        await tab.until(f"({COUNTS})().then((kept) => kept.sessions === 2 && kept.entries === 2)")
        await tab.call("POST", "/url", {"url": "about:blank"})
        house.kill()
        await tab.open("#/s/s")
        await tab.shows("Kept.")
        await tab.shows("Reconnecting since")
        await tab.shows("old.")
        house.start()
        await tab.until(LIVE)
        await tab.open("#/settings")
        await tab.click("button", "Forget everything")
        await tab.click("dialog button", "Forget")
        await tab.shows("Pair this phone")
        assert set((await tab.run(KEPT)).values()) == {0}
