"""Every store of `stores.PLACES` in turn, opened for each test."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.daemon.store.stores import PLACES, Log, Place
from waybread_daemon.store.contract import Store


@pytest.fixture(params=PLACES, ids=lambda kind: str(kind.__name__))
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    kind: type[Place] = request.param
    return kind(tmp_path)


@pytest_asyncio.fixture
async def store(place: Place) -> AsyncIterator[Store]:
    opened = await place.open()
    yield opened
    place.mend_disk()
    await opened.close()


@pytest.fixture
def log(store: Store) -> Log:
    return Log(store)
