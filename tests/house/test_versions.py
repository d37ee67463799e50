"""What the project asks for and what is loaded."""

import importlib.metadata
import re
import tomllib
from typing import Any

import apsw
import pytest

from tests.house.checkout import PACKAGES, ROOT

PYPROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PROJECT: dict[str, Any] = PYPROJECT["project"]


def numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))


def lower_bounds(requirements: list[str]) -> dict[str, tuple[int, ...]]:
    """The lower bound of each requirement; one without any has the empty bound."""
    bounds: dict[str, tuple[int, ...]] = {}
    for requirement in requirements:
        name, _, rest = requirement.partition(";")[0].replace(" ", "").partition(">=")
        bounds[re.split(r"[<>=!~\[]", name)[0]] = numbers(rest.partition(",")[0])
    return bounds


def test_the_loaded_sqlite_has_no_fault_in_its_write_ahead_log() -> None:
    assert numbers(apsw.sqlite_lib_version()) >= (3, 51, 3)


def test_every_dependency_has_the_lower_bound_that_the_code_relies_on() -> None:
    assert lower_bounds(PROJECT["dependencies"]) == {
        "apsw": (3, 51, 3),
        "deflate": (0, 8),
        "ifaddr": (0, 2),
        "msgspec": (0, 20),
        "platformdirs": (4, 3),
        "prometheus-client": (0, 22),
        "pygit2": (1, 18),
        "rcssmin": (1, 2),
        "rjsmin": (1, 2, 5),
        "segno": (1, 6, 6),
        "structlog": (25, 1),
        "uvloop": (0, 21),
        "websockets": (17,),
        "zeroconf": (0, 147),
        "zstandard": (0, 23),
    }


@pytest.mark.parametrize("name", sorted(lower_bounds(PROJECT["dependencies"])))
def test_what_is_installed_is_not_older_than_its_lower_bound(name: str) -> None:
    assert numbers(importlib.metadata.version(name)) >= lower_bounds(PROJECT["dependencies"])[name]


def test_what_the_tests_need_has_lower_bounds() -> None:
    bounds = lower_bounds(PROJECT["optional-dependencies"]["test"])
    assert bounds.keys() == {
        "axe-playwright-python",
        "hypothesis",
        "jsonschema",
        "playwright",
        "PyYAML",
        "pytest",
        "pytest-asyncio",
        "trustme",
    }
    assert () not in bounds.values()


def test_python_3_11_is_the_oldest_for_pip_the_checkers_and_the_scripts() -> None:
    assert PROJECT["requires-python"] == ">=3.11"
    assert PYPROJECT["tool"]["mypy"]["python_version"] == "3.11"
    assert PYPROJECT["tool"]["pyright"]["pythonVersion"] == "3.11"
    assert PYPROJECT["tool"]["ruff"]["target-version"] == "py311"
    assert "sys.version_info < (3, 11)" in (ROOT / "deploy/venv.sh").read_text("utf-8")


def test_the_installed_version_is_the_projects_and_the_newest_in_the_changelog() -> None:
    newest = re.search(r"^## \[(\d[^\]]*)\]", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert newest is not None
    assert importlib.metadata.version("waybread") == PROJECT["version"] == newest.group(1)


def test_the_wheel_holds_every_package_and_the_cases() -> None:
    wheel = PYPROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert set(wheel["packages"]) == set(PACKAGES)
    assert wheel["force-include"] == {
        f"conformance/{name}": f"waybread_conformance/{name}" for name in ("context.json", "link.json", "schema.json")
    }
    assert [name for name in wheel["force-include"] if not (ROOT / name).is_file()] == []


def test_every_lint_rule_switched_off_has_a_reason_beside_it() -> None:
    table = (
        (ROOT / "pyproject.toml")
        .read_text("utf-8")
        .partition("[tool.ruff.lint]")[2]
        .partition("[tool.ruff.lint.flake8")[0]
    )
    rules = [line for line in table.splitlines() if re.match(r'    "[A-Z]+\d*",', line)]
    assert len(rules) > 20
    assert [line for line in rules if not re.search(r"# \S", line)] == []
