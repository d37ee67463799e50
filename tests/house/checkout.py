"""The checkout as the tests about the house see it: its root and the files that belong to it."""

from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Where each package stands, and the folder under tests/ that mirrors it.
PACKAGES = {
    "daemon/waybread_daemon": "tests/daemon",
    "protocol/waybread_protocol": "tests/protocol",
    "protocol/waybread_client": "tests/client",
    "conformance/waybread_conformance": "tests/conformance",
}

# What Python, its tools and pip write beside the sources.
_MADE = {"__pycache__", "build", "dist"}
# The hidden names that belong to the project; every other one is a tool's cache or a virtual environment.
_HIDDEN = {".ci", ".gitignore"}


def _belongs(name: str) -> bool:
    return name in _HIDDEN if name.startswith(".") else name not in _MADE and not name.endswith(".egg-info")


def files(folder: Path = ROOT) -> Iterator[Path]:
    """Every file of the project under `folder`. It asks no git, so an unpacked archive is checked, too."""
    for path in sorted(folder.iterdir()):
        if not _belongs(path.name):
            continue
        if path.is_dir():
            yield from files(path)
        else:
            yield path


def texts() -> Iterator[tuple[str, str]]:
    """Each text file of the project: its path from the root, with `/`, and what it says."""
    for path in files():
        try:
            yield path.relative_to(ROOT).as_posix(), path.read_bytes().decode()
        except UnicodeDecodeError:
            continue


def modules(package: str) -> Iterator[str]:
    """The modules of a package as paths from its folder: `hygiene/ids.py`."""
    folder = ROOT / package
    for path in files(folder):
        if path.suffix == ".py":
            yield path.relative_to(folder).as_posix()
