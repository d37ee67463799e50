"""Pictures of the page for people to look at: made anew by each run, in the ignored folder `.cache-page/pictures`."""

from __future__ import annotations

import pytest
from playwright.async_api import Browser, Page, expect

from tests.page.browsing import House, phone_at
from tests.page.npm import FOLDER

pytestmark = pytest.mark.asyncio(loop_scope="session")

PICTURES = FOLDER / "pictures"
PHONE = (390, 844)
DESKTOP = (1280, 800)


async def to_the_diff(page: Page) -> None:
    """Shows a stub, a diff and a repeat."""
    await page.locator(".scroller").evaluate("scroller => { scroller.scrollTop = 520 }")
    await expect(page.locator(".label.diff").first).to_be_attached()


@pytest.mark.parametrize(
    "name, size, scheme",
    [("phone-light", PHONE, "light"), ("phone-dark", PHONE, "dark"), ("desktop", DESKTOP, "light")],
)
async def test_pictures(library: House, chromium: Browser, name: str, size: tuple[int, int], scheme: str) -> None:
    PICTURES.mkdir(parents=True, exist_ok=True)
    viewport = {"width": size[0], "height": size[1]}
    async with phone_at(library, chromium, viewport=viewport, device_scale_factor=1, color_scheme=scheme) as phone:
        await phone.pair()
        page = await phone.open()
        for view, address in {
            "sessions": "#/",
            "transcript": "#/s/parser",
            "hostile": "#/s/hostile",
            "result": "#/s/parser/r/0006?line=800",
            "files": "#/s/parser/files",
            "settings": "#/settings",
            "pair": "#/pair",
        }.items():
            await phone.show(address)
            await expect(page.get_by_role("heading", level=1)).to_be_visible()
            await expect(page.get_by_text("Loading…")).to_have_count(0)
            if view == "transcript":
                await to_the_diff(page)
            await page.wait_for_timeout(300)
            picture = await page.screenshot(path=PICTURES / f"{name}-{view}.png", animations="disabled")
            assert picture.startswith(b"\x89PNG")
            assert len(picture) > 5_000
        assert phone.faults == []
