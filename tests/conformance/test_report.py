import io

from waybread_conformance.context_runner import Outcome
from waybread_conformance.expect import Difference
from waybread_conformance.report import Counts, report, side_by_side

WRONG = Outcome(
    "a case", "json", 2, {"do": "turn", "turn": "t", "expect": {}}, [Difference("text", "one\ntwo", "one\n2")]
)


def printed(*outcomes: Outcome) -> tuple[Counts, str]:
    out = io.StringIO()
    return report(outcomes, out), out.getvalue()


def test_what_passes_is_counted_and_not_printed() -> None:
    assert printed(Outcome("a", "x"), Outcome("a", "y")) == (Counts(passed=2), "")


def test_what_differs_is_printed_with_its_step_and_side_by_side() -> None:
    counts, text = printed(WRONG)
    assert counts == Counts(failed=1)
    lines = text.split("\n")
    assert lines[:2] == ["FAILED a case (json)", '  step 2: {"do": "turn", "turn": "t"}']
    assert [line.split() for line in lines[3:6]] == [
        ["expected", "|", "got"],
        ["one", "|", "one"],
        [">", "two", "|", "2"],
    ]


def test_what_was_passed_over_is_told_apart() -> None:
    counts, _ = printed(Outcome("a", "x", passed_over="no step `show`"), Outcome("b", "", passed_over="no token"))
    assert str(counts) == "1 passed, 0 failed (2 passed over in whole or in part)"


def test_counts_add_up() -> None:
    assert Counts(1, 2, 3) + Counts(10, 20, 30) == Counts(11, 22, 33)
    assert str(Counts(11, 22)) == "11 passed, 22 failed"


def test_a_long_text_is_shown_around_the_first_difference() -> None:
    left = "\n".join(f"line {n}" for n in range(1, 101))
    rows = side_by_side(Difference("text", left, left.replace("line 50", "line fifty")))
    assert rows[1] == "  … 47 equal lines"
    assert rows[4].split("|")[1].strip() == "line fifty"
    assert rows[-1] == "  … 45 more lines"


def test_a_long_line_is_shown_around_the_first_difference() -> None:
    rows = side_by_side(Difference("text", "x" * 50000, "x" * 30000 + "y" + "x" * 19999))
    assert max(map(len, rows)) < 140
    assert "y" in rows[1].split("|")[1]


def test_a_missing_line_and_characters_that_cannot_be_seen_are_shown() -> None:
    rows = side_by_side(Difference("text", "a\r\u2028", "a\r\u2028\nb"))
    assert rows[1].split() == ["a\\r\\u2028", "|", "a\\r\\u2028"]
    assert rows[2].split("|") == [f"> {'(no line)':64} ", " b"]


def test_other_values_are_shown_as_json() -> None:
    assert side_by_side(Difference("capped", expected=True, got=None))[1].split() == [">", "true", "|", "null"]


def test_what_cannot_be_seen_is_escaped_wherever_it_comes_from() -> None:
    unseen = "\x1b\x9b\u2028\u202e"
    shown = r"\x9b\u2028\u202e"
    step = {"do": "turn", "turn": unseen}
    _, text = printed(Outcome("a", "", 1, step, [Difference("error", {"a": unseen}, [unseen], f"refused: {unseen}")]))
    assert [character for character in unseen if character in text] == []
    # The step, the reason, and both columns.
    assert text.count(shown) == 4
