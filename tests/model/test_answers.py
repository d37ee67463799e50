from __future__ import annotations

import pytest

from tests.model.answers import Change, Refused
from tests.model.model import Model

HUNKS = "@@ -1,2 +1,2 @@\n one\n-two\n+TWO"


def small_hunks(before: bytes, after: bytes) -> str:
    assert before != after
    return HUNKS


def long_hunks(before: bytes, after: bytes) -> str:
    assert before != after
    return "@@ -0,0 +1,400 @@\n" + "\n".join("+x" for _ in range(400))


def agent() -> Model:
    return Model("agent", small_hunks)


# recall


def test_recall_shows_a_capped_result_in_full() -> None:
    model = agent()
    model.result("bash", {}, "a\r\n" * 3400)
    answer = model.recall("#0001")
    shown = "a\r\n" * 1999 + "a\r"
    assert answer.text == f"[#0002 recall #0001 lines 1-2000 of 3400]\n{shown}"
    assert (answer.body, answer.capped) == (shown, False)


def test_recall_takes_offset_and_limit_as_a_read_does() -> None:
    model = agent()
    model.result("bash", {}, "a\nb\nc\nd")
    assert model.recall("1", 2, 2).text == "[#0002 recall #0001 lines 2-3 of 4]\nb\nc"
    assert model.recall("1", -2, -2).text == "[#0003 recall #0001 lines 1-4 of 4]\na\nb\nc\nd"


def test_recall_of_a_read_shows_its_numbered_lines() -> None:
    model = agent()
    model.read("a", "/a", b"one\r\ntwo\r\n")
    assert model.recall("1").text == "[#0002 recall #0001 lines 1-2 of 2]\n1: one\n2: two"


def test_recall_of_a_stub_shows_what_it_stands_for() -> None:
    model = agent()
    model.read("a", "/a", b"one\ntwo\n")
    model.read("a", "/a", b"one\ntwo\n", 2, 1)
    assert model.recall("2").text == "[#0003 recall #0002 lines 1-1 of 1]\n2: two"


def test_recall_of_one_empty_line_ends_with_the_newline_after_the_bracket() -> None:
    model = agent()
    model.result("bash", {}, "\n")
    answer = model.recall("1")
    assert (answer.text, answer.body) == ("[#0002 recall #0001 lines 1-1 of 1]\n", "")
    assert model.recall("2").text == "[#0003 recall #0002 empty]"


def test_recall_of_an_empty_body_is_empty_at_any_offset() -> None:
    model = agent()
    model.read("a", "/a", b"")
    answer = model.recall("1", offset=9)
    assert (answer.text, answer.error) == ("[#0002 recall #0001 empty]", False)


def test_recall_past_the_end_is_an_error() -> None:
    model = agent()
    model.result("bash", {}, "a\n" * 3400)
    answer = model.recall("#1", offset=5000)
    assert answer.text == "[#0002] #0001 has 3400 lines: there is no line 5000."
    assert (answer.body, answer.error) == ("#0001 has 3400 lines: there is no line 5000.", True)


@pytest.mark.parametrize(
    "argument, named",
    [
        ("#ffff", "#ffff"),
        ("FFFF", "#FFFF"),
        (" \t#0\n", "#0"),
        ("##1", "##1"),
        ("# 1", "# 1"),
        ("", "#"),
        ("1", "#1"),
        ("a\nb", "#a\\nb"),
        ("z" * 65, "#" + "z" * 64),
        ("\0" * 65, "#" + "\\x00" * 64),
    ],
)
def test_an_id_never_given_is_named_as_it_was_asked_for(argument: str, named: str) -> None:
    answer = agent().recall(argument)
    assert answer.text == f"[#0001] No stored result {named} in this session."
    assert answer.body == f"No stored result {named} in this session."
    assert answer.error is True


def test_a_recall_is_never_a_stub_and_is_itself_stored() -> None:
    model = agent()
    model.result("bash", {}, "a\nb")
    model.recall("1")
    assert model.recall("1").stub_of is None
    assert model.recall("2", 2).text == "[#0004 recall #0002 lines 2-2 of 2]\nb"


# Changes


def test_an_edit_answers_with_the_hunks_under_path_and_new_hash() -> None:
    answer = agent().change([Change("app.ts", "/app.ts", b"one\ntwo\n", b"one\nTWO\n")])
    assert answer.text == f"[#0001 app.ts sha ff4bebae]\n{HUNKS}"
    assert answer.body == HUNKS


@pytest.mark.parametrize(
    "content, sentence",
    [
        (b"line\n" * 14, "Created, 14 lines."),
        (b"x", "Created, 1 lines."),
        (b"", "Created, 0 lines."),
        (b"\xef\xbb\xbf", "Created, 0 lines."),
    ],
)
def test_a_new_file_answers_with_one_sentence(content: bytes, sentence: str) -> None:
    answer = agent().change([Change("a", "/a", None, content)])
    assert answer.text.startswith("[#0001 a sha ")
    assert answer.text.endswith(f"] {sentence}")
    assert answer.body == sentence


