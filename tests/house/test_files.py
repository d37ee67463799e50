"""What no file of the project may be or say."""

import re

import pytest

from tests.house.checkout import ROOT, files, texts

LIMIT_LINES = 500

# The words are put together here, because this file is checked as well.
REGISTRIES = [
    ".".join(words)
    for words in (
        ("pypi", "org"),
        ("pypi", "python", "org"),
        ("pythonhosted", "org"),
        ("npmjs", "org"),
        ("npmjs", "com"),
        ("yarnpkg", "com"),
        ("deb", "debian", "org"),
        ("crates", "io"),
        ("rubygems", "org"),
        ("golang", "org"),
    )
]
# A folder of the machine where something was written; and notes of what is still to be done, in a comment.
A_MACHINES_FOLDER = re.compile(r"(?<![\w.~/-])/" + "work/")
BESIDE_THE_CHECKOUT = re.compile(r"\.\./shared|" + "shared" + r"/data")
NOTES_TO_SELF = re.compile(r"(?:#|//|/\*|<!--)\s*(?:TO" + r"DO|FIX" + r"ME|XX" + r"X)\b")
CONFLICT_MARKS = re.compile(r"^(?:<{7}|>{7}) ", re.MULTILINE)
LEFT_BEHIND = (".orig", ".rej", ".bak", ".swp", ".tmp", ".log", "~", ".DS_Store")


def is_code(name: str) -> bool:
    return name.endswith((".py", ".sh", ".sql", ".js", ".css", "/run"))


def found(pattern: re.Pattern[str]) -> list[str]:
    return [
        f"{name}:{text.count(chr(10), 0, match.start()) + 1}: {match.group()}"
        for name, text in texts()
        for match in pattern.finditer(text)
    ]


def test_the_walk_sees_the_files_of_the_project_and_no_virtual_environment() -> None:
    names = {path.relative_to(ROOT).as_posix() for path in files()}
    assert {"pyproject.toml", ".ci/run", "deploy/run", "tests/house/test_files.py"} <= names
    assert not [name for name in names if name.startswith((".venv", ".git/")) or "__pycache__" in name]


def test_no_file_of_code_has_more_than_500_lines() -> None:
    lengths = {name: len(text.splitlines()) for name, text in texts() if is_code(name)}
    assert {name: lines for name, lines in lengths.items() if lines > LIMIT_LINES} == {}


@pytest.mark.parametrize("host", REGISTRIES)
def test_no_file_names_a_package_registry(host: str) -> None:
    assert found(re.compile(re.escape(host), re.IGNORECASE)) == []


def test_no_file_names_a_folder_of_the_machine_it_was_written_on() -> None:
    assert found(A_MACHINES_FOLDER) == []


def test_only_tests_marked_transcripts_look_beside_the_checkout() -> None:
    beside = {name for name, text in texts() if BESIDE_THE_CHECKOUT.search(text)}
    marked = {name for name, text in texts() if name.startswith("tests/") and "mark.transcripts" in text}
    assert beside - marked - {"tests/house/test_files.py"} == set()


def test_no_comment_leaves_work_for_later() -> None:
    assert found(NOTES_TO_SELF) == []


def test_no_file_holds_the_marks_of_a_merge() -> None:
    assert found(CONFLICT_MARKS) == []


def test_no_file_was_left_behind_by_an_editor_or_a_tool() -> None:
    names = [path.relative_to(ROOT).as_posix() for path in files()]
    assert [name for name in names if name.endswith(LEFT_BEHIND)] == []


def test_every_text_ends_its_last_line_and_none_with_spaces() -> None:
    # Cases and texts for the model are data and say what they say; everything else is written by hand.
    written = {name: text for name, text in texts() if text and not name.endswith((".json", ".patch"))}
    assert [name for name, text in written.items() if not text.endswith("\n")] == []
    assert [name for name, text in written.items() if re.search(r"[ \t\r]+$", text, re.MULTILINE)] == []
