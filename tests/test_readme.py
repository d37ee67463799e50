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


def test_every_test_and_case_that_is_named_is_there() -> None:
    named = re.findall(r"`((?:tests|conformance)/[\w./]+::[^`]+)`", README)
    assert len(named) > len(NAMED)
    missing = [
        name
        for name in named
        if not (ROOT / name.partition("::")[0]).is_file()
        or name.partition("::")[2] not in names_in(name.partition("::")[0])
    ]
    assert missing == []


def test_what_an_attacker_tries_has_a_row_for_each_kind() -> None:
    table = README.partition("## What an attacker tries")[2]
    kinds = ("another device", "another origin", "guessed code", "replayed code", "revoked token", "oversize", "flood")
    assert [kind for kind in (*kinds, "path in a session id", "a template") if kind not in table] == []
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| ")][1:]
    assert [row[0] for row in rows if len(row) != 3 or "::" not in row[2]] == []


def test_every_folder_of_tests_has_its_line() -> None:
    table = README.partition("## How they are laid out")[2].partition("\n\n`running.py`")[0]
    told = set(re.findall(r"`(\w+)`", "".join(line.split("|")[1] for line in table.splitlines() if "|" in line)))
    folders = {path.parent.name for path in (ROOT / "tests").glob("*/*.py")}
    assert folders - told == set()


def test_what_a_name_is_looked_up_in_tells_a_test_from_none() -> None:
    assert "test_what_a_name_is_looked_up_in_tells_a_test_from_none" in names_in("tests/test_readme.py")
    assert "names_in" not in names_in("tests/test_readme.py")
