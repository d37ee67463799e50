"""The table of reads that follows a summary."""

from tests.daemon.hygiene.stories import CONTENT, insert_read, insert_text, opened, sha256_of
from waybread_daemon.hygiene.compaction import covered_reads, newest_reads, table
from waybread_daemon.hygiene.events import Changed, Compacted, TakenBack, TurnBegan
from waybread_daemon.hygiene.session import State

HEAD = (
    "## Files read before this summary\n"
    "\n"
    "Read a file again for its content; recall shows a result by its id.\n"
    "\n"
    "| Path | Lines | sha | Result |\n"
    "|---|---|---|---|"
)
SHA8 = sha256_of(CONTENT).hex()[:8]


def compact(state: State) -> None:
    state.apply(Compacted(state.kind, state.results, state.turn))


def numbers(state: State) -> list[int]:
    return [read.number for read in covered_reads(state)]


def test_the_table_to_the_byte() -> None:
    state = opened()
    for _ in range(17):
        insert_text(state)
    insert_read(state, "src/app.ts", limit=200)
    insert_read(state, "a|b\nc", b"")
    assert table(covered_reads(state)) == (
        f"{HEAD}\n| src/app.ts | 1-200 of 340 | {SHA8} | #0012 |\n" + r"| a\|b\nc | empty | e3b0c442 | #0013 |"
    )


def test_without_reads_there_is_no_table() -> None:
    assert table([]) == ""
    state = opened()
    insert_text(state, tool="grep")
    state.apply(Changed(2, ("/x/a",)))
    assert table(covered_reads(state)) == ""


def test_of_each_file_the_newest_full_read_counts_and_a_stub_or_an_error_does_not() -> None:
    state = opened()
    insert_read(state, "a")
    insert_read(state, "b")
    insert_read(state, "a", b"other\n")
    insert_read(state, "a", b"other\n")
    insert_read(state, "a", b"other\n", offset=9)
    assert numbers(state) == [2, 3]


def test_at_most_the_newest_fifty() -> None:
    state = opened()
    for number in range(60):
        insert_read(state, f"f{number}")
    insert_read(state, "f3", b"changed\n")
    assert numbers(state) == [*range(12, 61), 61]
    assert table(covered_reads(state)).count("\n") == 5 + 50


def test_the_next_table_covers_what_came_after_the_last_compaction() -> None:
    state = opened()
    insert_read(state, "a")
    compact(state)
    assert numbers(state) == []
    insert_read(state, "b")
    assert numbers(state) == [2]
    compact(state)
    compact(state)
    assert numbers(state) == []
    assert [read.number for read in newest_reads(state)] == [1, 2]


def test_a_turn_taken_back_takes_its_reads_with_it_and_uncovers_the_read_before() -> None:
    state = opened()
    insert_read(state, "a")
    state.apply(TurnBegan("t"))
    insert_read(state, "a", b"other\n")
    insert_read(state, "b")
    assert numbers(state) == [2, 3]
    state.apply(TakenBack(("t",)))
    assert numbers(state) == [1]


def test_a_compaction_that_is_taken_back_no_longer_counts() -> None:
    state = opened()
    insert_read(state, "a")
    compact(state)
    insert_read(state, "b")
    state.apply(TurnBegan("t"))
    compact(state)
    state.apply(TurnBegan("u"))
    insert_read(state, "c")
    assert numbers(state) == [3]
    state.apply(TakenBack(("t",)))
    assert numbers(state) == [2, 3]


def test_reads_that_a_chats_requests_no_longer_carry_are_covered_as_well() -> None:
    state = opened("chat")
    state.apply(TurnBegan("t"))
    insert_read(state, "a")
    state.apply(TurnBegan("u"))
    assert numbers(state) == [1]
    assert not state.is_carried(1)
