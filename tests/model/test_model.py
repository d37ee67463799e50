from __future__ import annotations

import pytest

from tests.model.answers import Change
from tests.model.model import Model

LINES_340 = b"".join(b"%d\n" % number for number in range(1, 341))


def no_diff(before: bytes, after: bytes) -> str:
    raise AssertionError((before, after))


def agent() -> Model:
    return Model("agent", no_diff)


def lines(count: int) -> bytes:
    return b"".join(b"%d\n" % number for number in range(1, count + 1))


# Ids and brackets


def test_a_results_text_follows_its_bracket_exactly_as_it_came() -> None:
    answer = agent().result("bash", {}, " out\r\n\n")
    assert (answer.number, answer.result, answer.text, answer.body) == (1, "#0001", "[#0001]\n out\r\n\n", " out\r\n\n")
    assert (answer.stub_of, answer.capped, answer.error) == (None, False, False)


def test_an_empty_result_is_the_bracket_alone() -> None:
    assert agent().result("bash", {}, "").text == "[#0001]"


def test_every_insertion_takes_the_next_number() -> None:
    model = agent()
    model.read("a", "/a", b"one\n")
    model.read("a", "/a", b"one\n")
    model.read("a", "/a", b"one\n", offset=9)
    model.recall("ffff")
    model.change([Change("a", "/a", b"one\n", None)])
    assert model.result("bash", {}, "x", error=True).text == "[#0006]\nx"


def test_an_error_keeps_its_text_and_is_marked() -> None:
    answer = agent().result("grep", {}, "no such folder", error=True)
    assert (answer.text, answer.error) == ("[#0001]\nno such folder", True)


def test_a_long_error_is_capped_like_any_output() -> None:
    answer = agent().result("bash", {}, "e\n" * 401, error=True)
    assert answer.text == "[#0001]\n" + "e\n" * 200 + "[101 lines elided, full output #0001]\n" + "e\n" * 100
    assert (answer.capped, answer.error) == (True, True)


# Reads


def test_a_read_names_path_lines_length_and_hash() -> None:
    answer = agent().read("src/app.ts", "/w/src/app.ts", b"one\ntwo\n")
    assert answer.text == "[#0001 src/app.ts lines 1-2 of 2 sha c3f9c8c2]\n1: one\n2: two"
    assert answer.body == "1: one\n2: two"


def test_a_read_without_a_final_newline_has_its_last_line_and_another_hash() -> None:
    assert agent().read("a", "/a", b"one\ntwo").text == "[#0001 a lines 1-2 of 2 sha 21066d10]\n1: one\n2: two"


def test_a_bom_and_carriage_returns_are_hashed_and_not_shown() -> None:
    answer = agent().read("a", "/a", b"\xef\xbb\xbfone\r\ntwo\r\n")
    assert answer.text == "[#0001 a lines 1-2 of 2 sha a9a56370]\n1: one\n2: two"


def test_an_empty_file_is_a_bracket_alone() -> None:
    answer = agent().read("notes.txt", "/notes.txt", b"")
    assert (answer.text, answer.body) == ("[#0001 notes.txt empty sha e3b0c442]", "")


def test_a_file_of_a_bom_alone_is_empty_under_its_own_hash() -> None:
    assert agent().read("a", "/a", b"\xef\xbb\xbf").text == "[#0001 a empty sha f1945cd6]"


def test_an_empty_file_read_again_or_at_any_offset_is_answered_by_its_bracket() -> None:
    model = agent()
    model.read("a", "/a", b"")
    answer = model.read("a", "/a", b"", offset=500)
    assert (answer.text, answer.stub_of, answer.error) == ("[#0002 a empty sha e3b0c442]", None, False)


def test_numbers_of_lines_are_the_files_and_not_padded() -> None:
    answer = agent().read("a", "/a", LINES_340, offset=99, limit=2)
    assert answer.text == "[#0001 a lines 99-100 of 340 sha 93aeeb5a]\n99: 99\n100: 100"


@pytest.mark.parametrize(
    "offset, limit, shown",
    [
        (1, 2000, "1-2000"),
        (1, 2001, "1-2000"),
        (0, 5, "1-5"),
        (-(10**30), 5, "1-5"),
        (7, 0, "7-2006"),
        (7, -3, "7-2006"),
        (2400, 200, "2400-2500"),
        (2500, 10**30, "2500-2500"),
    ],
)
def test_offset_and_limit_come_to_a_window_within_the_file(offset: int, limit: int, shown: str) -> None:
    text = agent().read("a", "/a", lines(2500), offset, limit).text
    assert text.startswith(f"[#0001 a lines {shown} of 2500 sha ")


def test_past_the_end_is_an_error_that_names_the_absolute_path() -> None:
    answer = agent().read("app.ts", "/abs/app.ts", LINES_340, offset=500)
    assert answer.text == "[#0001] /abs/app.ts has 340 lines: there is no line 500."
    assert answer.body == "/abs/app.ts has 340 lines: there is no line 500."
    assert answer.error is True


def test_past_the_end_of_one_line_keeps_the_plural() -> None:
    assert agent().read("a", "/a", b"x", offset=2).text == "[#0001] /a has 1 lines: there is no line 2."


def test_control_characters_in_paths_are_escaped() -> None:
    model = agent()
    assert model.read("a\nb]", "/a\nb", b"x\n").text == "[#0001 a\\nb] lines 1-1 of 1 sha 73cb3858]\n1: x"
    assert model.read("a", "/a\u2028", b"x\n", offset=2).text == "[#0002] /a\\u2028 has 1 lines: there is no line 2."


