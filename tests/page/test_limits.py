"""A browser that does not answer fails a test, and does not hold it up."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest
from playwright.async_api import Browser

from tests.page import limits
from tests.page.limits import bounded, limited, watched

pytestmark = pytest.mark.asyncio(loop_scope="session")


def first_bytes(path: Path) -> bytes:
    """Of a file, which is gone then."""
    found = path.read_bytes()
    path.unlink()
    return found[:4]


async def test_what_is_never_done_fails_and_leaves_a_picture_of_the_page(chromium: Browser) -> None:
    page = await chromium.new_page()
    async with watched(page):
        with pytest.raises(AssertionError, match="waiting hangs: it was not done after 1 s") as caught:
            async with limited("waiting", 1):
                await page.evaluate("new Promise(() => {})")
    await page.close()
    path = re.search(r"about:blank, as in (\S+\.png)", str(caught.value))
    assert path is not None
    assert first_bytes(Path(path[1])) == b"\x89PNG"


async def test_a_script_without_an_end_is_told_of_and_its_page_can_be_closed(
    chromium: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "_PHOTO_S", 1)
    context = await chromium.new_context()
    page = await context.new_page()
    async with watched(page):
        with pytest.raises(AssertionError, match="its own script may be what hangs"):
            async with limited("looping", 1):
                await page.evaluate("for (;;);")
    async with limited("closing", 20):
        await context.close()


async def test_a_test_of_the_page_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    async def waits() -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(limits, "MOST_TEST_S", 0.1)
    with pytest.raises(AssertionError, match=r"waits hangs: .* Pages: none"):
        await bounded(waits)()


async def test_every_test_in_a_browser_is_bounded(request: pytest.FixtureRequest) -> None:
    here = Path(__file__).parent
    tests = [item for item in request.session.items if isinstance(item, pytest.Function) and here in item.path.parents]
    asynchronous = [item for item in tests if limits.is_async(item.obj)]
    assert asynchronous
    assert [item.nodeid for item in asynchronous if not hasattr(item.obj, "__wrapped__")] == []


async def test_a_limit_of_the_test_s_own_is_not_taken_for_a_hang() -> None:
    with pytest.raises(TimeoutError):
        async with limited("all", 10), asyncio.timeout(0):
            await asyncio.Event().wait()
