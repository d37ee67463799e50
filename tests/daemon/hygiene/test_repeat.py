"""The same search or listing twice."""

import pytest

from tests.daemon.hygiene.stories import insert_text, opened
from waybread_daemon.hygiene.answer import Shape
from waybread_daemon.hygiene.events import Answered, Compacted, Searched


@pytest.mark.parametrize("tool", ["list", "glob", "grep", "search"])
def test_the_same_call_with_the_same_text_is_a_stub(tool: str) -> None:
    state = opened()
    first = insert_text(state, "x.py:1\n", tool, b'{"p":"x"}')
    assert isinstance(first.event, Searched)
    stub = insert_text(state, "x.py:1\n", tool, b'{"p":"x"}')
    assert (stub.lead, stub.shape) == ("[#0002] Same result as #0001.", Shape.BARE)
    assert (stub.shares, stub.stub_of, stub.error, stub.event) == (1, 1, False, Answered(2))
    assert insert_text(state, "x.py:1\n", tool, b'{"p":"x"}').stub_of == 1


@pytest.mark.parametrize("tool", ["bash", "read", "GREP", "grep2", "", "web_search"])
def test_no_other_tool_is_deduplicated(tool: str) -> None:
    state = opened()
    insert_text(state, "same", tool)
    assert insert_text(state, "same", tool).stub_of == 0


@pytest.mark.parametrize(
    "body, tool, args",
    [("other", "grep", b"{}"), ("hit ", "grep", b"{}"), ("hit", "glob", b"{}"), ("hit", "grep", b'{"a":1}')],
)
def test_another_text_another_tool_or_other_arguments_are_shown_in_full(body: str, tool: str, args: bytes) -> None:
    state = opened()
    insert_text(state, "hit", "grep")
    assert insert_text(state, body, tool, args).stub_of == 0


def test_the_border_between_tool_and_arguments_does_not_move() -> None:
    state = opened()
    insert_text(state, "hit", "list", b'"grep"')
    assert insert_text(state, "hit", "grep", b'"list"').stub_of == 0


def test_an_error_is_no_stub_and_no_target() -> None:
    state = opened()
    assert insert_text(state, "no", "grep", error=True).event == Answered(1)
    assert insert_text(state, "no", "grep").stub_of == 0
    again = insert_text(state, "no", "grep", error=True)
    assert (again.stub_of, again.error) == (0, True)
    assert insert_text(state, "no", "grep").stub_of == 2


def test_of_several_that_match_the_newest_is_named() -> None:
    state = opened()
    insert_text(state, "a", "grep")
    insert_text(state, "b", "grep")
    state.apply(Compacted("agent", 2, ""))
    insert_text(state, "a", "grep")
    assert insert_text(state, "a", "grep").stub_of == 3


def test_an_empty_listing_twice_is_a_stub_and_its_first_is_the_id_alone() -> None:
    state = opened()
    assert insert_text(state, "", "glob").lead == "[#0001]"
    assert insert_text(state, "", "glob").lead == "[#0002] Same result as #0001."


def test_a_capped_search_is_compared_by_its_full_text() -> None:
    state = opened()
    body = "hit\n" * 1000
    assert insert_text(state, body, "grep").capped is not None
    middle = body[:2000] + "hot\n" + body[2004:]
    assert insert_text(state, middle, "grep").stub_of == 0
    assert insert_text(state, body, "grep").stub_of == 1