# Stubs of reads


def test_an_unchanged_reread_is_a_stub_whose_body_is_what_it_stands_for() -> None:
    model = agent()
    model.read("src/app.ts", "/app.ts", LINES_340, 1, 200)
    answer = model.read("src/app.ts", "/app.ts", LINES_340, 50, 3)
    assert answer.text == (
        "[#0002 src/app.ts lines 50-52 of 340 sha 93aeeb5a] Unchanged since #0001, which already shows lines 1-200."
    )
    assert (answer.stub_of, answer.body) == ("#0001", "50: 50\n51: 51\n52: 52")


def test_a_range_one_line_past_the_earlier_read_is_read_in_full() -> None:
    model = agent()
    model.read("a", "/a", LINES_340, 1, 200)
    assert model.read("a", "/a", LINES_340, 100, 102).stub_of is None


def test_a_range_that_only_two_reads_together_cover_is_read_in_full() -> None:
    model = agent()
    model.read("a", "/a", LINES_340, 1, 100)
    model.read("a", "/a", LINES_340, 101, 100)
    assert model.read("a", "/a", LINES_340, 50, 100).stub_of is None


def test_a_stub_names_the_newest_full_read_that_contains_the_range_and_never_a_stub() -> None:
    model = agent()
    model.read("a", "/a", LINES_340, 1, 100)
    model.read("a", "/a", LINES_340, 50, 100)
    model.read("a", "/a", LINES_340, 60, 10)
    answer = model.read("a", "/a", LINES_340, 60, 10)
    assert answer.stub_of == "#0002"
    assert answer.text.endswith("] Unchanged since #0002, which already shows lines 50-149.")


def test_a_changed_file_is_read_in_full_and_changed_back_matches_its_first_read() -> None:
    model = agent()
    model.read("a", "/a", b"x\n")
    assert model.read("a", "/a", b"y\n").stub_of is None
    assert model.read("a", "/a", b"x\n").stub_of == "#0001"


def test_a_lost_final_newline_is_a_change() -> None:
    model = agent()
    model.read("a", "/a", b"x\n")
    assert model.read("a", "/a", b"x").stub_of is None


def test_the_same_bytes_under_another_absolute_path_are_another_file() -> None:
    model = agent()
    model.read("a", "/one/a", b"x\n")
    assert model.read("a", "/two/a", b"x\n").stub_of is None


def test_two_spellings_of_one_file_are_one_and_the_bracket_shows_the_calls_own() -> None:
    model = agent()
    model.read("./a", "/w/a", b"x\n")
    answer = model.read("/w/a", "/w/a", b"x\n")
    assert (
        answer.text == "[#0002 /w/a lines 1-1 of 1 sha 73cb3858] Unchanged since #0001, which already shows lines 1-1."
    )


def test_an_edit_and_an_error_are_no_targets() -> None:
    model = agent()
    model.change([Change("a", "/a", None, b"x\n")])
    model.read("a", "/a", b"x\n", offset=2)
    assert model.read("a", "/a", b"x\n").stub_of is None


# The same search or listing


@pytest.mark.parametrize("tool", ["list", "glob", "grep", "search"])
def test_the_same_call_with_the_same_text_is_a_stub(tool: str) -> None:
    model = agent()
    model.result(tool, {"path": "/a", "n": 1}, "hit\n")
    answer = model.result(tool, {"n": 1.0, "path": "/a"}, "hit\n")
    assert (answer.text, answer.body, answer.stub_of) == ("[#0002] Same result as #0001.", "hit\n", "#0001")


def test_other_tools_are_never_deduplicated() -> None:
    model = agent()
    model.result("bash", {}, "x")
    assert model.result("bash", {}, "x").text == "[#0002]\nx"


@pytest.mark.parametrize(
    "tool, args, text",
    [("glob", {"p": 1}, "hit"), ("grep", {"p": 2}, "hit"), ("grep", {"p": True}, "hit"), ("grep", {"p": 1}, "hit\n")],
)
def test_another_tool_argument_or_text_is_a_full_result(tool: str, args: dict[str, object], text: str) -> None:
    model = agent()
    model.result("grep", {"p": 1}, "hit")
    assert model.result(tool, args, text).stub_of is None


def test_a_stub_names_the_newest_full_result_and_never_a_stub() -> None:
    model = agent()
    model.result("grep", {}, "x")
    model.result("grep", {}, "y")
    model.result("grep", {}, "x")
    assert model.result("grep", {}, "x").stub_of == "#0001"


def test_an_error_is_neither_a_stub_nor_a_target() -> None:
    model = agent()
    model.result("grep", {}, "x", error=True)
    assert model.result("grep", {}, "x").stub_of is None
    assert model.result("grep", {}, "x", error=True).stub_of is None


def test_results_are_compared_in_full_and_not_as_they_were_capped() -> None:
    model = agent()
    model.result("grep", {}, "a\n" * 500)
    assert model.result("grep", {}, "a\n" * 250 + "b\n" + "a\n" * 249).stub_of is None
    assert model.result("grep", {}, "a\n" * 500).stub_of == "#0001"


def test_an_empty_listing_twice_is_a_stub() -> None:
    model = agent()
    model.result("glob", {}, "")
    assert model.result("glob", {}, "").stub_of == "#0001"
