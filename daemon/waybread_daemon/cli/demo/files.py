"""The files that the demo works on, and the tools that a harness would bring: read, edit, search, run."""

from __future__ import annotations

import asyncio
import re
import shutil
import sys
from pathlib import Path

import waybread_daemon
from waybread_client import Change

PACKAGE = "waybread_daemon"


class Files:
    """A copy of this package's own sources. Paths are named from its folder, as a model names them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        source = Path(waybread_daemon.__file__).parent
        shutil.copytree(source, folder / PACKAGE, ignore=shutil.ignore_patterns("__pycache__"))

    def absolute(self, path: str) -> str:
        """The resolved path."""
        return str((self.folder / path).resolve())

    def read(self, path: str) -> bytes:
        """The whole file."""
        return (self.folder / path).read_bytes()

    def replace(self, path: str, old: str, new: str) -> Change:
        """Replaces the first `old` in a file by `new`."""
        before = self.read(path)
        return self._changed(path, before, before.decode().replace(old, new, 1).encode())

    def create(self, path: str, text: str) -> Change:
        """Writes a new file."""
        return self._changed(path, None, text.encode())

    def delete(self, path: str) -> Change:
        """Takes a file away."""
        return self._changed(path, self.read(path), None)

    def search(self, pattern: str, within: str) -> str:
        """The lines of the Python files under `within` that match, in the order of their names."""
        wanted = re.compile(pattern)
        return "".join(
            f"{path.relative_to(self.folder).as_posix()}:{number}: {line}\n"
            for path in sorted((self.folder / within).rglob("*.py"))
            for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
            if wanted.search(line)
        )

    async def run(self, *arguments: str) -> str:
        """What Python prints for these arguments, run in the folder."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-I",
            *arguments,
            cwd=self.folder,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        out, _ = await process.communicate()
        return out.decode("utf-8", "replace")

    def _changed(self, path: str, before: bytes | None, after: bytes | None) -> Change:
        place = self.folder / path
        if after is None:
            place.unlink()
        else:
            place.write_bytes(after)
        return Change(path, self.absolute(path), before, after)
