from __future__ import annotations

import pytest

from tests.model.answers import Change, Refused
from tests.model.model import Model

SHA_X = "73cb3858a687a8494ca3323053016282f3dad39d42cf62ca4e79dda2aac7d9ac"


def no_diff(before: bytes, after: bytes) -> str:
    raise AssertionError((before, after))


def session(kind: str, *turns: str) -> Model:
    model = Model(kind, no_diff)
    for turn in turns:
        model.turn(turn)
    return model


def read(model: Model, name: str = "a") -> str | None:
    """The id of the result that a read of a file is answered with a stub of."""
    return model.read(name, f"/{name}", b"x\n").stub_of


# Turns


def test_an_agent_keeps_its_table_across_turns() -> None:
    model = session("agent", "one")
    read(model)
    model.turn("two")
    assert read(model) == "#0001"


@pytest.mark.parametrize("kind", ["chat", "opaque"])
def test_a_turn_empties_the_table_of_a_chat_and_of_an_opaque_session(kind: str) -> None:
    model = session(kind, "one")
    read(model)
    model.carry("all")
    read(model)
    model.turn("two")
    assert read(model) is None


def test_within_one_turn_a_chat_stubs() -> None:
    model = session("chat", "one")
    read(model)
    assert read(model) == "#0001"


def test_in_an_opaque_session_nothing_is_a_stub_unless_it_is_carried() -> None:
    model = session("opaque", "one")
    read(model)
    assert read(model) is None
    model.carry(["#0001"])
    assert read(model) == "#0001"
    read(model, "b")
    assert read(model, "b") is None


def test_a_turn_begun_again_is_a_repeat_and_changes_nothing() -> None:
    model = session("chat", "one", "two")
    read(model)
    assert model.turn("one").repeated is True
    assert model.current_turn == "two"
    assert read(model) == "#0001"


def test_the_name_of_a_turn_taken_back_is_a_conflict() -> None:
    model = session("agent", "one")
    model.take_back(["one"])
    with pytest.raises(Refused, match="key_conflict"):
        model.turn("one")


# Taking back


def test_taking_back_a_turn_takes_its_results_out_of_the_table_and_numbers_go_on() -> None:
    model = session("agent", "one")
    read(model)
    model.turn("two")
    read(model, "b")
    assert model.take_back(["two"]) == ["two"]
    assert read(model, "b") is None
    assert read(model) == "#0001"
    assert model.results == 4


def test_a_read_again_after_a_rewind_is_full_and_names_no_lost_stub() -> None:
    model = session("agent", "one", "two")
    read(model)
    read(model)
    model.take_back(["two"])
    assert [read(model), read(model)] == [None, "#0003"]


def test_a_turn_in_the_middle_may_be_taken_back_and_the_current_one_goes_on() -> None:
    model = session("agent", "one")
    read(model)
    model.turn("two")
    read(model, "b")
    model.take_back(["one"])
    assert model.current_turn == "two"
    assert read(model) is None
    assert read(model, "b") == "#0002"


def test_turns_unknown_gone_or_named_twice_are_passed_over() -> None:
    model = session("agent", "one", "two", "three")
    model.take_back(["one"])
    assert model.take_back(["three", "one", "nine", "", "two", "three"]) == ["three", "two"]


def test_after_the_current_turn_was_taken_back_results_belong_to_the_unnamed_turn() -> None:
    model = session("agent", "one")
    model.take_back(["one"])
    assert model.current_turn == ""
    read(model)
    assert model.take_back(["", "one"]) == []
    assert read(model) == "#0001"


def test_results_before_the_first_turn_cannot_be_taken_back() -> None:
    model = session("agent")
    read(model)
    model.turn("one")
    model.take_back(["one"])
    assert read(model) == "#0001"


def test_results_of_a_turn_taken_back_can_still_be_recalled() -> None:
    model = session("agent", "one")
    model.result("bash", {}, "x")
    model.take_back(["one"])
    assert model.recall("1").text == "[#0002 recall #0001 lines 1-1 of 1]\nx"


def test_a_rewind_past_a_compaction_puts_nothing_back() -> None:
    model = session("agent", "one")
    read(model)
    model.turn("two")
    model.compact()
    model.take_back(["two"])
    assert read(model) is None


# carry


def test_carry_none_empties_the_table_until_something_is_inserted() -> None:
    model = session("agent")
    read(model)
    model.carry("none")
    assert [read(model), read(model)] == [None, "#0002"]


def test_carry_puts_named_full_answers_back_and_passes_over_other_ids() -> None:
    model = session("chat", "one")
    read(model)
    read(model)
    model.recall("1")
    model.result("bash", {}, "x")
    model.result("grep", {}, "x", error=True)
    model.result("grep", {}, "x")
    model.turn("two")
    model.carry(["#0002", "#0003", "#0004", "#0005", "#00ff", "junk"])
    assert [row.in_request for row in model.reads()] == [False]
    assert model.result("grep", {}, "x").stub_of is None
    model.carry(["#0001", "#0006"])
    assert model.result("grep", {}, "x").stub_of == "#0006"
    assert read(model) == "#0001"


def test_carry_never_names_results_of_turns_taken_back() -> None:
    model = session("agent", "one")
    read(model)
    model.take_back(["one"])
    model.carry(["#0001"])
    assert read(model) is None
    model.carry("all")
    assert read(model) == "#0002"


