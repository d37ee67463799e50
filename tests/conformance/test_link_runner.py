from collections.abc import Callable, Mapping, Sequence

import pytest

from tests.conformance.fakes import json_daemon
from waybread_conformance.cases import LinkCase, Step
from waybread_conformance.context_runner import Outcome
from waybread_conformance.link_runner import run_link

Map = Mapping[str, object]
TOKENS = {"device": "secret"}


def plain(message: Map) -> Sequence[Map | int]:
    """A daemon that says welcome to the right token, answers what it knows, and pushes one entry before it."""
    re = message.get("id", 0)
    match message:
        case {"type": "hello", "token": "secret"}:
            return [{"type": "welcome", "re": re, "role": "device"}]
        case {"type": "hello"}:
            return [{"type": "error", "re": re, "code": "unauthenticated", "message": "no"}, 4401]
        case {"type": "ping"}:
            return [{"type": "entry", "entry": {"seq": 1}}, {"type": "done", "re": re}]
        case _:
            return [{"type": "error", "re": re, "code": "unknown_type", "message": "no such type"}]


def run(*steps: Step, answers: Callable[[Map], Sequence[Map | int]] = plain) -> Outcome:
    with json_daemon(answers) as url:
        (outcome,) = run_link([LinkCase("the case", ["20.1"], steps, codecs=["json"])], url, TOKENS)
    return outcome


LINK: Step = {"do": "connect", "as": "device", "expect": {"role": "device"}}
PING: Step = {"do": "ask", "message": {"type": "ping"}, "expect": {"type": "done"}}


@pytest.mark.parametrize(
    "steps",
    [
        [LINK, PING],
        [LINK, PING, {"do": "expect", "message": {"type": "entry", "entry": {"seq": 1}}}],
        [LINK, {"do": "ask", "message": {"type": "x"}, "expect": {"code": "unknown_type"}}],
        [LINK, {"do": "send", "message": {"type": "ping", "id": 9}}, {"do": "expect", "message": {"re": 9}}],
        [LINK, {"do": "send", "frame": '{"type": "y"}'}, {"do": "expect", "message": {"re": 0, "type": "error"}}],
        [LINK, {"do": "silence", "seconds": 0.05}],
        [{"do": "connect", "on": "b"}, {**LINK, "on": "c"}, {**PING, "on": "c"}, {"do": "close", "on": "b"}],
        [
            {"do": "connect"},
            {"do": "send", "message": {"type": "hello", "id": 1}},
            {"do": "expect", "message": {"re": 1, "code": "unauthenticated"}},
            {"do": "expect_close", "code": 4401},
        ],
        [{"do": "connect", "subprotocols": [], "refused": {"status": 400}}],
        [{"do": "connect", "subprotocols": ["a", "waybread.v1.json"], "subprotocol": "waybread.v1.json"}],
        [{"do": "http", "path": "/link", "expect": {"status": 426}}],
    ],
)
def test_a_conversation_as_expected_passes(steps: Sequence[Step]) -> None:
    outcome = run(*steps)
    assert (outcome.passed, outcome.form) == (True, "json"), outcome.differences


@pytest.mark.parametrize(
    "steps, at, complaint",
    [
        ([LINK, {**PING, "expect": {"type": "page"}}], 2, "type: 'page' is wanted, got 'done'"),
        ([{**LINK, "expect": {"role": "agent"}}], 1, "role: 'agent' is wanted"),
        ([LINK, PING, {"do": "expect", "message": {"type": "lagged"}}], 3, "type: 'lagged' is wanted"),
        ([LINK, PING, {"do": "silence", "seconds": 0.05}], 3, "nothing is wanted"),
        ([LINK, {"do": "send", "message": {"type": "x"}}, {"do": "expect_close", "code": 1007}], 3, "a message came"),
        (
            [{"do": "connect"}, {"do": "send", "message": {"type": "hello"}}, {"do": "expect_close", "code": 1}],
            3,
            "came",
        ),
        ([LINK, {"do": "close"}, LINK, {"do": "send", "frame": "{}"}, PING], 5, "re: "),
        ([{"do": "connect", "refused": {"status": 403}}], 1, ""),
        ([{"do": "connect", "subprotocols": ["x"]}], 1, "HTTP 400"),
        ([{"do": "http", "path": "/x", "expect": {"status": 200}}], 1, "status: 200 is wanted, got 426"),
    ],
)
def test_a_daemon_that_does_something_else_fails_at_that_step(steps: Sequence[Step], at: int, complaint: str) -> None:
    outcome = run(*steps)
    assert (outcome.passed, outcome.at) == (False, at)
    assert complaint in outcome.differences[0].why


def test_a_close_with_another_code_fails() -> None:
    outcome = run(
        {"do": "connect"}, {"do": "send", "frame": "{}"}, {"do": "expect_close", "code": 1007}, answers=lambda _: [1009]
    )
    assert outcome.differences[0].why == "the message: 1007 is wanted, got 1009"


def test_a_daemon_that_closes_in_the_middle_fails_the_case() -> None:
    outcome = run(LINK, PING, answers=lambda message: plain(message) if message["type"] == "hello" else [1011])
    assert (outcome.at, outcome.passed) == (2, False)
    assert "closed with 1011" in outcome.differences[0].why


def test_a_case_whose_role_has_no_token_is_passed_over() -> None:
    steps: Sequence[Step] = [{"do": "connect", "as": "viewer"}]
    (outcome,) = run_link([LinkCase("the case", ["20.9"], steps)], "ws://127.0.0.1:1/link", TOKENS)
    assert (outcome.form, outcome.passed_over) == ("", "there is no token for viewer")


def test_sessions_that_a_case_has_named_are_deleted_after_it() -> None:
    seen: list[Map] = []

    def keep(message: Map) -> Sequence[Map | int]:
        seen.append(message)
        return plain(message)

    run(LINK, {"do": "ask", "message": {"type": "open", "session": {"$session": "a"}}, "expect": {}}, answers=keep)
    assert [message["type"] for message in seen] == ["hello", "open", "hello", "delete"]
    assert seen[1]["session"] == seen[3]["session"]
