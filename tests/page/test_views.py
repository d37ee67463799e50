"""What the views reckon with, without a browser: `node --test` runs what stands in `view/`."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from waybread_daemon.page.files import STATIC, shell
from waybread_protocol.loop import CONTEXT

VIEW = Path(__file__).parent / "view"
FILES = sorted(path.name for path in VIEW.glob("*.test.js"))
SHELL_MOST_BYTES = 60_000


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the page's modules and the tests."""
    folder = tmp_path_factory.mktemp("view")
    shutil.copytree(STATIC, folder / "static")
    shutil.copytree(VIEW, folder / "view")
    (folder / "package.json").write_text(json.dumps({"type": "module"}))
    return folder


@pytest.mark.parametrize("name", FILES)
def test_view(name: str, workshop: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    done = subprocess.run(
        [node, "--test", "--test-reporter=tap", str(workshop / "view" / name)],
        cwd=workshop,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    assert "# tests 0" not in done.stdout


def test_the_page_its_style_and_all_its_modules_are_small() -> None:
    packed = [
        file.packed or b"" for path, file in shell().files.items() if path == "/" or path.endswith((".css", ".js"))
    ]
    assert sum(map(len, packed)) <= SHELL_MOST_BYTES


def test_no_view_makes_markup_of_text_or_writes_a_style_into_it() -> None:
    for path in STATIC.rglob("*.js"):
        if "vendor" not in path.parts:
            source = path.read_text("utf-8")
            for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "dangerouslySet", "document.write", "cssText"):
                assert word not in source, (path.name, word)


def test_it_knows_how_much_the_head_of_a_capped_result_has() -> None:
    source = (STATIC / "js/view/text.js").read_text("utf-8")
    assert f"const CAP_HEAD_LINES = {CONTEXT.cap.head_lines};" in source
    assert f"const CAP_HEAD_CHARS = {CONTEXT.cap.head_chars:_};" in source
