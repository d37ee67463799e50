"""Answers in the pieces in which they are stored."""

from waybread_daemon.hygiene.answer import Answer, Shape, sentence_answer, text_answer, text_of
from waybread_daemon.hygiene.events import Answered


def test_a_text_stands_under_its_id() -> None:
    answer = text_answer(1, Answered(1), b"out\n")
    assert (answer.lead, answer.shape, answer.capped, answer.body) == ("[#0001]\n", Shape.WHOLE, None, b"out\n")
    assert text_of(answer, answer.body) == "[#0001]\nout\n"


def test_an_empty_text_is_the_id_alone() -> None:
    answer = text_answer(1, Answered(1), b"")
    assert (answer.lead, answer.shape) == ("[#0001]", Shape.BARE)
    assert text_of(answer, b"") == "[#0001]"


def test_a_large_text_is_cut_and_its_bracket_does_not_count() -> None:
    body = b"a\n" * 401
    answer = text_answer(32, Answered(32), body)
    assert answer.shape is Shape.CUT
    assert text_of(answer, body) == "[#0020]\n" + "a\n" * 200 + "[101 lines elided, full output #0020]\n" + "a\n" * 100
    assert text_answer(32, Answered(32), b"x" * 40_000).shape is Shape.WHOLE


def test_a_sentence_stands_in_the_brackets_line_and_is_the_body() -> None:
    answer = sentence_answer(2, Answered(2), "No.", error=True)
    assert text_of(answer, answer.body) == "[#0002] No."
    assert (answer.body, answer.error, answer.stub_of) == (b"No.", True, 0)


def test_an_error_is_told_as_one() -> None:
    assert text_answer(1, Answered(1), b"no", error=True).error is True
    assert text_answer(1, Answered(1), b"", error=True).error is True


def test_the_numbers_of_shapes_are_stored_and_never_change() -> None:
    assert [(shape.name, int(shape)) for shape in Shape] == [("BARE", 0), ("WHOLE", 1), ("CUT", 2)]


def test_what_is_bare_shows_nothing_of_its_body() -> None:
    assert text_of(Answer(1, Answered(1), "[#0001 a deleted]"), b"never shown") == "[#0001 a deleted]"
