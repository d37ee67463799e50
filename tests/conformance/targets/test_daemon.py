import base64
import hashlib
from collections.abc import Iterator, Mapping, Sequence

import pytest

from tests.conformance.fakes import json_daemon
from waybread_conformance.describe import as_map
from waybread_conformance.targets.contract import TargetError
from waybread_conformance.targets.daemon import FORMS, DaemonTarget

Map = Mapping[str, object]


class Recorder:
    """Keeps the requests and answers each by its type; `known` is whether contents need not be sent."""

    def __init__(self) -> None:
        self.requests: list[Map] = []
        self.known = True

    def answer(self, message: Map) -> Sequence[Map | int]:
        self.requests.append(message)
        re = message["id"]
        match message["type"]:
            case "hello":
                return (
                    [{"type": "welcome", "re": re}] if message["token"] == "t" else [{"type": "error", "re": re}, 4401]
                )
            case "result" if not self.known and "sha256" in str(message) and "text" not in str(message["body"]):
                needed = ["2c8b08da5ce60398e1f19af0e5dccc744df274b826abe585eaba68c525434806"]
                return [{"type": "error", "re": re, "code": "content_needed", "message": "send it", "needed": needed}]
            case "turn":
                return [{"type": "error", "re": re, "code": "key_conflict", "message": "taken back"}]
            case _:
                return [{"type": "inserted", "re": re, "text": "x", "stub_of": None, "capped": False}]

    @property
    def last(self) -> Map:
        return self.requests[-1]


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
def target(recorder: Recorder) -> Iterator[DaemonTarget]:
    with json_daemon(recorder.answer) as url:
        target = DaemonTarget(url, "t")
        yield target
        target.close()


READ = {"do": "read", "path": "a", "absolute": "/a", "content": {"text": "one\n"}}
SHA = hashlib.sha256(b"one\n").hexdigest()


def content(recorder: Recorder) -> object:
    return as_map(recorder.last["body"], "the body")["content"]


def test_a_case_with_files_is_tried_in_every_form_and_another_in_both_codecs() -> None:
    target = DaemonTarget("ws://127.0.0.1:1/link", "t")
    assert list(target.forms([{"do": "turn"}, READ])) == list(FORMS)
    assert list(target.forms([{"do": "turn"}])) == ["content, msgpack", "content, json"]


def test_a_case_has_a_new_session_which_is_deleted_after_it(target: DaemonTarget, recorder: Recorder) -> None:
    target.begin("chat", "content, json")
    target.begin("agent", "content, json")
    assert [request["type"] for request in recorder.requests] == ["hello", "open", "delete", "open"]
    opened, deleted, again = recorder.requests[1:]
    assert (opened["kind"], again["kind"]) == ("chat", "agent")
    assert opened["session"] == deleted["session"] != again["session"]


def test_whole_content_goes_as_bytes_and_as_text_by_turns(target: DaemonTarget, recorder: Recorder) -> None:
    target.begin("agent", "content, json")
    sent: list[object] = []
    for _ in range(2):
        assert target.step(READ)["text"] == "x"
        sent.append(content(recorder))
    assert sent == [{"bytes": base64.b64encode(b"one\n").decode()}, {"text": "one\n"}]


@pytest.mark.parametrize(
    "whole, asked, window",
    [
        ("one\n", {}, ("one\n", 1)),
        ("a\r\nb\nc", {"offset": 2}, ("b\nc", 3)),
        ("a\r\nb\nc", {"offset": 1, "limit": 1}, ("a\r\n", 3)),
        ("a\nb\n", {"offset": 3}, ("", 2)),
        ("a\nb\n", {"offset": -1, "limit": 0}, ("a\nb\n", 2)),
        ("\ufeffa\nb\n", {"limit": 1}, ("\ufeffa\n", 2)),
        ("\ufeffa\nb\n", {"offset": 2}, ("b\n", 2)),
        ("", {}, ("", 0)),
    ],
)
def test_a_window_is_the_lines_asked_for_with_length_and_hash(
    target: DaemonTarget, recorder: Recorder, whole: str, asked: Map, window: tuple[str, int]
) -> None:
    target.begin("agent", "window, json")
    target.step({**READ, **asked, "content": {"text": whole}})
    sha256 = hashlib.sha256(whole.encode()).hexdigest()
    assert content(recorder) == {"window": {"text": window[0], "lines": window[1], "sha256": sha256}}


