import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conformance.fakes import program
from waybread_conformance.targets.contract import TargetError
from waybread_conformance.targets.exec import ExecTarget

ECHO = "print(json.dumps({'got': step}), flush=True)"


@pytest.fixture
def target(tmp_path: Path) -> Iterator[ExecTarget]:
    target = ExecTarget(program(tmp_path, ECHO), timeout_s=10)
    yield target
    target.close()


def test_each_step_is_a_line_and_each_line_an_answer(target: ExecTarget) -> None:
    target.begin("chat", "content")
    assert target.step({"do": "turn", "turn": "zwölf\n\u2028😀"}) == {"got": {"do": "turn", "turn": "zwölf\n\u2028😀"}}


def test_bytes_stand_as_base64(target: ExecTarget) -> None:
    target.begin("agent", "content")
    sent = {"do": "read", "content": {"bytes": b"\xff\n"}}
    assert target.step(sent) == {"got": {"do": "read", "content": {"bytes": "/wo="}}}


def test_a_number_with_a_fraction_of_zero_keeps_its_point(tmp_path: Path) -> None:
    target = ExecTarget(program(tmp_path, "print(json.dumps({'line': line}), flush=True)"))
    target.begin("agent", "content")
    assert '"n": 1.0' in str(target.step({"do": "result", "args": {"n": 1.0}})["line"])
    target.close()


@pytest.mark.parametrize(
    "body, complaint",
    [
        ("sys.exit(3)", "ended with status 3 instead of answering"),
        ("print('no json', flush=True)", "is no JSON"),
        ("print('[1]', flush=True)", "is no JSON object"),
        ("import time; time.sleep(30)", r"gave no answer within 0\.5 s"),
    ],
)
def test_a_program_that_does_not_answer_is_an_error(tmp_path: Path, body: str, complaint: str) -> None:
    target = ExecTarget(program(tmp_path, body), timeout_s=0.5 if "sleep" in body else 10)
    with pytest.raises(TargetError, match=complaint):
        target.begin("agent", "content")
    target.close()


def test_after_it_ended_a_program_is_started_again_for_the_next_case(tmp_path: Path) -> None:
    target = ExecTarget(program(tmp_path, f"if step['do'] == 'compact': sys.exit(1)\n{ECHO}"))
    target.begin("agent", "content")
    with pytest.raises(TargetError):
        target.step({"do": "compact"})
    target.begin("chat", "content")
    assert target.step({"do": "reads"}) == {"got": {"do": "reads"}}
    target.close()


def test_a_step_before_begin_is_an_error() -> None:
    with pytest.raises(TargetError, match="is not running"):
        ExecTarget(sys.executable).step({"do": "reads"})


def test_a_program_that_is_not_there_is_an_error() -> None:
    with pytest.raises(TargetError, match="cannot be started"):
        ExecTarget("./no-such-program --at-all").begin("agent", "content")


@pytest.mark.parametrize("command", ["", " ", "''", "a 'b"])
def test_a_text_that_names_no_program_is_refused(command: str) -> None:
    with pytest.raises(ValueError, match=r"it is empty|No closing quotation"):
        ExecTarget(command)


def test_a_program_that_is_started_already_is_not_started_again_for_the_first_case(
    target: ExecTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start_again(*_: object, **__: object) -> None:
        pytest.fail("it is started again")

    target.start()
    monkeypatch.setattr(subprocess, "Popen", start_again)
    target.begin("chat", "content")
    assert target.step({"do": "reads"}) == {"got": {"do": "reads"}}
