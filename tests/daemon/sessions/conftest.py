"""An office with the agent session `s` open."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tests.daemon.office import Office, an_office


@pytest.fixture
async def office(tmp_path: Path) -> AsyncGenerator[Office, None]:
    async with an_office(tmp_path, "s") as opened:
        yield opened
