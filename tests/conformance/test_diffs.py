import pytest

from waybread_conformance.diffs import DiffError, check_diff

TEN = b"".join(b"line %d\n" % n for n in range(1, 11))
CHANGED = TEN.replace(b"line 5\n", b"LINE 5\n")
RIGHT = "@@ -2,7 +2,7 @@\n line 2\n line 3\n line 4\n-line 5\n+LINE 5\n line 6\n line 7\n line 8"
NO_NEWLINE = "\\ No newline at end of file"


def test_a_right_diff_is_read_to_its_end() -> None:
    assert check_diff(RIGHT, TEN, CHANGED) == ""


def test_what_follows_the_diff_is_returned() -> None:
    assert check_diff(RIGHT + "\n[b.txt deleted]\nnote", TEN, CHANGED) == "\n[b.txt deleted]\nnote"


@pytest.mark.parametrize(
    "before, after, diff",
    [
        (b"a\n", b"b\n", "@@ -1 +1 @@\n-a\n+b"),
        (b"a\n", b"b\n", "@@ -1 +1 @@\n+b\n-a"),
        (b"", b"a\nb\n", "@@ -0,0 +1,2 @@\n+a\n+b"),
        (b"a\nb\n", b"", "@@ -1,2 +0,0 @@\n-a\n-b"),
        (b"a\n", b"a", f"@@ -1 +1 @@\n-a\n+a\n{NO_NEWLINE}"),
        (b"a\r\n", b"a\n", "@@ -1 +1 @@\n-a\n+a"),
        (b"a\rb", b"a\rc", f"@@ -1 +1 @@\n-a\rb\n{NO_NEWLINE}\n+a\rc\n{NO_NEWLINE}"),
        (b"\xef\xbb\xbfa\n", b"a\n", "@@ -1 +1 @@\n-a\n+a"),
        (b"\xff\n", b"\xfe\n", "@@ -1 +1 @@\n-\ufffd\n+\ufffd"),
        (b"x\n" * 3, b"x\n" * 2, "@@ -1,3 +1,2 @@\n-x\n x\n x"),
        (b"x\n" * 3, b"x\n" * 2, "@@ -1,3 +1,2 @@\n x\n x\n-x"),
    ],
)
def test_of_several_right_diffs_any_will_do(before: bytes, after: bytes, diff: str) -> None:
    assert check_diff(diff, before, after) == ""


def test_two_hunks_may_touch_but_need_not_be_one() -> None:
    before = b"".join(b"%d\n" % n for n in range(1, 9))
    after = before.replace(b"1\n", b"A\n", 1).replace(b"8\n", b"B\n")
    two = "@@ -1,4 +1,4 @@\n-1\n+A\n 2\n 3\n 4\n@@ -5,4 +5,4 @@\n 5\n 6\n 7\n-8\n+B"
    one = "@@ -1,8 +1,8 @@\n-1\n+A\n 2\n 3\n 4\n 5\n 6\n 7\n-8\n+B"
    assert [check_diff(diff, before, after) for diff in (one, two)] == ["", ""]


@pytest.mark.parametrize(
    "diff, complaint",
    [
        ("", "a hunk is wanted"),
        ("no hunk", "a hunk is wanted"),
        (RIGHT.replace("@@ -2,7 +2,7 @@", "@@ -2,7 +2,7 @@ def f():"), "no right hunk header"),
        (RIGHT.replace("line 3", "line 33"), "context, before:"),
        (RIGHT.replace("+LINE 5", "+LINE 6"), "added:"),
        (RIGHT.replace("-line 5", "-line 6"), "removed:"),
        (RIGHT.replace("\n line 8", ""), "ends before its lines are complete"),
        (RIGHT.replace("@@ -2,7 +2,7", "@@ -3,7 +3,7"), "context, before:"),
        (RIGHT.replace("+LINE 5", f"+LINE 5\n{NO_NEWLINE}"), "is there after"),
        (RIGHT.replace(" line 6", "*line 6"), "no line of a hunk"),
        ("@@ -4,3 +4,3 @@\n line 4\n-line 5\n+LINE 5\n line 6", "lines of context ahead"),
        ("@@ -2,6 +2,6 @@\n line 2\n line 3\n line 4\n-line 5\n+LINE 5\n line 6\n line 7", "lines of context behind"),
        ("@@ -1,8 +1,8 @@\n line 1" + RIGHT.removeprefix("@@ -2,7 +2,7 @@"), "4 lines of context ahead"),
        ("@@ -6,3 +6,3 @@\n line 6\n line 7\n line 8", "lines before the hunk"),
    ],
)
def test_a_wrong_diff_is_refused_with_the_reason(diff: str, complaint: str) -> None:
    with pytest.raises(DiffError) as caught:
        check_diff(diff, TEN, CHANGED)
    assert complaint in str(caught.value)


def test_a_change_that_no_hunk_shows_is_found() -> None:
    with pytest.raises(DiffError, match="after the last hunk differ"):
        check_diff(RIGHT, TEN, CHANGED.replace(b"line 10", b"line ten"))


def test_a_line_ending_that_no_hunk_shows_is_found() -> None:
    with pytest.raises(DiffError, match="is not the same before and after"):
        check_diff(RIGHT, TEN, CHANGED.replace(b"line 6\n", b"line 6\r\n"))


def test_a_missing_mark_for_no_newline_is_found() -> None:
    with pytest.raises(DiffError, match="is missing after"):
        check_diff("@@ -1 +1 @@\n-a\n+b", b"a\n", b"b")


def test_one_left_in_a_header_is_refused() -> None:
    with pytest.raises(DiffError, match="no right hunk header"):
        check_diff("@@ -1,1 +1 @@\n-a\n+b", b"a\n", b"b\n")


def test_a_hunk_of_context_alone_is_refused() -> None:
    with pytest.raises(DiffError, match="changes nothing"):
        check_diff("@@ -1 +1 @@\n a", b"a\n", b"a\n")


def test_more_than_six_lines_between_two_changes_are_two_hunks() -> None:
    before = b"".join(b"%d\n" % n for n in range(1, 10))
    after = before.replace(b"1\n", b"A\n", 1).replace(b"9\n", b"B\n")
    diff = "@@ -1,9 +1,9 @@\n-1\n+A\n" + "".join(f" {n}\n" for n in range(2, 9)) + "-9\n+B"
    with pytest.raises(DiffError, match="more than 6 lines of context"):
        check_diff(diff, before, after)
