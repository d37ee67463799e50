"""Browsers for the tests of the views, and a daemon with sessions to look at."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, async_playwright

from tests.page.browsers import FLAGS, headless_path
from tests.page.browsing import House, Phone, phone_at, tell_hostile, tell_many, tell_story
from tests.page.limits import bounded, is_async, limited

LOADED_ENTRIES = 700
"""More than one page of the log and more than what is kept."""


def pytest_itemcollected(item: pytest.Item) -> None:
    if isinstance(item, pytest.Function) and is_async(item.obj):
        item.obj = bounded(item.obj)


@pytest_asyncio.fixture(loop_scope="session", scope="session")
async def chromium() -> AsyncGenerator[Browser]:
    """Debian's Chromium."""
    path = headless_path()
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        async with limited("closing Chromium"):
            await browser.close()


@pytest_asyncio.fixture(loop_scope="session", scope="session")
async def library(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[House]:
    """A daemon with sessions that tests look at and do not change: `many`, `hostile`, `parser`."""
    house = House(tmp_path_factory.mktemp("library") / "data")
    try:
        async with house.link() as link:
            await tell_many(link, LOADED_ENTRIES)
            await tell_hostile(link)
            await tell_story(link)
        yield house
    finally:
        house.close()


@pytest.fixture
def house(tmp_path: Path) -> Generator[House]:
    """A daemon of the test's own, empty, which it may kill and start again."""
    house = House(tmp_path / "data")
    try:
        yield house
    finally:
        house.close()


@pytest_asyncio.fixture(loop_scope="session")
async def reader(library: House, chromium: Browser) -> AsyncGenerator[Phone]:
    """A phone paired with the library. Nothing that it does may make the browser complain."""
    async with phone_at(library, chromium) as phone:
        await phone.pair()
        yield phone
        assert phone.faults == []


@pytest_asyncio.fixture(loop_scope="session")
async def phone(house: House, chromium: Browser) -> AsyncGenerator[Phone]:
    """A phone paired with the test's own daemon."""
    async with phone_at(house, chromium) as phone:
        await phone.pair()
        yield phone
        assert phone.real_faults() == []


@pytest_asyncio.fixture(loop_scope="session")
async def stranger(house: House, chromium: Browser) -> AsyncGenerator[Phone]:
    """A phone that is not paired."""
    async with phone_at(house, chromium) as phone:
        yield phone
        assert phone.real_faults() == []
