"""An office with the agent session `s` open, and its story."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tests.daemon.office import Office, an_office
from tests.daemon.sessions.story import Story


@pytest.fixture
async def office(tmp_path: Path) -> AsyncGenerator[Office, None]:
    async with an_office(tmp_path, "s") as opened:
        yield opened


@pytest.fixture
def story(office: Office) -> Story:
    return Story(office)