def test_carry_all_reaches_back_to_the_newest_compaction_that_stands() -> None:
    model = session("agent", "one")
    read(model)
    model.compact()
    model.turn("two")
    read(model, "b")
    model.compact()
    model.carry("all")
    assert [row.in_request for row in model.reads()] == [False, False]
    model.take_back(["two"])
    model.turn("three")
    read(model, "c")
    model.carry("all")
    assert [(row.absolute, row.in_request) for row in model.reads()] == [("/a", False), ("/c", True)]


def test_a_list_may_name_a_result_from_before_a_compaction() -> None:
    model = session("agent")
    read(model)
    model.compact()
    model.carry(["#0001"])
    assert read(model) == "#0001"


def test_in_an_opaque_session_carry_all_names_every_full_answer() -> None:
    model = session("opaque", "one")
    read(model)
    model.result("glob", {}, "x")
    model.carry("all")
    assert read(model) == "#0001"
    assert model.result("glob", {}, "x").stub_of == "#0002"


# Compaction


def test_the_table_names_the_newest_full_read_of_each_file_newest_last() -> None:
    model = session("agent", "one")
    model.read("a|b\n", "/a", b"x\n")
    model.read("empty", "/e", b"")
    model.read("./c", "/c", b"1\n2\n3\n", 2, 1)
    model.read("a|b\n", "/a", b"x\n")
    model.read("c", "/c", b"1\n2\n3\n", 1, 2)
    assert model.compact().table == (
        "## Files read before this summary\n"
        "\n"
        "Read a file again for its content; recall shows a result by its id.\n"
        "\n"
        "| Path | Lines | sha | Result |\n"
        "|---|---|---|---|\n"
        "| a\\|b\\n | 1-1 of 1 | 73cb3858 | #0001 |\n"
        "| empty | empty | e3b0c442 | #0002 |\n"
        "| c | 1-2 of 3 | 14c5e74c | #0005 |"
    )


def test_without_reads_there_is_no_table() -> None:
    model = session("agent")
    model.result("grep", {}, "x")
    model.change([Change("a", "/a", None, b"x\n")])
    model.read("a", "/a", b"x\n", offset=2)
    answer = model.compact()
    assert (answer.table, answer.rows) == ("", [])


def test_a_compaction_empties_the_table() -> None:
    model = session("agent", "one")
    read(model)
    rows = model.compact().rows
    assert [(row.result, row.in_request) for row in rows] == [("#0001", False)]
    assert read(model) is None
    assert model.recall("1").text == "[#0003 recall #0001 lines 1-1 of 1]\n1: x"


def test_the_next_table_covers_only_reads_since_the_last_compaction() -> None:
    model = session("agent", "one")
    read(model)
    model.compact()
    read(model, "b")
    assert [row.absolute for row in model.compact().rows] == ["/b"]
    assert model.compact().table == ""


def test_a_chats_table_covers_the_reads_of_earlier_turns_too() -> None:
    model = session("chat", "one")
    read(model)
    model.turn("two")
    read(model, "b")
    assert [row.absolute for row in model.compact().rows] == ["/a", "/b"]


def test_an_opaque_sessions_table_covers_its_reads() -> None:
    model = session("opaque", "one")
    read(model)
    read(model)
    assert [row.result for row in model.compact().rows] == ["#0002"]


def test_a_turn_taken_back_takes_its_reads_out_of_the_table_and_an_older_one_stands() -> None:
    model = session("chat", "one")
    read(model)
    model.turn("two")
    read(model)
    model.take_back(["two"])
    assert [row.result for row in model.compact().rows] == ["#0001"]


def test_a_compaction_inside_a_turn_taken_back_no_longer_counts() -> None:
    model = session("agent", "one")
    read(model)
    model.turn("two")
    model.compact()
    model.take_back(["two"])
    assert [row.result for row in model.compact().rows] == ["#0001"]


def test_the_table_holds_the_newest_fifty() -> None:
    model = session("agent")
    for number in range(51):
        read(model, f"f{number}")
    rows = model.compact().rows
    assert (len(rows), rows[0].absolute, rows[-1].absolute) == (50, "/f1", "/f50")


# reads


def test_reads_lists_the_newest_full_read_of_each_file_with_its_whole_hash() -> None:
    model = session("agent", "one")
    read(model, "b")
    read(model)
    read(model, "b")
    model.compact()
    model.read("again", "/b", b"x\n")
    first, second = model.reads()
    assert (first.path, first.result, first.sha256, first.in_request) == ("a", "#0002", SHA_X, False)
    assert (second.path, second.absolute, second.result, second.in_request) == ("again", "/b", "#0004", True)
    assert (second.first, second.last, second.lines) == (1, 1, 1)


def test_a_row_of_an_empty_file_has_no_lines_and_is_in_the_request() -> None:
    model = session("agent")
    model.read("e", "/e", b"")
    (row,) = model.reads()
    assert (row.first, row.last, row.lines, row.in_request) == (0, 0, 0, True)


def test_changed_is_a_change_after_the_read_even_if_it_was_taken_back() -> None:
    model = session("agent")
    model.change([Change("a", "/a", None, b"x\n")])
    read(model)
    read(model, "b")
    model.turn("one")
    model.change([Change("c", "/c", b"x", None), Change("b", "/b", b"x\n", None)])
    model.take_back(["one"])
    assert [(row.absolute, row.changed) for row in model.reads()] == [("/a", False), ("/b", True)]
