"""The files of the page as a browser gets them: read once, packed once, and never looked for by a path from outside.

What only people read, comments and spaces, stays here: a phone does without half of the bytes. Names and all the rest are as
they were written, so what a browser says of its code is found in the source.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import deflate
from rcssmin import cssmin
from rjsmin import jsmin

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
_LEVEL = 12
"""The most that libdeflate does: some 1.5 % less than zlib's 9."""
_LEAN: Mapping[str, Callable[[str], str]] = {".js": jsmin, ".css": cssmin}
"""How the files of a kind are freed of what is for people."""
_TYPES_ALONE = b"export{};"
"""What is left of a module that only says what things are: nothing that a browser would need."""
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
def shell(static: Path = STATIC, also: str = "") -> Shell:
    """Reads the files. The page itself is at `/`. `also`: what else makes a version, because a kept file has it, too."""
    bodies = {
        f"/{path.relative_to(static).as_posix()}": path.read_bytes()
        for path in sorted(static.rglob("*"))
        if path.suffix in _TYPES
    }
    worker = bodies.pop(_WORKER)
    bodies = {path: lean for path, body in bodies.items() if (lean := _lean(path, body)) != _TYPES_ALONE}
    modules = [path for path in bodies if path.startswith(("/js/", "/vendor/"))]
    links = "".join(f'    <link rel="modulepreload" href="{path}">\n' for path in modules)
    bodies["/"] = _filled(bodies.pop(_INDEX), _MODULES_LINE, links)
    version = hashlib.sha256(also.encode())
    for path, body in [*sorted(bodies.items()), (_WORKER, worker)]:
        version.update(f"{path}\0{len(body)}\0".encode() + body)
    name = version.hexdigest()[:16]
    told = json.dumps({"version": name, "files": sorted(bodies)}, separators=(",", ":"))
    bodies[_WORKER] = _lean(_WORKER, _filled(worker, _SHELL_LINE, f"const SHELL = {told};"))
    return Shell(name, {path: _file(path, body) for path, body in bodies.items()})


def _lean(path: str, body: bytes) -> bytes:
    """Without what is for people."""
    lean = _LEAN.get(Path(path).suffix)
    return body if lean is None else lean(body.decode()).encode()


def _filled(body: bytes, line: str, text: str) -> bytes:
    before, found, after = body.decode().partition(line)
    if not found:
        raise LookupError(f"the page's files have no line {line.strip()!r} to fill in")
    return (before + text + after).encode()


def _file(path: str, body: bytes) -> File:
    suffix = Path(path).suffix or ".html"
    # Once for all phones, so as small as it gets; there is no time in it: the same file is packed the same.
    packed = bytes(deflate.gzip_compress(body, _LEVEL)) if suffix in _PACKED else None
    return File(_TYPES[suffix], body, packed, hashlib.sha256(body).hexdigest()[:32])
