"""Error codes and close codes: each once."""

import ast
import pathlib

import pytest

import waybread_client
import waybread_protocol
from waybread_protocol.errors import RETRY, CloseCode, ErrorCode, FrameError, RequestError

PACKAGES = [pathlib.Path(package.__path__[0]) for package in (waybread_protocol, waybread_client)]


def test_the_codes_are_those_of_the_contract() -> None:
    assert [code.value for code in ErrorCode] == [
        "unauthenticated", "forbidden", "bad_message", "unknown_type", "unknown_session", "gone", "read_only",
        "unknown_result", "key_conflict", "content_needed", "hash_mismatch", "too_large", "reset", "storage_full",
        "busy", "internal",
    ]  # fmt: skip
    assert [code.value for code in CloseCode] == [1001, 1007, 1009, 1012, 1013, 4401, 4403, 4408]


@pytest.mark.parametrize("code", ErrorCode)
def test_each_code_stands_once_in_the_code(code: ErrorCode) -> None:
    places = [
        (path.name, node.lineno)
        for package in PACKAGES
        for path in package.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and node.value == code.value
    ]
    assert [name for name, _ in places] == ["errors.py"], places


def test_only_what_may_pass_by_itself_can_be_tried_again() -> None:
    assert frozenset({"storage_full", "busy", "internal"}) == RETRY
    assert RequestError(ErrorCode.BUSY, "later").retry
    assert not RequestError(ErrorCode.GONE, "deleted").retry


def test_errors_are_sentences() -> None:
    error = RequestError(ErrorCode.CONTENT_NEEDED, "send it", re=4, needed=("a",))
    assert (str(error), error.re, error.needed) == ("content_needed: send it", 4, ("a",))
    assert str(FrameError(CloseCode.UNDECODABLE, "no message")) == "1007: no message"
