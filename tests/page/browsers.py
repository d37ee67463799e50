"""The browsers that the page is tried in: Debian's, and installed from Debian where the machine has none."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"),
]
"""For Chromium: it asks nobody for anything, and runs as root, as it has to in a container."""
_INSTALL_TIMEOUT_S = 300
_MINI_BROWSERS = ["usr/lib/*/webkit*gtk-*/MiniBrowser", "usr/lib*/webkit*gtk-*/MiniBrowser"]
"""Where Debian and others have it."""


@dataclass(frozen=True)
class WebKit:
    """What drives WebKitGTK: its driver, its small browser, and an X server without a screen."""

    driver: str
    browser: str
    xvfb: str


@functools.cache
def installed(program: str, *packages: str) -> str:
    """Where that program is. It is installed where one may; the test is skipped where it cannot be had. `packages`: what
    Debian calls it, or called it before.
    """
    known = shutil.which(program)
    if known is not None:
        return known
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        pytest.skip(f"{program} is not installed, and is only installed by root on a Debian")
    if not any(map(_installs, packages)):
        subprocess.run(["apt-get", "update", "-q"], capture_output=True, check=False, timeout=_INSTALL_TIMEOUT_S)
        any(map(_installs, packages))
    known = shutil.which(program)
    if known is None:
        pytest.skip(f"{program} is not installed, and Debian's package {packages[0]} could not be installed")
    return known


def _installs(package: str) -> bool:
    done = subprocess.run(
        ["apt-get", "install", "-q", "-y", "--no-install-recommends", package],
        env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
        capture_output=True,
        check=False,
        timeout=_INSTALL_TIMEOUT_S,
    )
    return done.returncode == 0


def chromium_path() -> str:
    """Debian's Chromium, as people have it."""
    return installed("chromium", "chromium")


def headless_path() -> str:
    """Debian's Chromium without its windows, which takes half of the time; or the whole one where there is only that."""
    try:
        return installed("chromium-headless-shell", "chromium-headless-shell")
    except pytest.skip.Exception:
        return chromium_path()


def firefox_path() -> str:
    """Debian's Firefox ESR."""
    return installed("firefox-esr", "firefox-esr")


def webkit() -> WebKit:
    """Debian's WebKitGTK."""
    driver = installed("WebKitWebDriver", "webkit2gtk-driver", "webkitgtk-webdriver")
    xvfb = installed("Xvfb", "xvfb")
    browsers = sorted(str(path) for pattern in _MINI_BROWSERS for path in Path("/").glob(pattern))
    if not browsers:
        pytest.skip("WebKitGTK's MiniBrowser is not where distributions put it")
    return WebKit(driver, browsers[-1], xvfb)
