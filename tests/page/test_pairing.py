"""A phone is let in, and leaves again."""

from __future__ import annotations

import json
import re
import ssl
from pathlib import Path

import pytest
import trustme
from playwright.async_api import Browser, Page, expect

from tests.page.browsing import House, Phone, offered, phone_at
from tests.page.cables import cable_to
from tests.page.printed import printed
from tests.running import waybread

pytestmark = pytest.mark.asyncio(loop_scope="session")

UNTRUSTED = ("fetching the script", "ERR_TOO_MANY_RETRIES")
"""What Chromium says of a service worker that comes with a certificate it does not trust, with its windows and without."""


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


async def test_all_that_the_command_prints_is_understood_by_the_field(stranger: Phone) -> None:
    house = stranger.house
    for words, columns in [((), 0), (("--qr",), 0), (("--json",), 0), ((), 80), ((), 40), (("--qr",), 24)]:
        page = await stranger.open("#/pair")
        with printed(house, *words, columns=columns) as said:
            await page.get_by_label("Link or code").fill(said)
            await page.get_by_role("button", name="Pair").click()
            await expect(page.get_by_role("heading", level=1)).to_have_text("laptop")
            if not columns:
                assert await understood(page, pieces(said)) == [{"url": house.daemon.url, "code": code_in(said)}]


async def test_with_tls_too(tmp_path: Path, chromium: Browser) -> None:
    cert, key = certificate(tmp_path)
    house = House(tmp_path / "data", "--tls-cert", str(cert), "--tls-key", str(key))
    try:
        async with phone_at(house, chromium, ignore_https_errors=True) as phone:
            page = phone.page
            for words, columns in [((), 0), (("--json",), 0), ((), 80), ((), 40)]:
                await page.goto("about:blank")
                await page.goto(f"https://127.0.0.1:{house.port}/#/pair")
                with printed(house, *words, columns=columns) as said:
                    await page.get_by_label("Link or code").fill(said)
                    await page.get_by_role("button", name="Pair").click()
                    await expect(page.get_by_role("heading", level=1)).to_have_text("laptop")
                    if not columns:
                        assert await understood(page, pieces(said)) == [
                            {"url": house.daemon.url, "code": code_in(said)}
                        ]
            with printed(house, "--json") as said:
                await page.goto("about:blank")
                await page.goto(f"{json.loads(said)['page']}&x=1")
                await page.get_by_role("button", name="Pair").click()
                await expect(page.get_by_role("heading", level=1)).to_have_text("laptop")
            # A browser keeps no page whose certificate it does not trust.
            assert [fault for fault in phone.faults if not any(word in fault for word in UNTRUSTED)] == []
    finally:
        house.close()


def certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate that no browser trusts, and its key."""
    cert, key = folder / "cert.pem", folder / "key.pem"
    issued = trustme.CA().issue_cert("127.0.0.1")
    issued.cert_chain_pems[0].write_to_path(cert)
    issued.private_key_pem.write_to_path(key)
    return cert, key


def code_in(said: str) -> str:
    found = re.search(r"\b\w{4}-\w{4}-\w{5}-\w{4}-\w{4}-\w{5}\b", said)
    assert found is not None
    return found[0].replace("-", "")


def pieces(said: str) -> list[str]:
    """What a person may copy of it, or make of that."""
    code = code_in(said)
    if said.startswith("{"):
        told = json.loads(said)
        shown, link, address = told["code"], told["link"], told["page"]
        texts = [
            address,
            address.removeprefix("http://").removeprefix("https://"),
            f"{link} {shown}",
            f"{shown}\n{link}",
        ]
    else:
        lines = said.splitlines()
        first = next(at for at, line in enumerate(lines) if line.startswith("link "))
        link, shown = lines[first], lines[first + 1]
        texts = [said, f"{link}\n{shown}", f"{link}{shown}", "\n".join(lines[first:]), shown]
        shown = shown.removeprefix("code").strip()
    texts += [shown, code, f"pair={code}", f"#pair={code}&x=1", shown.replace("-", " "), shown.replace("-", "\n")]
    texts += [shown.replace("-", "\u2014"), shown.replace("0", "O").replace("1", "l")]
    texts += [text.lower() for text in texts]
    return [*texts, *[f"{text}  " for text in texts], *[f"{text}." for text in texts], *[f'"{text}"' for text in texts]]


async def understood(page: Page, texts: list[str]) -> list[dict[str, str]]:
    """What the field makes of them, each of it once."""
    found: list[dict[str, str]] = await page.evaluate(
        """async (texts) => {
          const { linkUrl, readOffer } = await import('/js/core/pairings.js');
          return texts.map((text) => readOffer(text, linkUrl(location.href)));
        }""",
        texts,
    )
    return [one for at, one in enumerate(found) if one not in found[:at]]


WRONG = "That code is wrong, used or too old. Make a new one with `waybread pair`."


async def pair_with(page: Page, text: str) -> None:
    await page.get_by_label("Link or code").fill(text)
    await page.get_by_role("button", name="Pair").click()


async def test_what_is_no_code_and_a_wrong_code_are_told_in_sentences(stranger: Phone) -> None:
    page = await stranger.open()
    await pair_with(page, "hello")
    await expect(page.get_by_role("alert")).to_contain_text("neither a pairing link nor a code")
    door = stranger.house.door
    for address in (
        f"ws://127.0.0.1:{door}/link",
        f"link         ws://127.0.0.1:{door}/link ",
        f"page  http://127.0.0.1:{door}/",
    ):
        await pair_with(page, "hello")
        await pair_with(page, address)
        await expect(page.get_by_role("alert")).to_have_text("That is only an address: copy the code as well.")
    await pair_with(page, "0" * 26)
    await expect(page.get_by_role("alert")).to_have_text(WRONG)


async def test_an_address_whose_code_was_used_is_told_and_another_one_pairs(stranger: Phone) -> None:
    page = stranger.page
    with offered(stranger.house) as used:
        await page.goto(used["page"])
        await page.get_by_role("button", name="Pair").click()
        await expect(page.get_by_role("heading", level=1)).to_have_text("laptop")
        await page.go_back()
        await page.go_forward()
        await expect(page.get_by_role("heading", level=1)).to_have_text("laptop")
    # By a bookmark, or in the browser's history: in a new tab, and in one that is open already.
    for begin in ("about:blank", f"{stranger.house.url}#/settings"):
        await page.goto(begin)
        await page.goto(used["page"])
        await expect(page.locator(".offer")).to_have_text(f"Code {used['code']}")
        await page.get_by_role("button", name="Pair").click()
        await expect(page.get_by_role("alert")).to_have_text(WRONG)
        await expect(page.locator(".offer")).to_have_count(0)
        await expect(page.get_by_label("Link or code")).to_be_focused()
    with offered(stranger.house) as fresh:
        await page.evaluate("address => { location.href = address }", fresh["page"])
        await expect(page.get_by_role("alert")).to_have_text("")
        await page.get_by_role("button", name="Pair").click()
        await expect(page.get_by_role("heading", level=1)).to_have_text("laptop")


async def test_a_daemon_that_cannot_be_reached_is_told_and_the_code_stays(house: House, chromium: Browser) -> None:
    async with phone_at(house, chromium) as phone:
        page = phone.page
        with offered(house) as lost:
            await page.goto(lost["page"])
        house.kill()
        await page.get_by_role("button", name="Pair").click()
        await expect(page.get_by_role("alert")).to_have_text(f"127.0.0.1:{house.port} cannot be reached.")
        await expect(page.locator(".offer")).to_have_text(f"Code {lost['code']}")


async def test_who_tried_too_often_is_told_to_wait(tmp_path: Path, chromium: Browser) -> None:
    house = House(tmp_path / "data")
    house.kill()
    (tmp_path / "data/waybread.toml").write_text("max_failed_hellos = 2\n")
    house.start()
    try:
        async with phone_at(house, chromium) as phone:
            page = await phone.open()
            for _ in range(2):
                await pair_with(page, "0" * 26)
                await expect(page.get_by_role("alert")).to_have_text(WRONG)
            await pair_with(page, "0" * 26)
            await expect(page.get_by_role("alert")).to_have_text(
                "The daemon takes no link from here just now. Wait a minute, then try again."
            )
    finally:
        house.close()


async def test_a_daemon_behind_a_proxy_that_it_does_not_know_says_what_its_owner_does(
    house: House, tmp_path: Path, chromium: Browser
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate(tmp_path))
    async with cable_to(house.port, context) as proxy, phone_at(house, chromium, ignore_https_errors=True) as phone:
        page = phone.page
        await page.goto(f"https://127.0.0.1:{proxy.port}/")
        with offered(house) as offer:
            await pair_with(page, offer["code"])
            await expect(page.get_by_role("alert")).to_have_text(
                "The daemon does not know this address of the page: name it in public_url or allowed_origins."
            )


async def test_the_phone_is_known_by_the_name_that_it_was_given(stranger: Phone) -> None:
    with offered(stranger.house) as offer:
        page = await stranger.open()
        await page.get_by_label("Name of this phone").fill("Anna\u2019s phone")
        await pair_with(page, offer["code"])
        await expect(page.get_by_role("heading", level=1)).to_have_text("laptop")
    (listed,) = [json.loads(waybread("device", "list", "--json", data=stranger.house.daemon.data).stdout)]
    assert [token["name"] for token in listed["tokens"] if token["name"]] == ["phone", "Anna\u2019s phone"]


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
