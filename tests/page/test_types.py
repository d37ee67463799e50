"""The page's modules have types, in their comments, and TypeScript finds no fault in them."""

from __future__ import annotations

import hashlib
import json
import subprocess
from pathlib import Path

import pytest

from tests.page.npm import FOLDER, PACKAGES, VENDORED, packages
from waybread_daemon.page.files import STATIC

VENDOR = STATIC / "vendor" / VENDORED["name"]
STRICT: dict[str, object] = {
    "strict": True,
    "allowJs": True,
    "checkJs": True,
    "noEmit": True,
    "skipLibCheck": True,
    "target": "es2022",
    "module": "es2022",
    "moduleResolution": "bundler",
    "types": [],
    "exactOptionalPropertyTypes": True,
    "noFallthroughCasesInSwitch": True,
    "noImplicitOverride": True,
    "noPropertyAccessFromIndexSignature": True,
    "noUncheckedIndexedAccess": True,
    "noUnusedLocals": True,
    "noUnusedParameters": True,
}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page's modules with preact's own types in the place of its packed code."""
    installed = packages()
    folder = tmp_path_factory.mktemp("types")
    (folder / "node_modules").symlink_to(installed / "node_modules")
    static = folder / "static"
    for path in STATIC.rglob("*.js"):
        target = static / path.relative_to(STATIC)
        target.parent.mkdir(parents=True, exist_ok=True)
        if VENDOR in path.parents:
            name = {"preact.module.js": "preact", "hooks.module.js": "preact/hooks"}[path.name]
            target.with_suffix(".d.ts").write_text(f'export * from "{name}";\n')
        else:
            target.write_bytes(path.read_bytes())
    return folder


def tsc(folder: Path, name: str, lib: list[str], include: list[str]) -> str:
    """What the compiler says of those files."""
    config = folder / f"{name}.json"
    config.write_text(json.dumps({"compilerOptions": {**STRICT, "lib": lib}, "include": include}))
    program = FOLDER / "node_modules/.bin/tsc"
    done = subprocess.run([program, "-p", config], cwd=folder, capture_output=True, text=True, timeout=240, check=False)
    return done.stdout + done.stderr


def test_the_page_is_clean(copy: Path) -> None:
    assert tsc(copy, "page", ["es2023", "dom", "dom.iterable", "dom.asynciterable"], ["static/js/**/*.js"]) == ""


def test_the_service_worker_is_clean(copy: Path) -> None:
    assert tsc(copy, "worker", ["es2023", "webworker"], ["static/sw.js"]) == ""


def test_a_fault_is_found(copy: Path) -> None:
    (copy / "wrong.js").write_text("import { resultId } from './static/js/core/texts.js';\n\nresultId('x');\n")
    assert "wrong.js(3,10): error TS2345" in tsc(copy, "wrong", ["es2023", "dom"], ["wrong.js"])


@pytest.mark.parametrize("name", VENDORED["files"])
def test_what_is_vendored_is_the_packages_own_but_for_what_is_told(name: str) -> None:
    told = VENDORED["files"][name]
    here = (VENDOR / name).read_bytes()
    assert hashlib.sha256(here).hexdigest() == told["sha256"]
    there = (packages() / "node_modules" / VENDORED["name"] / told["from"]).read_bytes()
    assert hashlib.sha256(there).hexdigest() == told["npm_sha256"]
    for old, new in told["replaced"]:
        assert there.count(old.encode()) == 1
        there = there.replace(old.encode(), new.encode())
    assert here == there


def test_the_vendored_package_has_its_version_and_licence_and_nothing_more() -> None:
    package = json.loads((packages() / "node_modules" / VENDORED["name"] / "package.json").read_text("utf-8"))
    assert (VENDORED["version"], VENDORED["licence"]) == (package["version"], package["license"])
    assert f"{VENDORED['name']}@{VENDORED['version']}" in PACKAGES
    assert {path.name for path in VENDOR.iterdir()} == {*VENDORED["files"], "vendored.json"}
