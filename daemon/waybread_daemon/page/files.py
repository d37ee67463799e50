"""The files of the page as a browser gets them: read once, packed once, and never looked for by a path from outside.

What only people read, comments and the spaces before a line, stays here: a phone does without a third of the bytes. Lines
keep their numbers, so what a browser says of a line is found in the source.
"""

from __future__ import annotations

import functools
import gzip
import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

STATIC = Path(__file__).parent / "static"

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".webmanifest": "application/manifest+json",
}
"""What is served; other files beside them (a licence, a list of hashes) are for people who read the source."""
_PACKED = (".html", ".css", ".js", ".svg", ".webmanifest")
_LEAN = (".js", ".css")
_FOR_PEOPLE = re.compile(
    r"^[ \t]*(?://.*|/\*(?:(?!\*/)[\s\S])*\*/[ \t]*)$"  # a comment that has its lines to itself
    r"|/\*\* @\w+ \{(?:(?!\*/).)*\*/ ?"  # a type within a line
    r"|^[ \t]+",
    re.MULTILINE,
)
"""Comments, and the spaces before a line. No text of ours goes over several lines, or looks like a type."""
_WORKER = "/sw.js"
_INDEX = "/index.html"
_SHELL_LINE = "const SHELL = { version: '', files: [''] };"
"""Stands in the service worker and is filled in with the version and the paths of all files."""
_MODULES_LINE = "    <!-- modules -->\n"
"""Stands in the page and is filled in with its modules, so that a browser fetches them all at once."""


class File(NamedTuple):
    """`body` is sent as it is, `packed` (gzip; None where it is not worth it) to those who take it. `tag` changes with the body."""

    content_type: str
    body: bytes
    packed: bytes | None
    tag: str


class Shell(NamedTuple):
    """All files by their paths from outside, and the version of them together: another one where any of them differs."""

    version: str
    files: Mapping[str, File]


@functools.cache
def shell(static: Path = STATIC) -> Shell:
    """Reads the files. The page itself is at `/`."""
    bodies = {
        f"/{path.relative_to(static).as_posix()}": _lean(path.read_bytes())
        if path.suffix in _LEAN
        else path.read_bytes()
        for path in sorted(static.rglob("*"))
        if path.suffix in _TYPES
    }
    modules = [path for path in bodies if path.startswith(("/js/", "/vendor/"))]
    links = "".join(f'    <link rel="modulepreload" href="{path}">\n' for path in modules)
    bodies["/"] = _filled(bodies.pop(_INDEX), _MODULES_LINE, links)
    version = hashlib.sha256()
    for path, body in sorted(bodies.items()):
        version.update(f"{path}\0{len(body)}\0".encode() + body)
    name = version.hexdigest()[:16]
    paths = sorted(path for path in bodies if path != _WORKER)
    told = json.dumps({"version": name, "files": paths})
    bodies[_WORKER] = _filled(bodies[_WORKER], _SHELL_LINE, f"const SHELL = {told};")
    return Shell(name, {path: _file(path, body) for path, body in bodies.items()})


def _lean(body: bytes) -> bytes:
    """Without what is for people."""
    return _FOR_PEOPLE.sub(lambda match: "\n" * match.group().count("\n"), body.decode()).encode()


def _filled(body: bytes, line: str, text: str) -> bytes:
    before, found, after = body.decode().partition(line)
    if not found:
        raise LookupError(f"the page's files have no line {line.strip()!r} to fill in")
    return (before + text + after).encode()


def _file(path: str, body: bytes) -> File:
    suffix = Path(path).suffix or ".html"
    # Without a time in it: the same file is packed the same.
    packed = gzip.compress(body, 9, mtime=0) if suffix in _PACKED else None
    return File(_TYPES[suffix], body, packed, hashlib.sha256(body).hexdigest()[:32])
