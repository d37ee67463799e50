"""`loop.json`: the numbers and texts of context hygiene, each in one place."""

import ast
import pathlib
import re

import msgspec
import pytest

from waybread_protocol.loop import CONTEXT, LOOP_JSON, PROMPT, Loop

ROOT = pathlib.Path(__file__).parents[2]
SOURCES = sorted(path for room in ("daemon", "protocol") for path in (ROOT / room).rglob("*.py"))
FIELD = re.compile(r"\{[a-z_]+\}")


TABLE_HEAD = """\
## Files read before this summary

Read a file again for its content; recall shows a result by its id.

| Path | Lines | sha | Result |
|---|---|---|---|"""


def pieces(template: str) -> list[str]:
    """What of a template a program would have to repeat: its words between the fields."""
    return [piece for piece in FIELD.split(template) if len(re.sub(r"[^a-z]", "", piece.lower())) >= 7]


PIECES = sorted({piece for text in msgspec.structs.astuple(CONTEXT.texts) for piece in pieces(text)})
NUMBERS = {
    CONTEXT.read.window_lines,
    CONTEXT.recall.window_lines,
    CONTEXT.cap.max_chars,
    CONTEXT.cap.head_chars,
}
"""Those that a program has no other reason to hold; smaller ones mean something else in many places."""
STORE = ROOT / "daemon" / "waybread_daemon" / "store"
"""It knows nothing of the rules: its numbers are of pages, bytes and rows."""


def docstrings(tree: ast.AST) -> set[int]:
    """The places of strings that stand alone: they document."""
    return {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}


def test_there_are_sources_and_texts_to_look_at() -> None:
    assert len(SOURCES) > 20
    assert " lines elided, full output " in PIECES
    assert "Unchanged since " in PIECES


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_text_or_number_of_it_stands_a_second_time_in_the_code(path: pathlib.Path) -> None:
    tree = ast.parse(path.read_text())
    documents = docstrings(tree)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or id(node) in documents:
            continue
        if isinstance(node.value, str):
            assert [piece for piece in PIECES if piece in node.value] == [], f"line {node.lineno}"
        elif isinstance(node.value, int) and not path.is_relative_to(STORE):
            assert node.value not in NUMBERS, f"line {node.lineno}"


def test_the_numbers_are_those_of_the_specification() -> None:
    assert msgspec.json.decode(LOOP_JSON)["context"] | {"texts": {}} == {
        "ids": {"digits": 4},
        "read": {"sha_digits": 8, "window_lines": 2000},
        "cap": {
            "max_lines": 400,
            "max_chars": 40_000,
            "head_lines": 200,
            "head_chars": 20_000,
            "tail_lines": 100,
            "tail_chars": 10_000,
        },
        "recall": {"window_lines": 2000, "argument_chars": 64},
        "dedupe": {"by_result": ["list", "glob", "grep", "search"]},
        "diff": {"context_lines": 3},
        "compaction": {"rows": 50},
        "texts": {},
    }


def filled(template: str) -> str:
    """A template with the values of the specification's examples."""
    values = {
        "number": "0012", "result": "#0012", "path": "src/app.ts", "first": 1, "last": 200, "lines": 340,
        "sha": "1c9e04ab", "earlier": "#0012", "recalled": "#0020", "absolute": "/abs/app.ts", "offset": 500,
        "argument": "ffff", "line": "import …", "shown": "1-200 of 340",
    }  # fmt: skip
    return template.format(**values)


@pytest.mark.parametrize(
    "name, text",
    [
        ("id", "#0012"),
        ("result", "[#0012]"),
        ("read", "[#0012 src/app.ts lines 1-200 of 340 sha 1c9e04ab]"),
        ("read_empty", "[#0012 src/app.ts empty sha 1c9e04ab]"),
        ("read_line", "0012: import …"),
        ("read_past_end", "/abs/app.ts has 340 lines: there is no line 500."),
        ("unchanged", "Unchanged since #0012, which already shows lines 1-200."),
        ("same", "Same result as #0012."),
        ("cut", "[…cut]"),
        ("elided", "[340 lines elided, full output #0012]"),
        ("recall", "[#0012 recall #0020 lines 1-200 of 340]"),
        ("recall_empty", "[#0012 recall #0020 empty]"),
        ("recall_past_end", "#0020 has 340 lines: there is no line 500."),
        ("recall_unknown", "No stored result #ffff in this session."),
        ("change", "[#0012 src/app.ts sha 1c9e04ab]"),
        ("change_deleted", "[#0012 src/app.ts deleted]"),
        ("patched", "[src/app.ts sha 1c9e04ab]"),
        ("patched_deleted", "[src/app.ts deleted]"),
        ("created", "Created, 340 lines."),
        ("table_row", "| src/app.ts | 1-200 of 340 | 1c9e04ab | #0012 |"),
        ("table_lines", "1-200 of 340"),
        ("table_empty", "empty"),
        (
            "table_head",
            TABLE_HEAD,
        ),
    ],
)
def test_the_texts_are_those_of_the_specification(name: str, text: str) -> None:
    assert filled(getattr(CONTEXT.texts, name)) == text


def test_every_text_has_its_test() -> None:
    marks = test_the_texts_are_those_of_the_specification.pytestmark  # type: ignore[attr-defined]
    assert {name for name, _ in marks[0].args[1]} == set(CONTEXT.texts.__struct_fields__)


def test_a_file_with_an_unknown_or_missing_number_is_refused() -> None:
    loop = msgspec.json.decode(LOOP_JSON)
    loop["context"]["cap"]["more"] = 1
    with pytest.raises(msgspec.ValidationError, match="unknown field `more`"):
        msgspec.convert(loop, Loop)
    del loop["context"]["cap"]["more"], loop["context"]["ids"]
    with pytest.raises(msgspec.ValidationError, match="missing required field `ids`"):
        msgspec.convert(loop, Loop)


@pytest.mark.parametrize(
    "told",
    [
        filled(CONTEXT.texts.read),
        filled(CONTEXT.texts.unchanged),
        "lines elided, full output #",
        CONTEXT.texts.cut,
        "recall(id, offset?, limit?)",
        f"at most {CONTEXT.recall.window_lines} lines",
        "unified diff",
        "`Created`",
        "After a summary",
        "cannot\n  find the named result",
    ],
)
def test_a_model_is_told_what_it_will_see(told: str) -> None:
    assert told in PROMPT
