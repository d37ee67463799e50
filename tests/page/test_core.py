"""The models of the page, without a browser: `node --test` runs what stands in `core/`.

The files are copied beside those of the page as the daemon serves them, where `../js/core/…` leads to them and npm's
packages are found by name.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.page.npm import packages
from tests.running import environment
from waybread_daemon.page.files import STATIC, shell

CORE = Path(__file__).parent / "core"
FILES = sorted(path.name for path in CORE.glob("*.test.js"))


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the page's modules, the tests, and npm's packages."""
    installed = packages()
    folder = tmp_path_factory.mktemp("page")
    for path, file in shell().files.items():
        if path.startswith("/js/"):
            (folder / path[1:]).parent.mkdir(parents=True, exist_ok=True)
            (folder / path[1:]).write_bytes(file.body)
    shutil.copytree(CORE, folder / "core")
    (folder / "node_modules").symlink_to(installed / "node_modules")
    (folder / "package.json").write_text(json.dumps({"type": "module"}))
    return folder


def test_every_module_of_the_core_has_a_test_file() -> None:
    modules = {path.stem for path in (STATIC / "js/core").glob("*.js")} - {"types", "surroundings"}
    assert modules - {name.removesuffix(".test.js") for name in FILES} == set()


@pytest.mark.parametrize("name", FILES)
def test_core(name: str, workshop: Path, tmp_path: Path) -> None:
    node = shutil.which("node")
    assert node is not None
    done = subprocess.run(
        [node, "--test", "--test-reporter=tap", str(workshop / "core" / name)],
        env={**environment(tmp_path / "data"), "PAGE_PYTHON": sys.executable, "TMPDIR": str(tmp_path)},
        cwd=workshop,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    assert "# fail 0" in done.stdout
    assert "# tests 0" not in done.stdout
