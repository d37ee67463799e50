"""A limit for every wait in a browser. Playwright waits without end for a page that does not answer."""

from __future__ import annotations

import asyncio
import functools
import inspect
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from playwright.async_api import Error, Page

MOST_TEST_S = 180
"""For a whole test. The longest take some 20 s on a machine that does nothing else."""
MOST_STEP_S = 60
"""For what comes before and after one: a page that is opened or closed."""
_PHOTO_S = 10
_open: list[Page] = []
"""The pages that are open, the last one at the end."""


@asynccontextmanager
async def watched(page: Page) -> AsyncGenerator[None]:
    """Within the block a hang shows what is in that page."""
    _open.append(page)
    try:
        yield
    finally:
        _open.remove(page)


@asynccontextmanager
async def limited(what: str, most_s: float = MOST_STEP_S) -> AsyncGenerator[None]:
    """Fails where the block takes longer, at the line where it waits, and tells what the pages show."""
    limit = asyncio.timeout(most_s)
    try:
        async with limit:
            yield
    except TimeoutError as fault:
        if not limit.expired():
            raise
        seen = "; ".join([await _photo(page) for page in _open])
        raise AssertionError(f"{what} hangs: it was not done after {most_s:.0f} s. Pages: {seen or 'none'}") from fault


def bounded(test: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    """That test, with a limit."""

    @functools.wraps(test)
    async def run(*given: Any, **named: Any) -> None:
        async with limited(getattr(test, "__name__", "the test"), MOST_TEST_S):
            await test(*given, **named)

    return run


def is_async(test: object) -> bool:
    return inspect.iscoroutinefunction(test)


async def _photo(page: Page) -> str:
    """Where a page is, and the file with a picture of it."""
    path = Path(tempfile.gettempdir()) / f"waybread-page-{id(page):x}.png"
    try:
        async with asyncio.timeout(_PHOTO_S):
            await page.screenshot(path=path, animations="allow")
    except (Error, TimeoutError) as fault:
        return f"{page.url} does not answer ({type(fault).__name__}: its own script may be what hangs)"
    return f"{page.url}, as in {path}"
