"""recall: windows of stored bodies."""

import pytest

from tests.daemon.hygiene.stories import insert_text, opened
from waybread_daemon.hygiene.answer import Shape
from waybread_daemon.hygiene.events import Answered
from waybread_daemon.hygiene.recall import recall_answer, recalled_number, unknown_answer


def test_an_argument_names_a_result_that_was_given_before_the_recall_takes_its_own_number() -> None:
    state = opened()
    assert recalled_number(state, "1") == 0
    for _ in range(32):
        insert_text(state)
    for argument in ("#0020", "0020", "20", "#20", " \t20\n"):
        assert recalled_number(state, argument) == 32
    assert recalled_number(state, "21") == 0
    assert recalled_number(state, "0") == 0


@pytest.mark.parametrize(
    "offset, limit, shown",
    [(1, 2000, (1, 2000)), (2001, 2000, (2001, 3400)), (5, 1, (5, 5)), (0, 0, (1, 2000)), (3400, 9999, (3400, 3400))],
)
def test_the_bracket_names_the_stored_result_and_the_lines_shown(
    offset: int, limit: int, shown: tuple[int, int]
) -> None:
    state = opened()
    for _ in range(32):
        insert_text(state)
    answer = recall_answer(state, 32, 3400, offset, limit)
    assert answer.lead == f"[#0021 recall #0020 lines {shown[0]}-{shown[1]} of 3400]\n"
    assert (answer.lines, answer.shares, answer.shape) == (shown, 32, Shape.WHOLE)
    assert (answer.capped, answer.stub_of, answer.error, answer.event) == (None, 0, False, Answered(33))


def test_an_empty_body_has_a_bracket_of_its_own_at_any_offset() -> None:
    state = opened()
    insert_text(state)
    for offset in (1, 500, -1):
        answer = recall_answer(state, 1, 0, offset, 2000)
        assert (answer.lead, answer.shape, answer.error) == ("[#0002 recall #0001 empty]", Shape.BARE, False)


def test_past_the_end_is_an_error_that_names_the_stored_result() -> None:
    state = opened()
    insert_text(state)
    answer = recall_answer(state, 1, 3400, 5000, 1)
    assert answer.lead + answer.body.decode() == "[#0002] #0001 has 3400 lines: there is no line 5000."
    assert (answer.error, answer.shares) == (True, 0)


@pytest.mark.parametrize(
    "argument, named",
    [
        ("#ffff", "#ffff"),
        ("ffff", "#ffff"),
        (" #FFFF ", "#FFFF"),
        ("##a", "##a"),
        ("", "#"),
        ("a\nb", r"#a\nb"),
        ("é" * 65, "#" + "é" * 64),
        ("\x00" * 65, "#" + r"\x00" * 64),
        (" " * 100 + "x", "#x"),
    ],
)
def test_an_id_never_given_is_named_cut_and_then_escaped(argument: str, named: str) -> None:
    answer = unknown_answer(opened(), argument)
    assert answer.lead + answer.body.decode() == f"[#0001] No stored result {named} in this session."
    assert (answer.error, answer.event) == (True, Answered(1))
