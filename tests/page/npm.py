"""What the tests of the page take from npm: fetched once into the ignored folder `.cache-page`, and part of no release."""

from __future__ import annotations

import functools
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.house.checkout import ROOT
from waybread_daemon.page.files import STATIC

FOLDER = ROOT / ".cache-page"
VENDORED: dict[str, Any] = json.loads((STATIC / "vendor/preact/vendored.json").read_text("utf-8"))
# A new release of a checker finds new faults: it is held to one line, as those of Python are.
PACKAGES = [
    "@mdn/browser-compat-data@8",
    "acorn@8",
    f"preact@{VENDORED['version']}",
    "fake-indexeddb@6",
    "puppeteer-core@25.16",
    "typescript@7.0",
    "ws@8",
]
_INSTALL_TIMEOUT_S = 300


@functools.cache
def packages() -> Path:
    """The folder with `node_modules`. The test is skipped where there is no npm, or no network on first use."""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        pytest.skip("node and npm are not installed")
    stamp = FOLDER / "stamp"
    wanted = "\n".join(PACKAGES)
    if not stamp.is_file() or stamp.read_text("utf-8") != wanted:
        FOLDER.mkdir(exist_ok=True)
        (FOLDER / "package.json").write_text('{"private": true}\n', "utf-8")
        install = [npm, "install", "--no-save", "--no-package-lock", "--no-audit", "--no-fund", *PACKAGES]
        done = subprocess.run(
            install, cwd=FOLDER, capture_output=True, text=True, timeout=_INSTALL_TIMEOUT_S, check=False
        )
        if done.returncode != 0:
            pytest.skip(f"npm could not install {', '.join(PACKAGES)}: {done.stderr.strip()[-300:]}")
        stamp.write_text(wanted, "utf-8")
    return FOLDER
