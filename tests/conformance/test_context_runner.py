import hashlib

from tests.conformance.fakes import FakeTarget
from waybread_conformance.cases import ContextCase, Step
from waybread_conformance.context_runner import Outcome, plain_steps, run_context
from waybread_conformance.targets.contract import Answer, PlainStep, TargetError


def case(*steps: Step, kind: str = "agent", long: bool = False) -> ContextCase:
    return ContextCase("the case", ["1.1"], kind, steps, define={"x": {"repeat": "ab", "times": 2}}, long=long)


def numbered(step: PlainStep) -> Answer:
    return {"text": f"[#0001]\n{step.get('text')}", "stub_of": None, "capped": False}


def run(target: FakeTarget, *cases: ContextCase) -> list[Outcome]:
    return list(run_context(cases, target))


SAY: Step = {"do": "result", "tool": "t", "text": {"use": "x"}, "expect": {"text": "[#0001]\nabab"}}


def test_a_case_passes_in_every_form_of_the_target() -> None:
    target = FakeTarget(numbered, forms=("whole", "window"))
    assert [(outcome.form, outcome.passed) for outcome in run(target, case(SAY))] == [("whole", True), ("window", True)]
    assert target.begun == [("agent", "whole"), ("agent", "window")]


def test_a_target_gets_a_step_without_what_is_expected_and_with_its_text_written_out() -> None:
    target = FakeTarget(numbered)
    run(target, case(SAY))
    assert target.steps == [{"do": "result", "tool": "t", "text": "abab"}]


def test_a_case_ends_at_its_first_wrong_answer() -> None:
    target = FakeTarget(lambda _step: {"text": "[#0002]\nabab", "stub_of": None, "capped": False})
    (outcome,) = run(target, case({"do": "turn", "turn": "t"}, SAY, SAY))
    assert (outcome.passed, outcome.at, [difference.field for difference in outcome.differences]) == (
        False,
        2,
        ["text"],
    )
    assert len(target.steps) == 2


def test_a_refusal_that_is_not_expected_fails_a_step_that_expects_nothing() -> None:
    (outcome,) = run(FakeTarget(lambda _step: {"error": "busy", "message": "later"}), case({"do": "turn", "turn": "t"}))
    assert outcome.differences[0].why == "the step is refused: later"


def test_a_step_with_times_is_done_so_often_and_its_last_answer_counts() -> None:
    answers = iter(range(5))
    target = FakeTarget(lambda _step: {"text": str(next(answers)), "stub_of": None, "capped": False})
    step: Step = {"do": "result", "tool": "t", "text": "x", "times": 5, "expect": {"text": "4"}}
    assert [outcome.passed for outcome in run(target, case(step))] == [True]


def test_a_target_that_cannot_go_on_fails_the_case_and_gets_the_next() -> None:
    def end(_step: PlainStep) -> Answer:
        raise TargetError("it ended")

    target = FakeTarget(end)
    outcomes = run(target, case(SAY), case(SAY))
    assert [outcome.differences[0].why for outcome in outcomes] == ["it ended", "it ended"]
    assert len(target.begun) == 2


def test_a_step_that_the_target_lacks_is_passed_over_where_it_is_optional() -> None:
    target = FakeTarget(lambda step: {"unsupported": True} if step["do"] != "result" else numbered(step))
    (outcome,) = run(target, case({"do": "restart"}, SAY))
    assert (outcome.passed, outcome.passed_over) == (True, "the target has no step `restart`")
    (outcome,) = run(target, case({"do": "compact", "expect": {"table": ""}}))
    assert not outcome.passed


def test_a_long_case_is_run_by_patient_targets_only() -> None:
    (outcome,) = run(FakeTarget(numbered, patient=False), case(SAY, long=True))
    assert (outcome.form, outcome.passed_over) == ("", "it takes too many steps for this target")
    assert [outcome.form for outcome in run(FakeTarget(numbered), case(SAY, long=True))] == ["only"]


def test_a_reply_is_a_chats_next_turn_and_elsewhere_a_request_that_carries_nothing() -> None:
    steps = [{"do": "reply"}, {"do": "reply"}]
    assert plain_steps(case(*steps, kind="chat")) == [
        {"do": "turn", "turn": "reply-1"},
        {"do": "turn", "turn": "reply-2"},
    ]
    nothing = {"do": "carry", "results": "none"}
    assert [plain_steps(case(*steps, kind=kind)) for kind in ("agent", "opaque")] == [[nothing] * 2] * 2


def test_contents_are_text_or_bytes_and_changes_may_lack_a_side() -> None:
    steps: list[Step] = [
        {"do": "read", "path": {"use": "x"}, "absolute": "/x", "content": {"hex": "ff"}},
        {"do": "change", "changes": [{"path": "a", "absolute": "/a", "before": None, "after": {"use": "x"}}]},
    ]
    assert plain_steps(case(*steps)) == [
        {"do": "read", "path": "abab", "absolute": "/x", "content": {"bytes": b"\xff"}},
        {"do": "change", "changes": [{"path": "a", "absolute": "/a", "before": None, "after": {"text": "abab"}}]},
    ]


def test_the_contents_that_share_eight_digits_of_their_hash_do_share_them() -> None:
    first, second = (hashlib.sha256(f"version {n}\n".encode()).hexdigest() for n in (712, 10007))
    assert first[:8] == second[:8]
    assert first != second
