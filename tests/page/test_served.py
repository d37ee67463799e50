"""What browsers get is what is written: freed of comments and spaces, and the same program to a parser of its own."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.page.npm import packages
from waybread_daemon.page.files import STATIC, shell

# Prints each program as a tree without places, and what it imports.
_COMPARE = """
import { readFileSync } from 'node:fs';
import { parse } from 'acorn';

const parsed = (path) => parse(readFileSync(path, 'utf8'), { ecmaVersion: 2022, sourceType: 'module' });
const bare = (key, value) => {
  if (key === 'start' || key === 'end' || key === 'range') return undefined;
  return typeof value === 'bigint' || value instanceof RegExp ? String(value) : value;
};
const [, , ...pairs] = process.argv;
const told = pairs.map((pair) => {
  const [written, served] = pair.split('=');
  const program = parsed(served);
  const imports = program.body.flatMap((node) => (node.source ? [node.source.value] : []));
  return { same: JSON.stringify(parsed(written), bare) === JSON.stringify(program, bare), imports };
});
console.log(JSON.stringify(told));
"""


def compared(folder: Path, pairs: list[tuple[Path, Path]]) -> list[dict[str, Any]]:
    """What `_COMPARE` says of each pair: the file that is written and the one that is served."""
    modules = folder / "node_modules"
    if not modules.exists():
        modules.symlink_to(packages() / "node_modules")
    program = folder / "compare.mjs"
    program.write_text(_COMPARE)
    words = ["node", str(program), *(f"{written}={served}" for written, served in pairs)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=True)
    told: list[dict[str, Any]] = json.loads(done.stdout)
    return told


def test_every_module_is_served_as_the_program_that_is_written_and_what_it_imports_is_served_too(
    tmp_path: Path,
) -> None:
    files = shell().files
    paths = sorted(path for path in files if path.startswith(("/js/", "/vendor/")))
    assert len(paths) > 20
    pairs: list[tuple[Path, Path]] = []
    for path in paths:
        served = tmp_path / "served" / path.lstrip("/")
        served.parent.mkdir(parents=True, exist_ok=True)
        served.write_bytes(files[path].body)
        pairs.append((STATIC / path.lstrip("/"), served))
    for path, told in zip(paths, compared(tmp_path, pairs), strict=True):
        assert told["same"], path
        for name in told["imports"]:
            assert str(Path(path).parent.joinpath(name).resolve()) in files, (path, name)


@pytest.mark.parametrize(
    "other", ["f(a+ ++b)", "f(a + + +b)", "f('a  b')", "f(/a b/u)", "f(a?.b)", "`a  b`", "f(a, b);"]
)
def test_another_program_is_found(tmp_path: Path, other: str) -> None:
    (tmp_path / "one.js").write_text("f(a + +b)\n")
    (tmp_path / "other.js").write_text(f"{other}\n")
    pairs = [(tmp_path / "one.js", tmp_path / "one.js"), (tmp_path / "one.js", tmp_path / "other.js")]
    assert [told["same"] for told in compared(tmp_path, pairs)] == [True, False]
