"""A machine of one's own to install on: this one's files below, everything that is written above, gone at the end.

It is a mount namespace and a process namespace of its own over an overlay of `/`, entered by `chroot`. `/tmp` and `/run`
are empty there, `/proc` is its own; the network is this machine's, because pip may need it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Self

import pytest

from tests.house.checkout import ROOT

# Ends when its standard input does, so also when the tests are killed; and buries every process whose parent is gone.
_HOLD = """
set -e
merged=$1
mount -t overlay overlay -o "lowerdir=/,upperdir=$2,workdir=$3" "$merged"
mount -t proc proc "$merged/proc"
mount --rbind /dev "$merged/dev"
mount -t tmpfs tmpfs "$merged/tmp" -o mode=1777
mount -t tmpfs tmpfs "$merged/run" -o mode=755
checkout=$4
if [ "$5" = hidden ]; then
    [ ! -d "$merged$checkout" ] || mount -t tmpfs tmpfs "$merged$checkout" -o mode=755,ro
elif [ ! -e "$merged$checkout/deploy" ]; then
    mkdir -p "$merged$checkout"
    mount --bind "$checkout" "$merged$checkout"
fi
echo mounted
trap '' CHLD
exec cat
"""
_TRY = """
d=$(mktemp -d) && trap 'umount -l "$d"; rmdir "$d"' EXIT && mount -t tmpfs tmpfs "$d" && mkdir "$d/u" "$d/w" "$d/m" &&
    mount -t overlay overlay -o "lowerdir=/usr,upperdir=$d/u,workdir=$d/w" "$d/m"
"""
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def why_no_root() -> str:
    """Why a root of one's own cannot be had here, empty where it can."""
    if os.geteuid() != 0:
        return "needs root, for a mount namespace with an overlay"
    for tool in ("unshare", "nsenter", "setpriv", "mount"):
        if shutil.which(tool) is None:
            return f"needs the program {tool}"
    tried = subprocess.run(["unshare", "--mount", "sh", "-c", _TRY], capture_output=True, text=True, check=False)
    return f"no overlay can be mounted here: {tried.stderr.strip()}" if tried.returncode else ""


needs_root = pytest.mark.skipif(bool(why_no_root()), reason=why_no_root())


class Root:
    """One such machine, between `with` and its end. `upper` holds what was written in it; the checkout is seen or not."""

    def __init__(self, place: Path, *, checkout: bool = True) -> None:
        self._place = place
        self.upper = place / "upper"
        self.merged = place / "merged"
        work = place / "work"
        for folder in (self.upper, self.merged, work):
            folder.mkdir(parents=True)
        # A folder of the overlay has the modes of the one below it.
        self.upper.chmod(0o755)
        self._holder = subprocess.Popen(
            ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", _HOLD, "hold",
             str(self.merged), str(self.upper), str(work), str(ROOT), "shown" if checkout else "hidden"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self._holder.stdout is not None
        if self._holder.stdout.readline() != "mounted\n":
            self.__exit__()
            raise AssertionError("no root: what mount said stands above")

    def entered(self, *words: str) -> list[str]:
        """A command line as one that is carried out among the root's mounts and processes, not yet within it."""
        spaces = f"/proc/{self._holder.pid}/ns"
        return ["nsenter", f"--mount={spaces}/mnt", f"--pid={spaces}/pid_for_children", "--", *words]

    def inside(self, *words: str) -> list[str]:
        """A command line as one that is carried out within the root, from its `/`."""
        return self.entered("chroot", str(self.merged), *words)

    def run(
        self, *words: str, check: bool = True, env: dict[str, str] | None = None, **options: str
    ) -> subprocess.CompletedProcess[str]:
        """Carries a command out within the root, as its root user."""
        done = subprocess.run(
            self.inside(*words), capture_output=True, text=True, check=False, timeout=240,
            env=plain_environment() | (env or {}), input=options.get("input"),
        )  # fmt: skip
        assert not check or done.returncode == 0, (words, done.stdout[-3000:], done.stderr[-3000:])
        return done

    def write(self, path: str, text: str, mode: str = "644") -> None:
        """A file in the root."""
        script = 'mkdir -p "$(dirname "$1")" && cat >"$1" && chmod "$2" "$1"'
        self.run("sh", "-c", script, "write", path, mode, input=text)

    def read(self, path: str) -> str:
        """What a file in the root says."""
        return self.run("cat", path).stdout

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._holder.stdin is not None
        assert self._holder.stdout is not None
        self._holder.stdin.close()
        self._holder.wait(30)
        self._holder.stdout.close()
        shutil.rmtree(self._place)


def plain_environment() -> dict[str, str]:
    """What root has after it logs in; and what this machine says to pip, which everyone here has to go by."""
    kept = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_"))}
    return {**kept, "PATH": _PATH, "HOME": "/root", "LANG": "C.UTF-8"}


def tree(folder: Path) -> dict[str, tuple[int, int]]:
    """Every file below: its mode and when it was last written."""
    found: dict[str, tuple[int, int]] = {}
    for path in sorted(folder.rglob("*")):
        stat = path.lstat()
        if not path.is_dir():
            found[path.relative_to(folder).as_posix()] = (stat.st_mode, stat.st_mtime_ns)
    return found
