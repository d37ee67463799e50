"""Looks at all of a list of which only a part is ever in the page."""

from __future__ import annotations

from playwright.async_api import Page, expect

_WALK = """async () => {
  const scroller = document.querySelector('.scroller');
  const frame = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const said = new Map();
  for (let top = 0; ; top += 400) {
    scroller.scrollTop = top;
    await frame();
    for (const slot of document.querySelectorAll('.slot')) {
      const text = slot.querySelector('.message .text');
      if (text !== null) said.set(Number(slot.getAttribute('aria-posinset')), text.textContent);
    }
    if (top > scroller.scrollHeight) break;
  }
  return [...said.keys()].sort((one, other) => one - other).map((key) => said.get(key));
}"""


async def said_in(page: Page) -> list[str]:
    """Every message of a transcript that is loaded from its beginning, in order."""
    await page.locator(".scroller").evaluate("scroller => { scroller.scrollTop = 0 }")
    await expect(page.locator(".rule").first).to_be_attached()
    said: list[str] = await page.evaluate(_WALK)
    return said
