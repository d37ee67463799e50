from collections.abc import Mapping

import pytest

from waybread_conformance.expect import Difference, differences

READ = {"do": "read"}
EDIT = {
    "do": "change",
    "changes": [{"path": "a", "absolute": "/a", "before": {"text": "a\n"}, "after": {"bytes": b"b\n"}}],
}
PARTS = {"parts": ["[#0001 a sha x]\n", {"diff": 0}, "\nnote"]}


def fields(plain: Mapping[str, object], expect: Mapping[str, object], answer: Mapping[str, object]) -> list[str]:
    return [difference.field for difference in differences(plain, expect, answer, {"x": "defined"})]


def test_an_answer_as_expected_has_no_difference() -> None:
    answer = {"text": "defined", "stub_of": None, "capped": False, "seq": 5}
    assert differences(READ, {"text": {"use": "x"}}, answer, {"x": "defined"}) == []


@pytest.mark.parametrize(
    "answer, wrong",
    [
        ({"text": "b", "stub_of": None, "capped": False}, ["text"]),
        ({"text": "a", "stub_of": "#0001", "capped": False}, ["stub_of"]),
        ({"text": "a", "stub_of": None, "capped": True}, ["capped"]),
        ({"text": "a", "stub_of": None, "capped": 0}, ["capped"]),
        ({"text": "a", "stub_of": None}, ["capped"]),
        ({}, ["stub_of", "capped", "text"]),
        ({"error": "busy"}, ["error"]),
    ],
)
def test_what_a_case_leaves_out_is_no_stub_and_not_cut(answer: dict[str, object], wrong: list[str]) -> None:
    assert fields(READ, {"text": "a"}, answer) == wrong


def test_a_refusal_is_compared_by_its_code() -> None:
    turn = {"do": "turn"}
    assert fields(turn, {"error": "key_conflict"}, {"error": "key_conflict", "message": "m"}) == []
    assert fields(turn, {"error": "key_conflict"}, {"error": "gone"}) == ["error"]
    assert differences(turn, {"error": "key_conflict"}, {"repeated": True}, {}) == [
        Difference("error", "key_conflict", {"repeated": True})
    ]


@pytest.mark.parametrize(
    "text, why",
    [
        ("[#0001 a sha x]\n@@ -1 +1 @@\n-a\n+b\nnote", None),
        ("[#0001 a sha x]\n@@ -1 +1 @@\n+b\n-a\nnote", None),
        ("[#0001 a sha x]\n@@ -1 +1 @@\n-a\n+c\nnote", "the diff is not right"),
        ("[#0002 a sha x]\n@@ -1 +1 @@\n-a\n+b\nnote", "is wanted"),
        ("[#0001 a sha x]\n@@ -1 +1 @@\n-a\n+b", "is wanted"),
        ("[#0001 a sha x]\n@@ -1 +1 @@\n-a\n+b\nnote!", "is too much"),
        (5, ""),
    ],
)
def test_a_text_of_parts_takes_any_right_diff_and_nothing_else(text: object, why: str | None) -> None:
    found = differences(EDIT, {"text": PARTS}, {"text": text, "stub_of": None, "capped": False}, {})
    assert [difference.field for difference in found] == ([] if why is None else ["text"])
    assert why is None or why in found[0].why


def test_rows_are_compared_in_order_by_the_fields_that_are_named() -> None:
    rows = [{"path": "a", "result": "#0001", "changed": False}, {"path": "b", "result": "#0002", "changed": True}]
    step = {"do": "reads"}
    assert fields(step, {"reads": [{"path": "a"}, {"path": "b", "changed": True}]}, {"reads": rows}) == []
    assert fields(step, {"reads": [{"path": "b"}, {"path": "a"}]}, {"reads": rows}) == ["reads"]
    assert fields(step, {"reads": [{"path": "a"}]}, {"reads": rows}) == ["reads"]
    assert fields(step, {"reads": [{"changed": 0}, {}]}, {"reads": rows}) == ["reads"]
    assert fields(step, {"reads": []}, {"reads": None}) == ["reads"]
