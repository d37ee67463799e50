"""The page's files as they are read: what is among them, their types, their version, and what is filled in."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest

from waybread_daemon.page.files import STATIC, Shell, shell

BUDGET_BYTES = 60 * 1024


@pytest.fixture
def few(tmp_path: Path) -> Path:
    """A page of few files."""
    for name, text in {
        "index.html": "<head>\n    <!-- modules -->\n</head>\n",
        "sw.js": "const SHELL = { version: '', files: [''] };\nrest\n",
        "js/a.js": "a\n",
        "js/core/b.js": "b\n",
        "js/notes.txt": "for people\n",
        "icons/i.png": "png",
    }.items():
        path = tmp_path / "static" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "static"


def told(of: Shell) -> dict[str, object]:
    """What the service worker knows."""
    line = re.search(r"const SHELL=(\{.*?\});", of.files["/sw.js"].body.decode())
    assert line is not None
    known: dict[str, object] = json.loads(line.group(1))
    return known


def test_a_page_is_its_files_by_their_paths_and_no_others(few: Path) -> None:
    read = shell(few)
    assert set(read.files) == {"/", "/sw.js", "/js/a.js", "/js/core/b.js", "/icons/i.png"}
    assert read.files["/js/a.js"].body == b"a"
    assert {path: file.content_type for path, file in read.files.items()} == {
        "/": "text/html; charset=utf-8",
        "/sw.js": "text/javascript; charset=utf-8",
        "/js/a.js": "text/javascript; charset=utf-8",
        "/js/core/b.js": "text/javascript; charset=utf-8",
        "/icons/i.png": "image/png",
    }


def test_what_a_kept_file_has_beside_its_body_makes_another_version_too(few: Path) -> None:
    assert shell(few, "wss://home.example").version != shell(few).version
    assert told(shell(few, "wss://home.example"))["version"] == shell(few, "wss://home.example").version
    assert shell(few, "").version == shell(few).version


def test_the_page_names_its_modules_so_that_they_are_fetched_at_once(few: Path) -> None:
    assert shell(few).files["/"].body.decode() == (
        '<head>\n    <link rel="modulepreload" href="/js/a.js">\n'
        '    <link rel="modulepreload" href="/js/core/b.js">\n</head>\n'
    )


def test_the_worker_knows_the_version_and_every_file_but_itself(few: Path) -> None:
    read = shell(few)
    assert told(read) == {"version": read.version, "files": ["/", "/icons/i.png", "/js/a.js", "/js/core/b.js"]}
    assert re.fullmatch("[0-9a-f]{16}", read.version)


def test_what_is_for_people_stays_at_home(tmp_path: Path) -> None:
    source = (
        "// What it is.\n\n/**\n * @param {string} a // b\n */\nexport function f(a) {\n  // why\n"
        "  const url = 'https://x/*y*/'; // told\n  /** @type {any} */ (a).b = /\\/\\//;\n  return `${url}  // ${a}`;\n}\n"
    )
    for name, text in {
        "index.html": "    <!-- modules -->\n",
        "sw.js": "// The worker.\nconst SHELL = { version: '', files: [''] };\n",
        "js/a.js": source,
        "app.css": "/* a\n b */\nbody {\n  margin: 0 auto; /* c */\n}\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    files = shell(tmp_path).files
    assert files["/js/a.js"].body.decode() == (
        "export function f(a){const url='https://x/*y*/';(a).b=/\\/\\//;return`${url}  // ${a}`;}"
    )
    assert files["/app.css"].body.decode() == "body{margin:0 auto}"
    assert "worker" not in files["/sw.js"].body.decode()


def test_a_module_of_types_alone_is_not_served(few: Path) -> None:
    before = shell.__wrapped__(few)
    types = few / "js/core/types.js"
    types.write_text("// What it is.\n\n/** @typedef {{a: number}} A */\n\nexport {};\n")
    assert shell.__wrapped__(few) == before
    types.write_text("export const A = 1;\n")
    assert set(shell.__wrapped__(few).files) - set(before.files) == {"/js/core/types.js"}


def test_the_version_is_another_one_where_any_file_is(few: Path) -> None:
    versions = {shell.__wrapped__(few).version}
    assert versions == {shell.__wrapped__(few).version}
    for change in (
        lambda: (few / "js/a.js").write_text("A\n"),
        lambda: (few / "icons/i.png").write_text("PNG"),
        lambda: (few / "sw.js").write_text("const SHELL = { version: '', files: [''] };\nREST\n"),
        lambda: (few / "js/a.js").rename(few / "js/c.js"),
        lambda: (few / "index.html").write_text("<!-- new -->\n    <!-- modules -->\n"),
    ):
        change()
        versions.add(shell.__wrapped__(few).version)
    assert len(versions) == 6


def test_text_is_packed_the_same_each_time_and_pictures_are_not(few: Path) -> None:
    one, other = shell.__wrapped__(few), shell.__wrapped__(few)
    assert one == other
    packed = one.files["/js/a.js"].packed
    assert packed is not None
    assert gzip.decompress(packed) == b"a"
    assert one.files["/icons/i.png"].packed is None


@pytest.mark.parametrize("name", ["index.html", "sw.js"])
def test_a_file_without_the_line_to_fill_in_is_no_page(few: Path, name: str) -> None:
    (few / name).write_text("nothing\n")
    with pytest.raises(LookupError, match="no line"):
        shell.__wrapped__(few)


def test_the_pages_own_files_are_read_once() -> None:
    assert shell() is shell()
    assert {"/", "/sw.js", "/manifest.webmanifest", "/icons/icon.svg", "/js/core/home.js"} <= set(shell().files)
    assert not [path for path in shell().files if path.endswith((".json", "LICENSE"))]


def test_the_whole_shell_is_small() -> None:
    sizes = {path: len(file.packed) for path, file in shell().files.items() if file.packed is not None}
    assert sum(sizes.values()) <= BUDGET_BYTES, sizes


def test_no_file_of_ours_asks_for_anything_elsewhere_or_makes_markup_of_text() -> None:
    ours = [path for path in STATIC.rglob("*") if path.suffix in (".html", ".css", ".js", ".webmanifest")]
    ours = [path for path in ours if "vendor" not in path.parts]
    assert len(ours) > 15
    forbidden = re.compile(
        r"""https?://(?!host/|www\.w3\.org/)|innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|style=|\bon[a-z]+="|dangerously"""
    )
    assert [
        f"{path.relative_to(STATIC)}: {match.group()}"
        for path in ours
        for match in forbidden.finditer(path.read_text("utf-8"))
    ] == []


def test_what_the_page_and_the_manifest_name_is_there() -> None:
    files = shell().files
    named = re.findall(r'(?:href|src)="([^"]+)"', files["/"].body.decode())
    manifest = json.loads(files["/manifest.webmanifest"].body)
    named += [icon["src"] for icon in manifest["icons"]] + [manifest["start_url"]]
    assert [path for path in named if path not in files] == []
    assert len(named) > 20


def test_icons_have_the_sizes_that_the_manifest_says() -> None:
    icons = json.loads(shell().files["/manifest.webmanifest"].body)["icons"]
    for icon in icons:
        if icon["type"] == "image/png":
            body = shell().files[icon["src"]].body
            width, height = int.from_bytes(body[16:20]), int.from_bytes(body[20:24])
            assert f"{width}x{height}" == icon["sizes"]
    assert {icon["purpose"] for icon in icons} == {"any", "maskable"}
