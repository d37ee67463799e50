import json
from pathlib import Path

import pytest

from waybread_conformance.cases import CaseError, data_file, load_context, load_link

CASE = {"name": "n", "sentences": ["1.1"], "kind": "chat", "steps": [{"do": "reply"}]}


def written(folder: Path, *cases: object) -> Path:
    path = folder / "cases.json"
    path.write_text(json.dumps({"version": 1, "cases": list(cases)}), encoding="utf-8")
    return path


def test_a_context_case_is_loaded_with_its_defaults(tmp_path: Path) -> None:
    (case,) = load_context(written(tmp_path, CASE))
    assert (case.name, case.kind, list(case.sentences), case.why, case.define, case.long) == (
        "n", "chat", ["1.1"], "", {}, False,
    )  # fmt: skip


def test_a_link_case_runs_in_both_codecs_unless_it_says_otherwise(tmp_path: Path) -> None:
    both, one = load_link(written(tmp_path, CASE, {**CASE, "codecs": ["json"]}))
    assert (list(both.codecs), list(one.codecs)) == (["msgpack", "json"], ["json"])


@pytest.mark.parametrize(
    "case, complaint",
    [
        ({**CASE, "kind": "tree"}, "n: no such kind of session: tree"),
        ({**CASE, "name": 5}, "`name` has to be a string"),
        ({**CASE, "sentences": "1.1"}, "`sentences` has to be a list"),
        ({**CASE, "steps": ["reply"]}, "n: `steps` has to be a list of maps"),
    ],
)
def test_a_case_that_misses_a_field_is_refused_by_name(tmp_path: Path, case: object, complaint: str) -> None:
    with pytest.raises(CaseError, match=r"cases\.json") as caught:
        load_context(written(tmp_path, case))
    assert complaint in str(caught.value)


@pytest.mark.parametrize("text", ["{", "[]", '{"cases": 1}'])
def test_a_file_that_holds_no_cases_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "cases.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CaseError):
        load_link(path)


def test_a_file_that_is_nowhere_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(CaseError, match="install the package again"):
        data_file("no-such-file.json")
