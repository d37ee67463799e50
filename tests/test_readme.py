"""The table of faults names tests and cases that are there, and every folder of tests has its line."""

from __future__ import annotations

import ast
import functools
import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "tests" / "README.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (\d+) \| (.+?) \| (.+) \|$", README, re.MULTILINE)
NAMED = [(int(number), name) for number, _, shown_by in ROWS for name in re.findall(r"`([^`]+)`", shown_by)]


@functools.cache
def names_in(path: str) -> frozenset[str]:
    """The tests of a file, or the cases of a file of cases."""
    text = (ROOT / path).read_text(encoding="utf-8")
    if path.endswith(".json"):
        return frozenset(case["name"] for case in json.loads(text)["cases"])
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(
        node.name for node in ast.walk(ast.parse(text)) if isinstance(node, functions) and node.name.startswith("test_")
    )


def test_all_thirty_kinds_of_fault_stand_in_the_table_in_order() -> None:
    assert [int(number) for number, _, _ in ROWS] == list(range(1, 31))
    assert {number for number, _ in NAMED} == set(range(1, 31))


def test_every_test_and_case_that_the_table_names_is_there() -> None:
    missing = [
        f"{number}: {name}"
        for number, name in NAMED
        if not (ROOT / name.partition("::")[0]).is_file()
        or name.partition("::")[2] not in names_in(name.partition("::")[0])
    ]
    assert missing == []


def test_every_folder_of_tests_has_its_line() -> None:
    table = README.partition("## How they are laid out")[2].partition("\n\n`running.py`")[0]
    told = set(re.findall(r"`(\w+)`", "".join(line.split("|")[1] for line in table.splitlines() if "|" in line)))
    folders = {path.parent.name for path in (ROOT / "tests").glob("*/*.py")}
    assert folders - told == set()


def test_what_a_name_is_looked_up_in_tells_a_test_from_none() -> None:
    assert "test_what_a_name_is_looked_up_in_tells_a_test_from_none" in names_in("tests/test_readme.py")
    assert "names_in" not in names_in("tests/test_readme.py")
