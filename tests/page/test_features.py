"""The page works in browsers of 2023: it uses nothing that is younger, but where there is a way without it.

MDN's table of what browsers can do is asked for each name that the page's files use.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.page.npm import packages
from waybread_daemon.page.files import STATIC

CHECK = Path(__file__).parent / "features/check.mjs"
OLDEST = {
    "chrome": 115,
    "chrome_android": 115,
    "firefox": 115,
    "firefox_android": 115,
    "safari": 17,
    "safari_ios": 17,
}
WITHOUT = {
    "-webkit-text-size-adjust": "only phones make letters larger by themselves",
    "cursor: default": "a phone has no pointer",
    "cursor: pointer": "a phone has no pointer",
    "overflow-anchor": "Safari moves nothing by itself",
    "overflow-anchor: none": "Safari moves nothing by itself",
    "trustedTypes": "a browser without them has nothing to forbid by them",
    ".createPolicy": "asked for only where there are trusted types",
}
"""What some of these browsers lack, and why the page works without."""


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("features")
    shutil.copy(CHECK, folder)
    (folder / "node_modules").symlink_to(packages() / "node_modules")
    return folder


def young(workshop: Path, scripts: list[Path], styles: list[Path]) -> dict[tuple[str, str], list[str]]:
    """What is younger than the oldest browsers: those that lack it, by file and name."""
    given = {"browsers": OLDEST, "scripts": [str(path) for path in scripts], "styles": [str(path) for path in styles]}
    node = shutil.which("node")
    assert node is not None
    done = subprocess.run(
        [node, str(workshop / CHECK.name), json.dumps(given)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return {(file, means): missing for file, means, missing in json.loads(done.stdout)}


def test_the_page_uses_nothing_younger_that_it_needs(workshop: Path) -> None:
    scripts = [*sorted((STATIC / "js").rglob("*.js")), STATIC / "sw.js"]
    found = young(workshop, scripts, [STATIC / "app.css"])
    assert {key: missing for key, missing in found.items() if key[1] not in WITHOUT} == {}
    assert {means for _, means in found} == set(WITHOUT), "an exception that nothing needs"


def test_what_is_younger_is_found(workshop: Path, tmp_path: Path) -> None:
    script, style = tmp_path / "young.js", tmp_path / "young.css"
    script.write_text(
        "Promise.withResolvers();\nnew Set().union(new Set());\nrequestIdleCallback(() => {});\n"
        "addEventListener('scrollend', () => {});\ndocument.startViewTransition(() => {});\n"
        "[1].toSorted().at(-1);\nstructuredClone(crypto.randomUUID());\n"
    )
    style.write_text(
        "p { field-sizing: content; text-wrap: balance; color: light-dark(red, blue); inset-inline: 0 }\n"
        ":dir(rtl) p { -webkit-user-select: none }\n@starting-style { p { opacity: 0 } }\n"
    )
    assert sorted(means for _, means in young(workshop, [script], [style])) == [
        ".startViewTransition",
        ".union",
        ":dir",
        "@starting-style",
        "Promise.withResolvers",
        "field-sizing",
        "field-sizing: content",
        "light-dark()",
        "requestIdleCallback",
        "scrollend_event",
        "text-wrap",
        "text-wrap: balance",
    ]
