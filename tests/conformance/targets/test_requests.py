"""Steps as requests: a file's content goes out in the form that is asked for, and is offered by hash alone first."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Mapping
from typing import Any, cast

import pytest

from waybread_conformance.targets.contract import Answer, TargetError
from waybread_conformance.targets.requests import RequestTarget

SHA = hashlib.sha256(b"one\ntwo\n").hexdigest()
READ = {"do": "read", "path": "a", "absolute": "/a", "content": {"text": "one\ntwo\n"}}


class Recorder(RequestTarget):
    """Keeps the requests. The first read by its hash alone is answered by `content_needed`."""

    def __init__(self, needed: str = SHA) -> None:
        super().__init__()
        self.asked: list[dict[str, Any]] = []
        self.restarts = 0
        self._needed = needed

    def ask(self, request: Mapping[str, object]) -> Answer:
        self.asked.append(copy.deepcopy(dict(request)))
        body = cast("dict[str, Any]", request.get("body", {}))
        if set(body.get("content", {})) == {"sha256"}:
            return {"error": "content_needed", "needed": [self._needed]}
        return {"text": "answered"}

    def restart(self) -> None:
        self.restarts += 1


def bodies(target: Recorder) -> list[dict[str, Any]]:
    return [request["body"]["content"] for request in target.asked if request["type"] == "result"]


def test_whole_content_goes_out_as_bytes_and_as_text_in_turn() -> None:
    target = Recorder()
    target.begin("agent", "content")
    target.step(READ)
    target.step(READ)
    assert bodies(target) == [{"bytes": b"one\ntwo\n"}, {"text": "one\ntwo\n"}]


@pytest.mark.parametrize("offset, limit, text", [(1, 2000, "one\ntwo\n"), (2, 1, "two\n"), (0, 1, "one\n"), (3, 1, "")])
def test_a_window_holds_the_lines_asked_for_with_the_length_and_hash_of_the_file(
    offset: int, limit: int, text: str
) -> None:
    target = Recorder()
    target.begin("agent", "window")
    target.step({**READ, "offset": offset, "limit": limit})
    assert bodies(target) == [{"window": {"text": text, "lines": 2, "sha256": SHA}}]


def test_content_follows_its_hash_under_the_same_key_when_it_is_asked_for() -> None:
    target = Recorder()
    target.begin("agent", "hash")
    assert target.step(READ) == {"text": "answered"}
    assert bodies(target) == [{"sha256": SHA}, {"bytes": b"one\ntwo\n", "sha256": SHA}]
    first, second = (request["key"] for request in target.asked if request["type"] == "result")
    assert first == second


def test_a_target_that_asks_for_a_hash_which_nobody_named_is_wrong() -> None:
    target = Recorder(needed="0" * 64)
    target.begin("agent", "hash")
    with pytest.raises(TargetError, match="content_needed names"):
        target.step(READ)


def test_a_new_case_deletes_the_session_of_the_one_before_and_opens_one_of_another_name() -> None:
    target = Recorder()
    target.begin("agent", "content")
    target.begin("chat", "content")
    assert [request["type"] for request in target.asked] == ["open", "delete", "open"]
    assert [request.get("kind") for request in target.asked] == ["agent", None, "chat"]
    assert target.asked[0]["session"] == target.asked[1]["session"] != target.asked[2]["session"]


def test_after_a_restart_the_session_is_opened_again_under_its_name() -> None:
    target = Recorder()
    target.begin("agent", "content")
    assert target.step({"do": "restart"}) == {}
    assert target.restarts == 1
    assert [request["type"] for request in target.asked] == ["open", "open"]
    assert target.asked[0]["session"] == target.asked[1]["session"]


def test_a_step_that_no_request_stands_for_is_no_step() -> None:
    target = Recorder()
    target.begin("agent", "content")
    with pytest.raises(TargetError, match="no request stands for the step 'dance'"):
        target.step({"do": "dance"})
