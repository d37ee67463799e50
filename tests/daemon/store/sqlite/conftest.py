"""A store with something of every kind in it, filled once a file of tests and copied for each test."""

import shutil
from pathlib import Path

import pytest

from tests.daemon.store.filled import fill


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("whole") / "s"
    fill(path)
    return path


@pytest.fixture
def path(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(whole, tmp_path / "s"))
