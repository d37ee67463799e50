"""The files of cases: they keep to their schema, and every sentence of the README has a case."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import cast

import pytest
from jsonschema import Draft202012Validator, ValidationError

from waybread_conformance.cases import ContextCase, LinkCase, data_file, load_context, load_link
from waybread_conformance.context_runner import plain_steps
from waybread_conformance.describe import as_list, as_map, expand, expand_text, list_or_none, map_or_none

ROOT = Path(__file__).resolve().parents[2]
SENTENCE = re.compile(r"^- \*\*(\d+\.\d+)\*\* ", re.MULTILINE)
STEPS = {"read", "result", "recall", "change", "turn", "reply", "take_back", "carry", "compact"}


def sentences() -> list[str]:
    return SENTENCE.findall((ROOT / "conformance" / "README.md").read_text("utf-8"))


def used() -> dict[str, set[str]]:
    """Each case's name and the sentences that it names."""
    return {case.name: set(case.sentences) for case in all_cases()}


def all_cases() -> list[ContextCase | LinkCase]:
    return [*load_context(), *load_link()]


def maps(value: object) -> Iterator[Mapping[str, object]]:
    """Every map inside a JSON value."""
    fields = map_or_none(value)
    if fields is not None:
        yield fields
    for item in (list_or_none(value) or ()) if fields is None else fields.values():
        yield from maps(item)


def schema_of(name: str) -> Draft202012Validator:
    """The part of the schema for one file alone, so that an error names the step and not "neither of two"."""
    schema = json.loads(data_file("schema.json").read_text("utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator({**schema, "oneOf": [{"$ref": f"#/$defs/{name}"}]})


def misfits(name: str, document: object) -> list[str]:
    validator = schema_of(name)
    # Its argument is any JSON; the library's type for that is its own, and private.
    errors = cast("Callable[[object], Iterable[ValidationError]]", validator.iter_errors)(document)  # pyright: ignore[reportUnknownMemberType]
    return [f"{error.json_path}: {error.message:.200}" for error in errors]


@pytest.mark.parametrize("name", ["context", "link"])
def test_the_files_keep_to_their_schema(name: str) -> None:
    assert misfits(name, json.loads(data_file(f"{name}.json").read_text("utf-8"))) == []


@pytest.mark.parametrize("step", [{"do": "reply", "turns": 1}, {"do": "jump"}, {"do": "turn"}])
def test_the_schema_refuses_a_step_that_is_none(step: object) -> None:
    case = {"name": "n", "sentences": ["1.1"], "kind": "agent", "steps": [step]}
    assert len(misfits("context", {"version": 1, "cases": [case]})) == 1


def test_every_sentence_has_a_case() -> None:
    covered = set[str]().union(*used().values())
    assert [sentence for sentence in sentences() if sentence not in covered] == []


def test_every_case_names_sentences_that_exist() -> None:
    known = set(sentences())
    assert {name: named - known for name, named in used().items() if named - known} == {}


def test_sentences_are_numbered_without_gap_or_repeat() -> None:
    numbers = [tuple(map(int, sentence.split("."))) for sentence in sentences()]
    groups = sorted({group for group, _ in numbers})
    assert numbers == [(group, at) for group in groups for at in range(1, max(n for g, n in numbers if g == group) + 1)]


def test_names_are_unique() -> None:
    names = [case.name for case in all_cases()]
    assert sorted({name for name in names if names.count(name) > 1}) == []


def test_there_are_more_than_150_context_cases_with_every_kind_of_step() -> None:
    cases = load_context()
    assert len(cases) > 150
    assert {step["do"] for case in cases for step in case.steps} >= STEPS
    assert {case.kind for case in cases} == {"agent", "chat", "opaque"}


def test_every_case_expects_something() -> None:
    assert [case.name for case in load_context() if not any("expect" in step for step in case.steps)] == []
    expecting = ("expect", "refused", "code", "seconds")
    link = [case for case in load_link() if not any(name in step for step in case.steps for name in expecting)]
    assert [case.name for case in link if not any(step["do"] == "expect" for step in case.steps)] == []


def test_every_description_of_a_context_case_stands_for_something() -> None:
    for case in load_context():
        assert len(plain_steps(case)) == len(case.steps)
        for step in case.steps:
            expected = as_map(step.get("expect", {}), "`expect`")
            texts = [expected[name] for name in ("text", "table") if name in expected]
            for text in texts:
                pieces = as_list((map_or_none(text) or {}).get("parts", [text]), "`parts`")
                exact = [piece for piece in pieces if "diff" not in (map_or_none(piece) or {})]
                assert all(expand_text(piece, case.define) is not None for piece in exact)


def test_every_definition_is_used() -> None:
    for case in all_cases():
        named = {found["use"] for found in maps([dict(step) for step in case.steps]) if "use" in found}
        assert set(case.define) == named, case.name
        assert all(expand(case.define[name], case.define) for name in case.define)


def test_no_long_text_is_spelled_out() -> None:
    for name in ("context.json", "link.json"):
        lines = data_file(name).read_text("utf-8").split("\n")
        # The longest is a compaction table of fifty rows, whose ids no description counts.
        assert [line[:80] for line in lines if len(line) > 3000] == []
