"""How the page's files are answered, through the gate of a served daemon and a client that writes its own headers."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tests.daemon.served import Served, serving
from waybread_daemon.page.files import shell


@pytest.fixture
async def served(tmp_path: Path) -> AsyncGenerator[Served]:
    async with serving(tmp_path, page_daemons=("wss://other.example", "http://10.0.0.2:8787/")) as served:
        yield served


async def ask(
    served: Served, path: str, *headers: str, method: str = "GET", host: str = ""
) -> tuple[int, dict[str, str], bytes]:
    """The status, the headers by their names in lower case, and the body."""
    reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host or f'127.0.0.1:{served.port}'}", *headers, "", ""]
    writer.write("\r\n".join(lines).encode())
    async with asyncio.timeout(10):
        answer = await reader.read()
    writer.close()
    head, _, body = answer.partition(b"\r\n\r\n")
    status, *rest = head.decode().split("\r\n")
    said = dict(line.split(": ", 1) for line in rest)
    assert len(said) == len(rest), "a header stands there twice"
    return int(status.split(" ")[1]), {name.lower(): value for name, value in said.items()}, body


async def test_the_page_is_at_the_root_and_its_files_at_their_paths(served: Served) -> None:
    status, headers, body = await ask(served, "/")
    assert (status, headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert body == shell().files["/"].body
    assert headers["content-length"] == str(len(body))
    status, headers, body = await ask(served, "/js/core/home.js")
    assert (status, headers["content-type"]) == (200, "text/javascript; charset=utf-8")
    assert body == shell().files["/js/core/home.js"].body
    assert (await ask(served, "/?source=icon"))[0] == 200


async def test_every_file_has_the_headers_that_hold_a_browser_back(served: Served) -> None:
    own = f"127.0.0.1:{served.port}"
    for path in shell().files:
        status, headers, _ = await ask(served, path)
        assert status == 200
        policy = dict(rule.split(" ", 1) for rule in headers["content-security-policy"].split("; "))
        assert policy == {
            "default-src": "'none'",
            **{f"{what}-src": "'self'" for what in ("script", "style", "img", "font", "manifest", "worker")},
            "connect-src": f"'self' ws://{own} wss://{own} wss://other.example ws://10.0.0.2:8787",
            "base-uri": "'none'",
            "form-action": "'none'",
            "frame-ancestors": "'none'",
            "require-trusted-types-for": "'script'",
            "trusted-types": "waybread-worker",
        }
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cross-origin-opener-policy"] == "same-origin"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert "camera=()" in headers["permissions-policy"]
        assert headers["cache-control"] == "no-cache"
        # A kept page is kept anew when its policy changes.
        assert headers["waybread-shell"] == shell(also="wss://other.example ws://10.0.0.2:8787").version


async def test_gzip_is_sent_to_those_who_take_it(served: Served) -> None:
    for accepted in ("gzip", "deflate, gzip;q=0.5, br", "GZIP ; q=1"):
        _, headers, body = await ask(served, "/js/core/home.js", f"Accept-Encoding: {accepted}")
        assert (headers["content-encoding"], headers["vary"]) == ("gzip", "Accept-Encoding")
        assert headers["content-length"] == str(len(body))
        assert gzip.decompress(body) == shell().files["/js/core/home.js"].body
    for refused in ("", "br", "gzip;q=0", "gzip; q=0.00", "x-gzip"):
        _, headers, body = await ask(served, "/js/core/home.js", f"Accept-Encoding: {refused}")
        assert "content-encoding" not in headers, refused
        assert headers["vary"] == "Accept-Encoding"
        assert body == shell().files["/js/core/home.js"].body
    _, headers, body = await ask(served, "/icons/icon-192.png", "Accept-Encoding: gzip")
    assert "content-encoding" not in headers
    assert body.startswith(b"\x89PNG")


async def test_who_has_a_file_already_gets_304_without_it(served: Served) -> None:
    _, headers, _ = await ask(served, "/manifest.webmanifest")
    _, packed, _ = await ask(served, "/manifest.webmanifest", "Accept-Encoding: gzip")
    assert headers["etag"] != packed["etag"]
    for tags in (headers["etag"], f'"x", {headers["etag"]}', f"W/{headers['etag']}"):
        status, again, body = await ask(served, "/manifest.webmanifest", f"If-None-Match: {tags}")
        assert (status, body, again["etag"]) == (304, b"", headers["etag"])
        assert "content-length" not in again
        assert again["content-security-policy"] == headers["content-security-policy"]
    for tags in ('"x"', packed["etag"], headers["etag"].strip('"')):
        assert (await ask(served, "/manifest.webmanifest", f"If-None-Match: {tags}"))[0] == 200
    assert (await ask(served, "/manifest.webmanifest", "Accept-Encoding: gzip", f"If-None-Match: {packed['etag']}"))[
        0
    ] == 304


async def test_head_has_the_headers_of_get_and_no_body(served: Served) -> None:
    _, headers, _ = await ask(served, "/")
    assert await ask(served, "/", method="HEAD") == (200, headers, b"")


@pytest.mark.parametrize(
    "path",
    [
        *(
            "/index.html",
            "/js",
            "/js/",
            "/js/core/../core/home.js",
            "/../config.py",
            "/..%2fconfig.py",
            "//",
            "/JS/main.js",
        ),
        *(
            "/%2e%2e/page/files.py",
            "/vendor/preact/LICENSE",
            "/vendor/preact/vendored.json",
            "/js/core/home.js/",
            "/.",
            "/x",
        ),
    ],
)
async def test_what_is_no_file_of_the_page_is_404_however_it_is_written(served: Served, path: str) -> None:
    status, headers, _ = await ask(served, path)
    assert (status, headers["content-type"]) == (404, "text/plain; charset=utf-8")


async def test_an_unknown_host_gets_no_page_and_writes_nothing_into_its_policy(served: Served) -> None:
    for host in ("evil.example", "127.0.0.1; script-src *", "127.0.0.1 https://evil.example"):
        status, headers, _ = await ask(served, "/", host=host)
        assert status == 403
        assert "content-security-policy" not in headers


async def test_a_method_that_changes_something_is_405(served: Served) -> None:
    assert (await ask(served, "/", method="POST"))[0] in (400, 405)
