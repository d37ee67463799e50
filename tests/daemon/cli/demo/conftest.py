"""The demo, run once as a person runs it."""

from pathlib import Path

import pytest

from tests.daemon.cli.support import Ran, waybread


@pytest.fixture(scope="session")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    return waybread("demo", TMPDIR=str(place(tmp_path_factory)))


def place(factory: pytest.TempPathFactory) -> Path:
    """The demo leaves its store where temporary files go: here that is the test's own folder."""
    return factory.mktemp("demo")
