"""A root in which `deploy/install` finds what it asks for: a systemd that started the machine, or rather its stand-in."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

from tests.deploy.roots import Root
from tests.house.checkout import ROOT

SERVICE = "waybread.service"
FIRST = Path("/srv/checkout")
_PARTS = ("pyproject.toml", "README.md", "LICENSE", "daemon", "protocol", "conformance", "deploy")
_SYSTEMCTL = f"""#!/bin/sh
PYTHONPATH={ROOT} PYTHONDONTWRITEBYTECODE=1 exec {{python}} -m tests.deploy.stand_in "$@"
"""


def system_python() -> str:
    """A Python that a service may use, new enough and able to make virtual environments; empty where there is none."""
    own = os.path.realpath(sys.executable)
    for python in ("/usr/bin/python3.13", "/usr/bin/python3.12", "/usr/bin/python3.11", "/usr/bin/python3",
                   "/usr/local/bin/python3", own):  # fmt: skip
        if not python.startswith(("/root/", "/home/")) and _serves(python):
            return python
    return ""


def _serves(python: str) -> bool:
    script = "import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))"
    return Path(python).exists() and subprocess.run([python, "-c", script], check=False).returncode == 0


def booted(root: Root) -> None:
    """Makes a root look as if systemd had started it."""
    root.run("mkdir", "-p", "/run/systemd/system")
    root.write("/usr/bin/systemctl", _SYSTEMCTL.format(python=system_python()), "755")


def checkout(root: Root, version: str) -> Path:
    """The sources once more within the root, where nobody edits them meanwhile: as they are, or under another version."""
    place = FIRST.with_name(version) if version else FIRST
    root.run("mkdir", "-p", str(place))
    root.run("cp", "-r", *(f"{ROOT}/{part}" for part in _PARTS), str(place))
    if version:
        root.run("sed", "-i", f's/^version = .*/version = "{version}"/', f"{place}/pyproject.toml")
    return place


def install(root: Root, *words: str, check: bool = True, sources: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Runs the script as root does."""
    environment = {"WAYBREAD_PYTHON": system_python()}
    done = root.run("sh", f"{sources}/deploy/install", *words, check=False, env=environment)
    assert not check or done.returncode == 0, (
        done.stderr,
        root.run("sh", "-c", "cat /run/stand-in/*", check=False).stdout,
    )
    return done


def asked(root: Root) -> list[str]:
    """What systemctl has been asked so far."""
    return root.read("/run/stand-in/calls").splitlines()


def told(root: Root) -> list[str]:
    """What the daemon has told systemd so far."""
    return root.read(f"/run/stand-in/{SERVICE}.told").splitlines()


def log(root: Root) -> str:
    """The daemon's log."""
    return root.read(f"/run/stand-in/{SERVICE}.log")


def choose_port(root: Root) -> int:
    """A free port, written into the settings of the service that is to be installed; this machine's disk may be full."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = int(listener.getsockname()[1])
    root.write("/var/lib/waybread/waybread.toml", f"port = {port}\nfree_floor_bytes = 0\n")
    return port


def token(root: Root, name: str) -> str:
    """A token of the installed daemon, made as the owner makes one."""
    made = root.run("/usr/local/bin/waybread", "device", "add", name, "--json").stdout
    return str(json.loads(made)["token"])
