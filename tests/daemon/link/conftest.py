"""A daemon for the tests of the link."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tests.daemon.served import Served, serving


@pytest.fixture
async def served(tmp_path: Path) -> AsyncGenerator[Served, None]:
    async with serving(tmp_path) as daemon:
        yield daemon
