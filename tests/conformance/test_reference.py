import json
from collections.abc import Mapping
from pathlib import Path

from tests.conformance.reference import Session

ROOT = Path(__file__).resolve().parents[2]


def test_a_restart_builds_the_session_again_from_its_steps() -> None:
    session = Session("agent")
    read = {"do": "read", "path": "a", "absolute": "/a", "content": {"bytes": "b25lCg=="}}
    first = session.step(read)
    assert session.step({"do": "restart"}) == {}
    assert session.step(read)["stub_of"] == "#0001"
    assert first["text"] == "[#0001 a lines 1-1 of 1 sha 2c8b08da]\n1: one"


def test_a_refusal_is_answered_by_its_code() -> None:
    session = Session("agent")
    session.step({"do": "turn", "turn": "t"})
    session.step({"do": "take_back", "turns": ["t"]})
    assert session.step({"do": "turn", "turn": "t"}) == {"error": "key_conflict"}


def test_the_conversation_in_the_readme_is_what_a_program_answers() -> None:
    lines = (ROOT / "conformance" / "README.md").read_text("utf-8").split("\n")
    asked = [json.loads(line.strip()[2:]) for line in lines if line.strip().startswith("→ ")]
    told = [json.loads(line.strip()[2:]) for line in lines if line.strip().startswith("← ")]
    assert asked[0] == {"do": "begin", "kind": "agent"}
    session = Session("agent")
    answers: list[Mapping[str, object]] = [{}]
    answers += [session.step(step) for step in asked[1:]]
    for answer, wanted in zip(answers, told, strict=True):
        for name, value in wanted.items():
            # An ellipsis stands for the rest of a long text.
            assert str(answer[name]).startswith(value[:-1]) if str(value).endswith("…") else answer[name] == value
