"""What a person sees of sessions, results and files."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import Page, expect

from tests.page.browsing import HOSTILE, Phone, seen_ids, tell_many

pytestmark = pytest.mark.asyncio(loop_scope="session")

CARD = ".card.result"


async def top(page: Page) -> float:
    """How far the list is scrolled."""
    return float(await page.locator(".scroller").evaluate("scroller => scroller.scrollTop"))


async def scrolled_to(page: Page, top_px: int) -> None:
    await page.locator(".scroller").evaluate("(scroller, top) => { scroller.scrollTop = top }", top_px)


async def test_sessions_stand_with_the_last_changed_first(reader: Phone) -> None:
    page = await reader.open()
    await expect(page.locator(".session .title")).to_have_count(3)
    assert (await page.locator(".session .title").all_inner_texts())[0] == "Fix the parser"
    first = page.locator(".session").first
    await expect(first).to_contain_text("The parser was mended; #0006 has the lines.")
    await expect(first).to_contain_text("/home/me/src/parser")
    await expect(first).to_contain_text("10 results")


async def test_a_search_finds_by_title_and_says_where_nothing_is(reader: Phone) -> None:
    page = await reader.open()
    await page.get_by_role("searchbox", name="Search by title").fill("PARSER")
    await expect(page.locator(".session .title")).to_have_text(["Fix the parser"])
    await page.get_by_role("searchbox", name="Search by title").fill("nowhere")
    await expect(page.get_by_text("No session has that in its title.")).to_be_visible()


async def test_a_search_by_title_finds_letters_however_they_are_put_together(phone: Phone) -> None:
    async with phone.house.link() as link:
        await link.open("one", "agent", title="The cafe\u0301")
        await link.open("two", "agent", title="The \u00dcberfall")
    page = await phone.open()
    await expect(page.locator(".session .title")).to_have_count(2)
    for sought, title in (("CAF\u00c9", "The cafe\u0301"), ("u\u0308ber", "The \u00dcberfall")):
        await page.get_by_role("searchbox", name="Search by title").fill(sought)
        await expect(page.locator(".session .title")).to_have_text([title])


async def test_each_result_says_what_it_is_in_words(reader: Phone) -> None:
    page = await reader.open("#/s/parser")
    await expect(page.locator(CARD).first).to_be_visible()
    labels: dict[str, list[str]] = {}
    for place in range(0, 3000, 300):
        await scrolled_to(page, place)
        await page.wait_for_timeout(60)
        for card in await page.locator(CARD).all():
            labels[await card.locator(".head a.id").inner_text()] = await card.locator(".label").all_inner_texts()
    assert labels == {
        "#0001": [],
        "#0002": ["stub of #0001"],
        "#0003": ["diff"],
        "#0004": [],
        "#0005": ["stub of #0004"],
        "#0006": ["capped"],
        "#0007": ["recall"],
        "#0008": ["error"],
        "#0009": ["taken back"],
        "#000a": ["diff"],
    }


async def test_the_text_stands_as_it_was_sent(reader: Phone) -> None:
    page = await reader.open("#/s/parser")
    await scrolled_to(page, 0)
    stub = page.locator(CARD).filter(has_text="stub of #0001")
    assert await stub.locator(".text").inner_text() == (
        "[#0002 src/parser.py lines 40-80 of 240 sha 70d5ee76] Unchanged since #0001, which already shows lines 1-120."
    )


async def test_an_id_in_a_text_leads_to_its_result_and_back_to_the_same_place(reader: Phone) -> None:
    page = await reader.open("#/s/parser")
    await expect(page.locator(".message").first).to_be_visible()
    await scrolled_to(page, 200)
    await page.wait_for_timeout(200)
    place = await top(page)
    link = page.locator(".text a.id", has_text="#0001").last
    await link.click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("#0001 read")
    await expect(page.locator(".row").first).to_contain_text("line_1 = 1")
    await page.go_back()
    await expect(link).to_be_focused()
    assert abs(await top(page) - place) <= 1


async def test_the_elided_line_leads_to_what_was_left_out(reader: Phone) -> None:
    page = await reader.open("#/s/parser")
    await expect(page.locator(".message").first).to_be_visible()
    await page.locator(".scroller").evaluate("scroller => { scroller.scrollTop = 700 }")
    elided = page.locator("a.elided")
    await expect(elided).to_have_text("[1700 lines elided, full output #0006]")
    await elided.click()
    await expect(page.locator(".seen")).to_contain_text("201")
    await expect(page.locator(".row[data-line='201']")).to_contain_text("output 201")


async def test_an_elided_line_that_an_output_quotes_hides_nothing_of_its_result(phone: Phone) -> None:
    quoted = "[5 lines elided, full output #0001]"
    output = "\n".join(quoted if number == 151 else f"l{number}" for number in range(1, 1001))
    async with phone.house.link() as link:
        await (await link.open("s", "agent")).result("bash", {"command": "cat log"}, output)
    page = await phone.open("#/s/s")
    await expect(page.locator("a.elided")).to_have_text("[700 lines elided, full output #0001]")
    await expect(page.locator(f"{CARD} pre").last).to_contain_text("l901")
    await page.get_by_role("button", name="Show").click()
    await expect(page.locator("a.elided")).to_have_text("[700 lines elided, full output #0001]")
    await expect(page.locator(CARD)).to_contain_text(f"l150\n{quoted}\nl152")


@pytest.mark.parametrize("other", ["1", "00001", "#1", "%20%230001"])
async def test_an_address_names_a_result_in_any_spelling_and_is_put_right(reader: Phone, other: str) -> None:
    page = await reader.open(f"#/s/parser/r/{other}?line=7")
    await expect(page.get_by_role("heading", level=1)).to_have_text("#0001 read")
    assert await page.evaluate("location.hash") == "#/s/parser/r/0001?line=7"
    await reader.show("#/s/parser/r/A")
    await expect(page.get_by_role("heading", level=1)).to_have_text("#000a apply_patch")
    assert await page.evaluate("location.hash") == "#/s/parser/r/000a"


@pytest.mark.parametrize("wrong,right", [("0", "0000"), ("-1", "0000"), ("zzzz", "0000"), ("fff", "0fff")])
async def test_an_address_of_no_result_says_so(reader: Phone, wrong: str, right: str) -> None:
    page = await reader.open(f"#/s/parser/r/{wrong}")
    await expect(page.get_by_text(f"This session has no result #{right}.")).to_be_visible()
    assert await page.evaluate("location.hash") == f"#/s/parser/r/{right}"


async def test_a_result_is_reachable_by_its_address(reader: Phone) -> None:
    page = await reader.open("#/s/parser/r/0006?line=1500")
    await expect(page.locator(".row[data-line='1500']")).to_contain_text("output 1500")
    await page.get_by_role("link", name="Back").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Fix the parser")


async def with_an_old_result(phone: Phone) -> None:
    """A session on its daemon whose first result is far ahead of what is loaded of it."""
    async with phone.house.link() as link:
        told = await link.open("many", "agent")
        await told.result("bash", {"command": "make old", "path": "src"}, "one\ntwo\n")
        await tell_many(link, 450)


async def test_an_old_result_that_is_reached_by_its_address_says_what_it_was_asked(phone: Phone) -> None:
    await with_an_old_result(phone)
    page = await phone.open("#/s/many/r/0001")
    await expect(page.locator(".sub")).to_have_text(re.compile("make old · in src.*2 lines.*as sent.*as asked"))
    await page.get_by_role("link", name="as sent").click()
    await expect(page.locator(".row").first).to_have_text(re.compile(r"\[#0001\]"))
    await expect(page.get_by_role("heading", level=1)).to_have_text("#0001 as sent bash")
    await page.get_by_role("link", name="as asked").click()
    await expect(page.locator(".row").first).to_have_text(re.compile("command: make old"))


async def test_an_old_result_without_a_link_has_its_lines_and_later_what_it_was_asked(phone: Phone) -> None:
    await with_an_old_result(phone)
    page = await phone.open("#/s/many/r/0001")
    asked = page.locator(".sub .code")
    await expect(asked).to_have_text("make old · in src")
    await phone.show("#/s/many")
    await expect(page.get_by_text("Message 450.")).to_be_visible()
    await page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    phone.house.kill()
    await phone.show("#/s/many/r/0001")
    await expect(page.locator(".row").first).to_contain_text("one")
    await expect(page.locator(".sub")).to_have_text("2 lines")
    await expect(page.locator(".notice")).to_have_count(0)
    phone.house.start()
    await expect(asked).to_have_text("make old · in src", timeout=20_000)


async def test_find_goes_from_place_to_place(reader: Phone) -> None:
    page = await reader.open("#/s/parser/r/0006")
    await page.get_by_role("button", name="Find").click()
    await page.get_by_role("searchbox").fill("OUTPUT 19")
    await page.get_by_role("searchbox").press("Enter")
    await expect(page.locator(".count")).to_have_text("1 of 111")
    await expect(page.locator("mark.current")).to_have_text("output 19")
    await page.get_by_role("button", name="The place before").click()
    await expect(page.locator(".count")).to_have_text("111 of 111")
    await expect(page.locator(".row[data-line='1999'] mark.current")).to_be_visible()


async def test_the_files_read_say_where_they_stand(reader: Phone) -> None:
    page = await reader.open("#/s/parser")
    await page.get_by_role("link", name="Files read").click()
    file = page.locator(".file")
    await expect(file).to_have_count(1)
    await expect(file).to_contain_text("src/parser.py")
    await expect(file).to_contain_text("lines 1–120 of 240")
    await expect(file).to_contain_text("not in the request")
    await expect(file).to_contain_text("changed since")


async def test_hostile_text_is_text_and_what_hides_is_shown(reader: Phone) -> None:
    page = await reader.open("#/s/hostile")
    await expect(page.locator(CARD).first).to_be_visible()
    await scrolled_to(page, 0)
    said = page.locator(".message .text")
    await expect(said).to_contain_text(HOSTILE)
    assert await said.locator(".mark").evaluate_all("marks => marks.map((mark) => mark.title)") == [
        "U+001B escape",
        "U+001B escape",
        "U+202E right-to-left override",
        "U+202C pop directional formatting",
    ]
    assert "taken" not in (await page.title()).removeprefix(HOSTILE)
    assert await page.locator("main script, main img").count() == 0


async def test_a_line_of_a_million_characters_is_shown_by_parts_and_searched_whole(reader: Phone) -> None:
    page = await reader.open("#/s/hostile/r/0002")
    await expect(page.get_by_role("button", name="the line goes on")).to_be_attached()
    await page.get_by_role("button", name="Find").click()
    await page.get_by_role("searchbox").fill("needle")
    await page.get_by_role("searchbox").press("Enter")
    await expect(page.locator("mark.current")).to_be_in_viewport()


async def test_only_what_is_near_is_in_the_page_and_older_entries_come_without_a_jump(reader: Phone) -> None:
    page = await reader.open("#/s/many")
    await expect(page.get_by_text("Message 700.")).to_be_visible()
    await page.mouse.move(200, 400)
    for _ in range(400):
        assert await page.locator(".slot").count() < 80
        if await page.get_by_text("Opened: an agent session").is_visible():
            break
        before = await page.evaluate(ANCHOR)
        await page.mouse.wheel(0, -900)
        after = await page.evaluate(PLACE_AFTER, before)
        # Each wheel moves what one looks at by as much, whatever is measured or loaded meanwhile; less at the beginning.
        if after is not None:
            assert abs(after - before[1] - 900) <= 2
    await expect(page.get_by_text("Opened: an agent session")).to_be_visible()
    await page.get_by_role("button", name="To the end").click()
    await expect(page.get_by_text("Message 700.")).to_be_visible()


ANCHOR = """() => {
  const slots = [...document.querySelectorAll('.slot')];
  const slot = slots.find((one) => one.getBoundingClientRect().top > 80);
  return [slot.querySelector('.text')?.textContent ?? slot.textContent, slot.getBoundingClientRect().top];
}"""
PLACE_AFTER = """async ([text, before]) => {
  for (const end = performance.now() + 5000; performance.now() < end; ) {
    await new Promise((done) => requestAnimationFrame(done));
    const slots = [...document.querySelectorAll('.slot')];
    const slot = slots.find((one) => (one.querySelector('.text')?.textContent ?? one.textContent) === text);
    const place = slot?.getBoundingClientRect().top ?? null;
    if (place === null || document.querySelector('.scroller').scrollTop === 0) return null;
    if (place !== before) return place;
  }
  return before;
}"""


async def test_the_ids_of_a_session_can_be_walked_by_keyboard(reader: Phone) -> None:
    page = await reader.open("#/s/parser")
    await expect(page.locator(".message").first).to_be_visible()
    await page.locator(".scroller").focus()
    await page.keyboard.press("Home")
    await expect(page.get_by_text("Opened: an agent session")).to_be_visible()
    assert (await seen_ids(page))[0] == "#0001"
    await page.keyboard.press("Tab")
    await expect(page.locator("a.id").first).to_be_focused()


async def test_a_turn_that_was_taken_back_is_dimmed_and_a_compaction_is_a_divider_with_its_table(reader: Phone) -> None:
    page = await reader.open("#/s/parser")
    compacted = page.locator(".compacted")
    await expect(compacted).to_contain_text("Compacted")
    await expect(compacted).to_contain_text("src/parser.py")
    taken = page.locator(CARD).filter(has_text="#0009").first
    await scrolled_to(page, 1500)
    await expect(taken).to_have_class(re.compile(r"\bgone\b"))
    await expect(page.get_by_text("Taken back: turn 2")).to_be_attached()
    kept = await page.locator(CARD).filter(has_text="#000a").first.evaluate("card => getComputedStyle(card).color")
    assert await taken.evaluate("card => getComputedStyle(card).color") != kept


async def test_a_compaction_of_a_turn_that_was_taken_back_is_dimmed_and_says_so(phone: Phone) -> None:
    await phone.pair()
    async with phone.house.link() as link:
        told = await link.open("undone", "agent")
        for turn in ("1", "2"):
            await told.turn(turn)
            await told.read(f"{turn}.txt", f"/home/me/{turn}.txt", b"one\n", args={"path": f"{turn}.txt"})
            await told.compact()
        await told.take_back(["2"])
    page = await phone.open("#/s/undone")
    kept, taken = page.locator(".compacted").first, page.locator(".compacted").last
    await expect(taken.locator(".rule .label")).to_have_text("taken back")
    await expect(taken.get_by_text("taken back", exact=True)).to_be_visible()
    await expect(taken.locator(".card")).to_have_class(re.compile(r"\bgone\b"))
    await expect(kept.locator(".label, .gone")).to_have_count(0)
    assert "taken back" in await taken.aria_snapshot()
    colors = [await one.locator(".card").evaluate("card => getComputedStyle(card).color") for one in (kept, taken)]
    assert colors[0] != colors[1]
