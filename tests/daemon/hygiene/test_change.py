"""Edits answer with the diff of what they changed."""

from __future__ import annotations

import pytest

from tests.daemon.hygiene.stories import opened, sha256_of
from tests.model import patch
from waybread_daemon.hygiene.answer import text_of
from waybread_daemon.hygiene.change import FileChange, change_answer, describe_change
from waybread_daemon.hygiene.events import Changed


def of(path: str, before: bytes | None, after: bytes | None) -> FileChange:
    return FileChange(path, f"/x/{path}", before, after, None if after is None else sha256_of(after))


def shown(*changes: FileChange, note: str = "") -> str:
    answer = change_answer(opened(), describe_change(list(changes)), note)
    return text_of(answer, answer.body)


def sha8(content: bytes) -> str:
    return sha256_of(content).hex()[:8]


def test_an_edit_answers_with_its_diff_under_its_bracket() -> None:
    text = shown(of("a", b"1\n", b"2\n"))
    assert text == f"[#0001 a sha {sha8(b'2' + bytes([10]))}]\n@@ -1 +1 @@\n-1\n+2"


@pytest.mark.parametrize("after, lines", [(b"", 0), (b"x", 1), (b"x\ny\n", 2), (b"\xef\xbb\xbf", 0), (b"\n", 1)])
def test_a_new_file_answers_with_the_count_of_its_lines(after: bytes, lines: int) -> None:
    assert shown(of("new", None, after)) == f"[#0001 new sha {sha8(after)}] Created, {lines} lines."


def test_a_deleted_file_and_an_edit_of_nothing_are_a_bracket_alone() -> None:
    assert shown(of("old", b"x", None)) == "[#0001 old deleted]"
    assert shown(of("old", b"", None)) == "[#0001 old deleted]"
    assert shown(of("same", b"x", b"x")) == f"[#0001 same sha {sha8(b'x')}]"


def test_an_emptied_file_answers_with_the_diff() -> None:
    assert shown(of("a", b"x\n", b"")) == f"[#0001 a sha {sha8(b'')}]\n@@ -1 +0,0 @@\n-x"


@pytest.mark.parametrize(
    "change, text",
    [
        (of("a", b"1\n", b"2\n"), "]\n@@ -1 +1 @@\n-1\n+2\nmind"),
        (of("new", None, b"x"), "] Created, 1 lines.\nmind"),
        (of("old", b"x", None), "[#0001 old deleted]\nmind"),
        (of("same", b"x", b"x"), "]\nmind"),
    ],
)
def test_a_note_stands_on_a_line_of_its_own_after_what_precedes_it(change: FileChange, text: str) -> None:
    answer = change_answer(opened(), describe_change([change]), "mind")
    assert text_of(answer, answer.body).endswith(text)
    assert answer.body.endswith(b"mind")


def test_a_patch_over_several_files_answers_the_id_and_each_file_in_the_patchs_order() -> None:
    text = shown(
        of("src/a.ts", b"1\n", b"2\n"), of("docs/new.md", None, b"x\n" * 14), of("old.md", b"x", None), note="a note"
    )
    assert text == (
        f"[#0001]\n[src/a.ts sha {sha8(b'2' + bytes([10]))}]\n@@ -1 +1 @@\n-1\n+2\n"
        f"[docs/new.md sha {sha8((b'x' + bytes([10])) * 14)}] Created, 14 lines.\n[old.md deleted]\na note"
    )


def test_a_file_of_a_patch_that_did_not_change_is_its_bracket() -> None:
    assert shown(of("a", b"x", b"x"), of("b", b"y", None)) == f"[#0001]\n[a sha {sha8(b'x')}]\n[b deleted]"


def test_the_event_holds_every_absolute_path() -> None:
    answer = change_answer(opened(), describe_change([of("a", b"1", b"2"), of("b", None, b"")]), "")
    assert answer.event == Changed(1, ("/x/a", "/x/b"))
    assert (answer.stub_of, answer.error) == (0, False)


def test_the_cap_takes_the_diff_and_never_the_note() -> None:
    before = b"".join(b"%d\n" % number for number in range(300))
    after = b"".join(b"x%d\n" % number for number in range(300))
    note = "\n".join(["note"] * 500)
    answer = change_answer(opened(), describe_change([of("a", before, after)]), note)
    text = text_of(answer, answer.body)
    lines = text.split("\n")
    assert lines[0] == f"[#0001 a sha {sha8(after)}]"
    assert lines[201] == "[301 lines elided, full output #0001]"
    assert lines[302:] == ["note"] * 500
    assert lines[301] == "+x299"
    hunks = answer.body.decode().removesuffix("\n" + note)
    patch.check(before, after, hunks)


def test_a_long_note_alone_is_not_capped() -> None:
    answer = change_answer(opened(), describe_change([of("a", b"1\n", b"2\n")]), "n" * 50_000)
    assert answer.capped is None
    assert text_of(answer, answer.body).endswith("n" * 50_000)


def test_the_note_follows_the_tail_also_where_that_is_empty() -> None:
    answer = change_answer(opened(), describe_change([of("a", b"", b"x" * 50_000)]), "mind")
    assert text_of(answer, answer.body).partition("\n")[2] == (
        "@@ -0,0 +1 @@\n[1 lines elided, full output #0001]\n\\ No newline at end of file\nmind"
    )
    answer = change_answer(opened(), describe_change([of("a", b"", b"a\n" * 500 + b"x" * 30_000 + b"\n")]), "mind")
    assert text_of(answer, answer.body).endswith(" lines elided, full output #0001]\nmind")


def test_over_several_files_the_cap_applies_once_to_all_under_the_id() -> None:
    changes = [of(f"f{number}", b"", b"line\n" * 100) for number in range(6)]
    answer = change_answer(opened(), describe_change(changes), "")
    lines = text_of(answer, answer.body).split("\n")
    # Six files of a bracket, a header and 100 lines each are 612 lines: 200 and 100 of them are shown.
    assert len(lines) == 1 + 200 + 1 + 100
    assert lines[201] == "[312 lines elided, full output #0001]"
    assert lines[0] == "[#0001]"
