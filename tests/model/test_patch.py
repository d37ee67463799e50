from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.model.patch import MisfitError, PrintedLine, apply, check, plain_diff, printed

TEN = b"".join(b"%d\n" % number for number in range(1, 11))
MIDDLE = "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8"

BOM = b"\xef\xbb\xbf"


def full(*texts: str) -> list[PrintedLine]:
    return [PrintedLine(text, newline=True) for text in texts]


def test_a_replaced_line_is_applied() -> None:
    assert apply(TEN, MIDDLE) == full("1", "2", "3", "4", "five", "6", "7", "8", "9", "10")


def test_no_hunks_leave_the_content_as_it_is() -> None:
    assert apply(b"a\nb", "") == [PrintedLine("a", newline=True), PrintedLine("b", newline=False)]


def test_the_marker_belongs_to_the_line_ahead_of_it() -> None:
    hunks = "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a"
    assert apply(b"a", hunks) == full("a")
    check(b"a", b"a\n", hunks)


def test_an_emptied_and_a_filled_file_name_the_line_ahead() -> None:
    check(b"a\nb\n", b"", "@@ -1,2 +0,0 @@\n-a\n-b")
    check(b"", b"a", "@@ -0,0 +1 @@\n+a\n\\ No newline at end of file")


def test_two_hunks_are_applied_in_order() -> None:
    after = b"one\n" + TEN[2:] + b"eleven\n"
    check(TEN, after, "@@ -1,4 +1,4 @@\n-1\n+one\n 2\n 3\n 4\n@@ -8,3 +8,4 @@\n 8\n 9\n 10\n+eleven")


def test_line_endings_and_a_bom_are_compared_and_not_printed() -> None:
    check(b"a\r\n", b"a\n", "@@ -1 +1 @@\n-a\n+a")
    check(b"\xef\xbb\xbfa\n", b"a\n", "@@ -1 +1 @@\n-a\n+a")
    check(b"\xef\xbb\xbf", b"", "@@ -1 +0,0 @@\n-\n\\ No newline at end of file")


def test_a_carriage_return_elsewhere_is_printed() -> None:
    assert printed(b"a\r\r\nb\r") == [PrintedLine("a\r", newline=True), PrintedLine("b\r", newline=False)]


def test_bad_utf8_is_printed_as_replacement_characters_and_compared_as_bytes() -> None:
    check(b"\xff\n", b"\xfe\n", "@@ -1 +1 @@\n-\ufffd\n+\ufffd")


@pytest.mark.parametrize(
    "before, after",
    [(b"a\r\n", b"a\n"), (b"\xff\n", b"\xfe\n"), (b"\xef\xbb\xbfa\n", b"a\n"), (b"a\n", b"b\n"), (b"a\n", b"")],
)
def test_a_change_that_the_hunks_leave_out_is_found(before: bytes, after: bytes) -> None:
    with pytest.raises(MisfitError):
        check(before, after, "")


@pytest.mark.parametrize(
    "hunks, complaint",
    [
        (MIDDLE.replace(" 3", " three"), "old line 3 is"),
        (MIDDLE.replace("-5", "-5\n\\ No newline at end of file"), "old line 5 is"),
        (MIDDLE.replace("-2,7", "-3,7"), "says it begins at new line"),
        (MIDDLE.replace("+2,7", "+3,7"), "says it begins at new line"),
        (MIDDLE.replace("-2,7", "-2,8"), "old side does not have"),
        (MIDDLE.replace("+2,7", "+2,6"), "new side does not have"),
        (MIDDLE.replace("@@\n", "@@ def f():\n"), "no hunk header"),
        (MIDDLE + "\n", "no line of a hunk"),
        (MIDDLE + "\n" + MIDDLE, "a hunk begins at old line 2"),
        ("--- a\n+++ b\n" + MIDDLE, "no hunk header"),
        ("@@ -5,1 +5,1 @@\n-5\n+five", "no hunk header"),
        ("@@ -5 +5 @@\n-5\n+five", "0 lines of context stand before"),
        ("@@ -2,4 +2,4 @@\n 2\n 3\n 4\n-5\n+five", "0 lines of context stand after"),
        ("@@ -1,8 +1,8 @@\n 1\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8", "4 lines of context stand before"),
        ("@@ -2,3 +2,3 @@\n 2\n 3\n 4", "changes nothing"),
        ("@@ -8,4 +8,3 @@\n 8\n 9\n 10\n-11", "past the old content's 10 lines"),
        ("@@ -1,10 +1,10 @@\n-1\n+a\n 2\n 3\n 4\n 5\n 6\n 7\n 8\n-9\n+b\n 10", "belong in two hunks"),
    ],
)
def test_hunks_that_do_not_fit_are_refused(hunks: str, complaint: str) -> None:
    with pytest.raises(MisfitError, match=complaint):
        apply(TEN, hunks)


def test_hunks_that_come_to_another_content_are_refused() -> None:
    with pytest.raises(MisfitError, match="new line 5 is"):
        check(TEN, TEN.replace(b"5", b"cinq"), MIDDLE)


def test_a_plain_diff_merges_changes_six_lines_apart_and_splits_at_seven() -> None:
    near = TEN.replace(b"2\n", b"a\n", 1).replace(b"9\n", b"b\n", 1)
    far = TEN.replace(b"1\n", b"a\n", 1).replace(b"9\n", b"b\n", 1)
    assert plain_diff(TEN, near).count("@@ -") == 1
    assert plain_diff(TEN, far).count("@@ -") == 2


LINE = st.sampled_from(
    [
        b"a\n",
        b"b\n",
        b"a\r\n",
        b"\n",
        b"\r\r\n",
        b"\xff\n",
        b"\xef\xbb\xbfa\n",
        b"@@ -1 +1 @@\n",
        b"\\ No\n",
        b"c\xe2\x80\xa8d\n",
    ]
)
END = st.sampled_from([b"", b"z", b"\r"])


def joined(parts: tuple[list[bytes], bytes]) -> bytes:
    return b"".join(parts[0]) + parts[1]


CONTENT = st.tuples(st.lists(LINE, max_size=25), END).map(joined)


@given(CONTENT, CONTENT)
def test_a_plain_diff_fits_any_two_contents(before: bytes, after: bytes) -> None:
    hunks = plain_diff(before, after)
    check(before, after, hunks)
    # A line kept that moves away from the file's beginning takes a byte-order mark along that was not printed there.
    if not any(BOM in content[1:] for content in (before, after)):
        assert apply(before, hunks) == printed(after)
