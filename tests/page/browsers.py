"""The browsers that the page is tried in: Debian's, and installed from Debian where the machine has none."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess

import pytest

FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"),
]
"""For Chromium: it asks nobody for anything, and runs as root, as it has to in a container."""
_INSTALL_TIMEOUT_S = 300


@functools.cache
def installed(program: str, package: str) -> str:
    """Where that program is. It is installed where one may; the test is skipped where it cannot be had."""
    known = shutil.which(program)
    if known is not None:
        return known
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        pytest.skip(f"{program} is not installed, and is only installed by root on a Debian")
    if not _installs(package):
        subprocess.run(["apt-get", "update", "-q"], capture_output=True, check=False, timeout=_INSTALL_TIMEOUT_S)
        _installs(package)
    known = shutil.which(program)
    if known is None:
        pytest.skip(f"{program} is not installed, and Debian's package {package} could not be installed")
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
    """Debian's Chromium."""
    return installed("chromium", "chromium")


def firefox_path() -> str:
    """Debian's Firefox ESR."""
    return installed("firefox-esr", "firefox-esr")
