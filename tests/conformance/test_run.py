import io
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.conformance.fakes import FakeTarget, json_daemon, program
from waybread_conformance.cases import load_context
from waybread_conformance.run import run

ROOT = Path(__file__).resolve().parents[2]


def test_every_context_case_holds_for_the_plain_model_as_a_program() -> None:
    out = io.StringIO()
    command = program_of_the_model()
    assert (run(exec_command=command, out=out), out.getvalue().count("FAILED")) == (0, 0), out.getvalue()
    assert out.getvalue().endswith(" passed, 0 failed\n")


def program_of_the_model() -> str:
    return f"{sys.executable} {ROOT / 'tests' / 'conformance' / 'reference.py'}"


def test_a_program_that_lies_is_reported_as_failing(tmp_path: Path) -> None:
    # Right for the first result of a session, and for nothing after it.
    command = program(
        tmp_path, 'print(json.dumps({"text": "[#0001]\\nok", "stub_of": None, "capped": False}), flush=True)'
    )
    out = io.StringIO()
    assert run(exec_command=command, only="the first result is #0001, the second #0002", out=out) == 1
    printed = out.getvalue().split("\n")
    assert printed[0] == "FAILED the first result is #0001, the second #0002 (content)"
    assert printed[1] == '  step 2: {"do": "result", "tool": "bash", "text": "ok"}'
    assert [line.split() for line in printed[4:5]] == [[">", "[#0002]", "|", "[#0001]"]]
    assert printed[-2].endswith(": 0 passed, 1 failed")


def test_a_package_is_run_in_this_process() -> None:
    target = FakeTarget(lambda _step: {"text": "[#0001]", "stub_of": None, "capped": False})
    assert run(package=target, only="nothing follows the bracket of a result without text", out=io.StringIO()) == 0


def test_a_name_that_no_case_has_is_a_failure_and_told(capsys: pytest.CaptureFixture[str]) -> None:
    out = io.StringIO()
    assert run(package=FakeTarget(lambda _step: {}), only="no case has such a name", out=out) == 1
    assert out.getvalue() == ""
    assert "No case has 'no case has such a name' in its name" in capsys.readouterr().err


def test_cases_of_the_link_alone_ask_for_a_daemon(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(package=FakeTarget(lambda _step: {}), only="a wrong token", out=io.StringIO()) == 1
    assert capsys.readouterr().err == (
        "waybread conformance: Only cases of the link have 'a wrong token' in their name: "
        "name a daemon with --url and --token.\n"
    )


def test_nothing_run_is_a_failure_and_told(capsys: pytest.CaptureFixture[str]) -> None:
    impatient = FakeTarget(lambda _step: {}, patient=False)
    long = next(case.name for case in load_context() if case.long)
    out = io.StringIO()
    assert run(package=impatient, only=long, out=out) == 1
    assert out.getvalue().endswith("0 passed, 0 failed (1 passed over in whole or in part)\n")
    assert "Nothing was run" in capsys.readouterr().err


def test_a_program_that_cannot_be_started_is_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    out = io.StringIO()
    assert run(exec_command="/nonexistent --at-all", out=out) == 1
    assert out.getvalue() == ""
    assert capsys.readouterr().err.startswith("waybread conformance: /nonexistent --at-all cannot be started (")


def test_a_daemon_is_tried_on_both_files() -> None:
    def refuse(message: Mapping[str, object]) -> Sequence[Mapping[str, object] | int]:
        return [{"type": "error", "re": message.get("id", 0), "code": "unauthenticated", "message": "no"}, 1000]

    out = io.StringIO()
    with json_daemon(refuse) as url:
        assert run(url=url, token="t", only="a wrong token", out=out) == 1
        assert run(url=url, token="t", only="an edit and its undoing", out=out) == 1
    assert "FAILED a wrong token (json)" in out.getvalue()
    assert "FAILED an edit and its undoing leave the first read valid (content, json)" in out.getvalue()


@pytest.mark.parametrize(
    "url, token, command, sentence",
    [
        (None, None, None, "Name one target"),
        ("ws://127.0.0.1:1/link", "t", "true", "Name one target"),
        ("ws://127.0.0.1:1/link", None, None, "A daemon takes a token"),
        (None, None, "", "The text of --exec is no command (it is empty)"),
        (None, None, "a 'b", "The text of --exec is no command (No closing quotation)"),
    ],
)
def test_wrong_usage_is_told_in_a_sentence(
    url: str | None, token: str | None, command: str | None, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(url=url, token=token, exec_command=command) == 2
    assert sentence in capsys.readouterr().err
