"""A phone is let in, and leaves again."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from tests.page.browsing import Phone, offered
from tests.running import waybread

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_the_address_of_the_qr_code_pairs_with_one_tap_and_leaves_no_code_behind(stranger: Phone) -> None:
    async with stranger.house.link() as link:
        await link.open("s", "agent", title="Mend the roof")
        with offered(stranger.house) as offer:
            page = stranger.page
            await page.goto(offer["page"])
            await expect(page.locator(".offer")).to_have_text(f"Code {offer['code']}")
            assert await page.evaluate("location.hash") == "#/pair"
            await page.get_by_role("button", name="Pair").click()
            await expect(page.get_by_role("heading", level=1)).to_have_text("laptop")
            await expect(page.locator(".session .title")).to_have_text("Mend the roof")
            assert "pair" not in await page.evaluate("location.href")


async def test_a_typed_code_pairs_in_any_case_and_grouping(stranger: Phone) -> None:
    with offered(stranger.house) as offer:
        page = await stranger.open()
        await page.get_by_label("Link or code").fill(offer["code"].lower().replace("-", " "))
        await page.get_by_label("Name of this phone").fill("My phone")
        await page.get_by_role("button", name="Pair").click()
        await expect(page.get_by_role("heading", level=1)).to_have_text("laptop")


async def test_what_is_no_code_and_a_wrong_code_are_told_in_sentences(stranger: Phone) -> None:
    page = await stranger.open()
    await page.get_by_label("Link or code").fill("hello")
    await page.get_by_role("button", name="Pair").click()
    await expect(page.get_by_role("alert")).to_contain_text("neither a pairing link nor a code")
    await page.get_by_label("Link or code").fill("0" * 26)
    await page.get_by_role("button", name="Pair").click()
    await expect(page.get_by_role("alert")).to_contain_text("code")
    await expect(page.get_by_role("alert")).not_to_contain_text("neither")


async def test_signing_out_forgets_the_token_and_the_cache(phone: Phone) -> None:
    async with phone.house.link() as link:
        await link.open("s", "agent", title="Mend the roof")
    page = await phone.open()
    await expect(page.locator(".session")).to_have_count(1)
    await page.get_by_role("link", name="Settings").click()
    await page.get_by_role("button", name="Sign out of laptop").click()
    await page.get_by_role("dialog").get_by_role("button", name="Sign out").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Pair this phone")
    kept = await page.evaluate(
        """async () => {
          const { openDatabase } = await import('/js/core/database.js');
          const database = await openDatabase();
          const counts = {};
          for (const store of ['pairings', 'sessions', 'entries', 'windows']) {
            counts[store] = (await database.all(store)).length;
          }
          return counts;
        }"""
    )
    assert kept == {"pairings": 0, "sessions": 0, "entries": 0, "windows": 0}


async def test_forgetting_everything_asks_first_and_leaves_nothing(phone: Phone) -> None:
    page = await phone.open("#/settings")
    await page.get_by_role("button", name="Forget everything").click()
    await page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    await expect(page.get_by_role("dialog")).to_have_count(0)
    await page.get_by_role("button", name="Forget everything").click()
    await page.get_by_role("dialog").get_by_role("button", name="Forget").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Pair this phone")


async def test_a_revoked_phone_is_told_so_and_can_pair_again(phone: Phone) -> None:
    page = await phone.open()
    await expect(page.locator(".dot.live")).to_be_visible()
    waybread("device", "revoke", phone.house.device, data=phone.house.daemon.data)
    await expect(page.get_by_role("heading", level=1)).to_have_text("Not paired any more")
    await page.get_by_role("link", name="Pair again").click()
    await expect(page.get_by_label("Link or code")).to_be_visible()