def test_a_hash_is_offered_alone_and_the_content_only_when_it_is_asked_for(recorder: Recorder) -> None:
    recorder.known = False
    with json_daemon(recorder.answer) as url:
        target = DaemonTarget(url, "t")
        target.begin("agent", "hash, json")
        target.step(READ)
        target.step(READ)
        first, second, third, fourth = recorder.requests[2:]
        assert [str(request["body"]) for request in (first, third)] == [str(hash_alone())] * 2
        assert (first["key"], third["key"]) == (second["key"], fourth["key"])
        assert first["key"] != third["key"]
        assert content(recorder) == {"text": "one\n", "sha256": SHA}
        target.close()


def hash_alone() -> Map:
    return {"kind": "read", "path": "a", "absolute": "/a", "content": {"sha256": SHA}}


def test_a_change_offers_its_hashes_and_keeps_what_is_not_there(target: DaemonTarget, recorder: Recorder) -> None:
    target.begin("agent", "hash, json")
    change = {"path": "a", "absolute": "/a", "before": None, "after": {"text": "one\n"}}
    target.step({"do": "change", "tool": "write", "changes": [change], "note": "n"})
    assert recorder.last["tool"] == "write"
    assert recorder.last["body"] == {
        "kind": "change",
        "changes": [{"path": "a", "absolute": "/a", "before": None, "after": {"sha256": SHA}}],
        "note": "n",
    }


@pytest.mark.parametrize(
    "step, request_fields",
    [
        ({"do": "recall", "result": "1", "offset": 2}, {"type": "recall", "result": "1", "offset": 2}),
        ({"do": "take_back", "turns": ["t"]}, {"type": "take_back", "turns": ["t"]}),
        ({"do": "carry", "results": "all"}, {"type": "carry", "results": "all"}),
        ({"do": "compact"}, {"type": "compact"}),
        ({"do": "reads"}, {"type": "reads"}),
        ({"do": "show", "result": "1", "limit": 3}, {"type": "show", "result": "1", "limit": 3}),
        (
            {"do": "result", "tool": "grep", "args": {"a": 1}, "text": "x", "error": True},
            {"type": "result", "tool": "grep", "args": {"a": 1}, "body": {"kind": "text", "text": "x", "error": True}},
        ),
    ],
)
def test_a_step_is_the_request_of_its_name(
    target: DaemonTarget, recorder: Recorder, step: Map, request_fields: Map
) -> None:
    target.begin("agent", "content, json")
    target.step(step)
    sent = {name: value for name, value in recorder.last.items() if name not in ("id", "key", "session")}
    assert sent == request_fields
    assert ("key" in recorder.last) == (step["do"] not in ("reads", "show"))


def test_an_error_is_an_answer_with_its_code(target: DaemonTarget) -> None:
    target.begin("agent", "content, json")
    assert target.step({"do": "turn", "turn": "t"})["error"] == "key_conflict"


def test_a_restart_is_a_new_connection_to_the_same_session(target: DaemonTarget, recorder: Recorder) -> None:
    target.begin("agent", "content, json")
    session = recorder.last["session"]
    assert target.step({"do": "restart"}) == {}
    assert [request["type"] for request in recorder.requests[-2:]] == ["hello", "open"]
    assert recorder.last["session"] == session


def test_a_wrong_token_or_nobody_there_is_an_error(recorder: Recorder) -> None:
    with json_daemon(recorder.answer) as url, pytest.raises(TargetError, match="no welcome"):
        DaemonTarget(url, "wrong").begin("agent", "content, json")
    with pytest.raises(TargetError, match="cannot be reached"):
        DaemonTarget(url, "t").begin("agent", "content, json")
