"""Every module of the packages has a test file of its own, found by name.

`daemon/waybread_daemon/hygiene/ids.py` is tested in `tests/daemon/hygiene/test_ids.py`, or in several files named
`test_ids_….py` there. A module that has none stands in `TESTED_ELSEWHERE` with the reason.
"""

import ast
from pathlib import PurePosixPath

import pytest

from tests.house.checkout import PACKAGES, ROOT, modules

# module: where and why its behaviour is tested elsewhere
TESTED_ELSEWHERE: dict[str, str] = {}


def only_names_things(source: str) -> bool:
    """Whether a module holds no code of its own: a docstring, imports and names for them."""
    return not any(
        isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) for node in ast.parse(source).body
    )


def mirrors(folder: str, module: str) -> list[str]:
    """The test files of a module: `test_ids.py`, `test_ids_….py`; `__main__` is mirrored by `test_main.py`."""
    path = PurePosixPath(module)
    # A package's own module takes the package's name.
    stem = path.parent.name if path.stem == "__init__" else path.stem.strip("_")
    place = ROOT / folder / (path.parent.parent if path.stem == "__init__" else path.parent)
    return [
        str(test.relative_to(ROOT))
        for pattern in (f"test_{stem}.py", f"test_{stem}_*.py")
        for test in place.glob(pattern)
    ]


def all_modules() -> list[tuple[str, str, str]]:
    return [(package, folder, module) for package, folder in PACKAGES.items() for module in modules(package)]


def needs_a_mirror(package: str, module: str) -> bool:
    return not (module.endswith("__init__.py") and only_names_things((ROOT / package / module).read_text("utf-8")))


@pytest.mark.parametrize("package", PACKAGES)
def test_each_package_has_modules_and_tells_that_it_is_typed(package: str) -> None:
    assert list(modules(package)) != []
    assert (ROOT / package / "py.typed").is_file()


def test_every_module_has_a_test_file_of_its_own_name() -> None:
    alone = [
        f"{package}/{module}"
        for package, folder, module in all_modules()
        if needs_a_mirror(package, module) and not mirrors(folder, module)
    ]
    assert [module for module in alone if module not in TESTED_ELSEWHERE] == []


def test_what_is_tested_elsewhere_exists_and_has_no_test_file_of_its_own() -> None:
    known = {f"{package}/{module}": mirrors(folder, module) for package, folder, module in all_modules()}
    assert {module: known.get(module) for module in TESTED_ELSEWHERE} == {module: [] for module in TESTED_ELSEWHERE}


def test_a_module_of_imports_alone_needs_no_test_file_and_one_with_a_function_does() -> None:
    assert only_names_things('"""What it is for."""\n\nfrom .codec import decode\n\n__all__ = ["decode"]\n')
    assert not only_names_things("def decode() -> None: ...\n")
    assert not only_names_things("class Codec: ...\n")