def test_a_deleted_file_is_a_bracket_alone() -> None:
    answer = agent().change([Change("old.md", "/old.md", b"x", None)])
    assert (answer.text, answer.body) == ("[#0001 old.md deleted]", "")


def test_nothing_changed_is_the_bracket_alone() -> None:
    answer = agent().change([Change("a", "/a", b"x\n", b"x\n")])
    assert (answer.text, answer.body) == ("[#0001 a sha 73cb3858]", "")


def test_an_existing_file_emptied_answers_with_the_hunks() -> None:
    assert agent().change([Change("a", "/a", b"x\n", b"")]).text == f"[#0001 a sha e3b0c442]\n{HUNKS}"


def test_a_patch_over_several_files_has_the_id_alone_and_each_file_in_its_bracket() -> None:
    answer = agent().change(
        [
            Change("src/a.ts", "/a", b"one\ntwo\n", b"one\nTWO\n"),
            Change("docs/new.md", "/n", None, b"x\n"),
            Change("same", "/s", b"y\n", b"y\n"),
            Change("old\t.md", "/o", b"x", None),
        ]
    )
    body = (
        f"[src/a.ts sha ff4bebae]\n{HUNKS}\n[docs/new.md sha 73cb3858] Created, 1 lines.\n"
        "[same sha 3bb2abb6]\n[old\\t.md deleted]"
    )
    assert (answer.text, answer.body) == (f"[#0001]\n{body}", body)


@pytest.mark.parametrize(
    "change, text, body",
    [
        (Change("a", "/a", b"y\n", b"x\n"), f"[#0001 a sha 73cb3858]\n{HUNKS}\nnote", f"{HUNKS}\nnote"),
        (Change("a", "/a", None, b"x\n"), "[#0001 a sha 73cb3858] Created, 1 lines.\nnote", "Created, 1 lines.\nnote"),
        (Change("a", "/a", b"x\n", b"x\n"), "[#0001 a sha 73cb3858]\nnote", "note"),
        (Change("a", "/a", b"x\n", None), "[#0001 a deleted]\nnote", "note"),
    ],
)
def test_a_note_stands_on_a_line_of_its_own_and_ends_the_body(change: Change, text: str, body: str) -> None:
    answer = agent().change([change], "note")
    assert (answer.text, answer.body) == (text, body)


def test_the_note_of_a_patch_over_several_files_comes_last() -> None:
    answer = agent().change([Change("a", "/a", b"", None), Change("b", "/b", b"", None)], "note")
    assert answer.text == "[#0001]\n[a deleted]\n[b deleted]\nnote"


def test_a_long_diff_is_capped_between_its_bracket_and_its_note() -> None:
    answer = Model("agent", long_hunks).change([Change("a", "/a", b"", b"x\n")], "note\n" * 500)
    head = "@@ -0,0 +1,400 @@\n" + "+x\n" * 199
    tail = "\n".join(["+x"] * 100)
    elided = "[101 lines elided, full output #0001]"
    assert answer.text == f"[#0001 a sha 73cb3858]\n{head}{elided}\n{tail}\n" + "note\n" * 500
    assert answer.capped is True
    assert answer.body.endswith("\n+x\n" + "note\n" * 500)


def test_a_diff_is_not_capped_for_its_notes_length() -> None:
    answer = agent().change([Change("a", "/a", b"", b"x\n")], "n" * 50_000)
    assert answer.text == f"[#0001 a sha 73cb3858]\n{HUNKS}\n" + "n" * 50_000
    assert answer.capped is False


def test_the_cap_of_a_patch_applies_once_to_everything_under_the_id() -> None:
    model = Model("agent", long_hunks)
    answer = model.change([Change("a", "/a", b"", b"x\n"), Change("b", "/b", b"", b"x\n")])
    head = "[a sha 73cb3858]\n@@ -0,0 +1,400 @@\n" + "+x\n" * 198
    tail = "\n".join(["+x"] * 100)
    assert answer.text == f"[#0001]\n{head}[504 lines elided, full output #0001]\n{tail}"


# show


def test_show_gives_the_exact_piece_with_its_endings() -> None:
    model = agent()
    model.result("bash", {}, "a\r\nb\n\nd")
    shown = model.show("#1", 1, 2)
    assert (shown.result, shown.text, shown.first, shown.last, shown.lines) == ("#0001", "a\r\nb\n", 1, 2, 4)
    assert model.show("1", 3).text == "\nd"


def test_show_past_the_end_or_of_an_empty_body_is_empty() -> None:
    model = agent()
    model.result("bash", {}, "a\n")
    model.result("bash", {}, "")
    past, empty = model.show("1", 2), model.show("2")
    assert (past.text, past.first, past.last, past.lines) == ("", 0, 0, 1)
    assert (empty.text, empty.first, empty.last, empty.lines) == ("", 0, 0, 0)


def test_show_inserts_nothing_and_refuses_an_id_never_given() -> None:
    model = agent()
    with pytest.raises(Refused, match="unknown_result"):
        model.show("#0001")
    assert model.results == 0
