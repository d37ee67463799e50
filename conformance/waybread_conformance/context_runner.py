"""Runs the cases of context.json against a target."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from waybread_conformance.cases import ContextCase, Step
from waybread_conformance.describe import expand, expand_text
from waybread_conformance.expect import Difference, differences
from waybread_conformance.targets.contract import UNSUPPORTED, PlainStep, Target, TargetError

OPTIONAL_STEPS = frozenset({"show", "reads", "restart"})
_DESCRIBED_TEXTS = ("path", "absolute", "text", "note", "result")


@dataclass(frozen=True)
class Outcome:
    """How a case went in one form: `differences` is empty where it passed. `at` is the step, counted from 1."""

    case: str
    form: str
    at: int = 0
    step: Mapping[str, object] = field(default_factory=dict[str, object])
    differences: Sequence[Difference] = ()
    passed_over: str = ""
    """Why the case, or a step of it, was not run; empty where all of it was."""

    @property
    def passed(self) -> bool:
        """Whether every step that was run got the answer that it has to get."""
        return not self.differences


def run_context(cases: Iterable[ContextCase], target: Target) -> Iterator[Outcome]:
    """Run each case in each of the target's forms; a case ends at its first wrong answer."""
    for case in cases:
        if case.long and not target.patient:
            yield Outcome(case.name, "", passed_over="it takes too many steps for this target")
            continue
        steps = plain_steps(case)
        for form in target.forms(steps):
            yield _run(case, steps, target, form)


def plain_steps(case: ContextCase) -> list[PlainStep]:
    """The case's steps as a target gets them: descriptions written out, `reply` said in the kind's own way."""
    plain: list[PlainStep] = []
    replies = 0
    for step in case.steps:
        if step.get("do") == "reply":
            replies += 1
            plain.append(_reply(case.kind, replies))
        else:
            plain.append(_plain(step, case.define))
    return plain


def _run(case: ContextCase, steps: Sequence[PlainStep], target: Target, form: str) -> Outcome:
    passed_over = ""
    at = 0
    try:
        target.begin(case.kind, form)
        for at, (step, plain) in enumerate(zip(case.steps, steps, strict=True), start=1):
            answer = _repeat(target, plain, cast("int", step.get("times", 1)))
            if answer.get(UNSUPPORTED) and plain["do"] in OPTIONAL_STEPS:
                passed_over = f"the target has no step `{plain['do']}`"
                continue
            expect = cast("Mapping[str, object] | None", step.get("expect"))
            wrong = _refusal(answer) if expect is None else differences(plain, expect, answer, case.define)
            if wrong:
                return Outcome(case.name, form, at, step, wrong)
    except TargetError as error:
        why = Difference("answer", "an answer", None, str(error))
        return Outcome(case.name, form, at, case.steps[at - 1] if at else {}, [why])
    return Outcome(case.name, form, passed_over=passed_over)


def _refusal(answer: Mapping[str, object]) -> list[Difference]:
    """A step without `expect` may be answered by anything but a refusal."""
    error = answer.get("error")
    return [Difference("error", None, error, f"the step is refused: {answer.get('message', error)}")] if error else []


def _repeat(target: Target, plain: PlainStep, times: int) -> Mapping[str, object]:
    for _ in range(times - 1):
        target.step(plain)
    return target.step(plain)


def _reply(kind: str, number: int) -> PlainStep:
    """A request that carries none of the results so far."""
    if kind == "chat":
        return {"do": "turn", "turn": f"reply-{number}"}
    return {"do": "carry", "results": "none"}


def _plain(step: Step, named: Mapping[str, object]) -> PlainStep:
    plain = {name: value for name, value in step.items() if name not in ("expect", "times")}
    for name in _DESCRIBED_TEXTS:
        if name in plain:
            plain[name] = expand_text(plain[name], named)
    if "content" in plain:
        plain["content"] = _content(plain["content"], named)
    if "changes" in plain:
        plain["changes"] = [_change(change, named) for change in cast("list[Mapping[str, object]]", plain["changes"])]
    return plain


def _change(change: Mapping[str, object], named: Mapping[str, object]) -> PlainStep:
    before, after = change.get("before"), change.get("after")
    return {
        "path": expand_text(change["path"], named),
        "absolute": expand_text(change["absolute"], named),
        "before": None if before is None else _content(before, named),
        "after": None if after is None else _content(after, named),
    }


def _content(description: object, named: Mapping[str, object]) -> PlainStep:
    plain = expand(description, named)
    return {"bytes": plain} if isinstance(plain, bytes) else {"text": plain}
