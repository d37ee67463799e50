"""This package as a target: it answers as the wire does, and a restart folds the session again from its store."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from waybread_conformance.targets.package import PackageTarget


@pytest.fixture
def target() -> Iterator[PackageTarget]:
    package = PackageTarget()
    yield package
    package.close()


def test_an_insertion_is_answered_with_the_text_for_the_model(target: PackageTarget) -> None:
    target.begin("agent", "content")
    answer = target.step({"do": "result", "tool": "bash", "text": "out"})
    assert (answer["text"], answer["stub_of"], answer["capped"]) == ("[#0001]\nout", None, False)


@pytest.mark.parametrize("form", ["content", "window", "hash"])
def test_a_read_is_answered_alike_in_every_form(target: PackageTarget, form: str) -> None:
    target.begin("agent", form)
    step = {"do": "read", "path": "a", "absolute": "/a", "content": {"text": "one\n"}}
    assert target.step(step)["text"] == "[#0001 a lines 1-1 of 1 sha 2c8b08da]\n1: one"
    assert target.step(step)["stub_of"] == "#0001"


def test_after_a_restart_ids_go_on_and_earlier_results_are_there(target: PackageTarget) -> None:
    target.begin("agent", "content")
    target.step({"do": "result", "tool": "bash", "text": "out"})
    assert target.step({"do": "restart"}) == {}
    assert target.step({"do": "recall", "result": "1"})["text"] == "[#0002 recall #0001 lines 1-1 of 1]\nout"


def test_a_refusal_names_its_code(target: PackageTarget) -> None:
    target.begin("agent", "content")
    assert target.step({"do": "show", "result": "7"})["error"] == "unknown_result"


def test_each_case_begins_with_nothing(target: PackageTarget) -> None:
    for _ in range(2):
        target.begin("agent", "content")
        assert target.step({"do": "result", "tool": "bash", "text": ""})["text"] == "[#0001]"
