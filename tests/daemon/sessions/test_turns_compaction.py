"""Compaction: its table, what it empties, and what becomes of it when its turn is taken back."""

from __future__ import annotations

import hashlib

import pytest

from tests.daemon.office import change, change_of, read
from tests.daemon.sessions.story import LINES, OTHER, Story
from waybread_protocol.messages import (
    ReadList,
    ReadRow,
    Reads,
)


def table(*rows: str) -> str:
    head = (
        "## Files read before this summary\n\nRead a file again for its content; recall shows a result by its id.\n\n"
        "| Path | Lines | sha | Result |\n|---|---|---|---|\n"
    )
    return head + "\n".join(rows)


async def test_the_table_names_the_newest_full_read_of_each_file_newest_last(story: Story) -> None:
    await story.read("a")
    await story.read("b|c\n", "x\n")
    await story.read("a", "other\n")
    await story.read("a", "other\n")
    await story.read("e", "")
    await story.office.insert(change("edit", change_of("a", "other\n", "new\n")))
    await story.office.insert(read("past", LINES, 99, absolute="/x/never shown"))
    compacted = await story.compact()
    assert compacted.table == table(
        r"| b\|c\n | 1-1 of 1 | 73cb3858 | #0002 |",
        f"| a | 1-1 of 1 | {hashlib.sha256(OTHER.encode()).hexdigest()[:8]} | #0003 |",
        "| e | empty | e3b0c442 | #0005 |",
    )
    assert compacted.reads[1] == ReadRow(
        path="a",
        absolute="/x/a",
        first=1,
        last=1,
        lines=1,
        sha256=hashlib.sha256(OTHER.encode()).hexdigest(),
        result="#0003",
        in_request=False,
        changed=True,
    )
    assert (compacted.reads[2].first, compacted.reads[2].last, compacted.reads[2].changed) == (0, 0, False)


async def test_the_second_table_covers_only_what_came_after_the_first_and_is_empty_without_reads(
    story: Story,
) -> None:
    await story.read("a")
    await story.compact()
    assert (await story.compact()).table == ""
    await story.read("b")
    await story.office.restart()
    assert [row.path for row in (await story.compact()).reads] == ["b"]


@pytest.mark.parametrize("restarted", [False, True])
async def test_a_compaction_that_is_taken_back_no_longer_counts(story: Story, restarted: bool) -> None:
    await story.read("a")
    await story.turn("t")
    await story.read("b")
    await story.compact()
    await story.turn("u")
    await story.read("c")
    if restarted:
        await story.office.restart()
    await story.take_back("t")
    if restarted:
        await story.office.restart()
    # The table stays as it is: only what was inserted since may be named.
    assert [await story.stub(name) for name in "ca"] == ["#0003", None]
    if restarted:
        await story.office.restart()
    compacted = await story.compact()
    assert [(row.path, row.result) for row in compacted.reads] == [("c", "#0003"), ("a", "#0005")]


@pytest.mark.parametrize("restarted", [False, True])
async def test_all_after_a_compaction_that_was_taken_back_goes_back_to_the_one_before(
    story: Story, restarted: bool
) -> None:
    await story.read("a")
    await story.compact()
    await story.read("b")
    await story.turn("t")
    await story.compact()
    await story.read("c")
    await story.take_back("t")
    if restarted:
        await story.office.restart()
    await story.carry("all")
    if restarted:
        await story.office.restart()
    assert [await story.stub(name) for name in "bac"] == ["#0002", None, None]


@pytest.mark.parametrize("restarted", [False, True])
async def test_the_covered_reads_after_two_compactions_of_one_turn_that_is_taken_back(
    story: Story, restarted: bool
) -> None:
    await story.read("a")
    await story.turn("t")
    await story.compact()
    await story.turn("u")
    await story.read("b")
    await story.compact()
    await story.read("c")
    if restarted:
        await story.office.restart()
    await story.take_back("u")
    if restarted:
        await story.office.restart()
    assert [row.path for row in (await story.compact()).reads] == []
    await story.take_back("t")
    if restarted:
        await story.office.restart()
    reads = await story.office.ask(Reads(id=1, session="s"), ReadList)
    assert [row.path for row in reads.reads] == ["a"]


async def test_reads_tells_what_is_in_the_request_and_what_changed_since(story: Story) -> None:
    await story.turn("t")
    await story.read("gone")
    await story.turn("u")
    await story.read("a")
    await story.compact()
    await story.read("b")
    await story.office.insert(change("1", change_of("a", LINES, "x")))
    await story.office.restart()
    await story.take_back("t")
    reads = (await story.office.ask(Reads(id=1, session="s"), ReadList)).reads
    assert [(row.path, row.result, row.in_request, row.changed) for row in reads] == [
        ("a", "#0002", False, True),
        ("b", "#0003", True, False),
    ]
    await story.carry(["2"])
    reads = (await story.office.ask(Reads(id=1, session="s"), ReadList)).reads
    assert [row.in_request for row in reads] == [True, False]
