"""What only looks: show, reads, sessions, sync, history, entry_text."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.daemon.office import Office, an_office, opening, read, text
from waybread_protocol.messages import (
    Carry,
    Done,
    EntryText,
    History,
    Message,
    Page,
    SessionList,
    Sessions,
    Show,
    Shown,
    Sync,
    TextPiece,
    Turn,
)

BODY = "one\r\ntwo\n\nfour é€😀"


# --- show ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "offset, limit, from_char, text_, first, last",
    [
        (1, 2000, 0, BODY, 1, 4),
        (1, 1, 0, "one\r\n", 1, 1),
        (2, 2, 0, "two\n\n", 2, 3),
        (3, 1, 0, "\n", 3, 3),
        (4, 1, 0, "four é€😀", 4, 4),
        (4, 9, 5, "é€😀", 4, 4),
        (4, 9, 8, "", 4, 4),
        (4, 9, 99, "", 4, 4),
        (0, 1, 0, "one\r\n", 1, 1),
        (-3, -1, 0, BODY, 1, 4),
        (1, 5000, 0, BODY, 1, 4),
        (5, 1, 0, "", 0, 0),
        (2**53 - 1, 1, 0, "", 0, 0),
    ],
)
async def test_show_gives_the_exact_piece(
    office: Office, offset: int, limit: int, from_char: int, text_: str, first: int, last: int
) -> None:
    await office.insert(text("k", BODY))
    shown = await office.ask(
        Show(id=1, session="s", result=" #1", offset=offset, limit=limit, from_char=from_char), Shown
    )
    assert shown == Shown(
        re=shown.re, result="#0001", tool="bash", text=text_, first=first, last=last, lines=4, next_char=None, seq=2
    )


async def test_show_tells_where_the_entry_of_its_result_is(office: Office) -> None:
    for number in range(1, 4):
        await office.ask(Message(id=1, session="s", key=f"m{number}", role="user", text="Go on."), Done)
        await office.insert(text(f"k{number}", f"output {number}"))
    seq = (await office.ask(Show(id=1, session="s", result="2"), Shown)).seq
    page = await office.ask(History(id=1, session="s", before=seq + 1, limit=1), Page)
    assert (seq, [(entry.seq, entry.result) for entry in page.entries]) == (5, [(5, "#0002")])


async def test_show_inserts_nothing_and_knows_only_ids_that_were_given(office: Office) -> None:
    await office.insert(text("k", ""))
    shown = await office.ask(Show(id=1, session="s", result="1"), Shown)
    assert (shown.text, shown.first, shown.last, shown.lines) == ("", 0, 0, 0)
    for result in ("2", "0", "", "zz", "#", "ffffffffffffff"):
        await office.error(Show(id=1, session="s", result=result), "unknown_result")
    await office.error(Show(id=1, session="never", result="1"), "unknown_session")
    assert await office.head() == 2


async def test_show_sees_what_was_sent_just_before_it(office: Office) -> None:
    futures = [office.send(text("k", BODY)), office.send(Show(id=1, session="s", result="1", limit=1))]
    shown = [await future for future in futures][1]
    assert isinstance(shown, Shown)
    assert shown.text == "one\r\n"


# --- sessions --------------------------------------------------------------------------------------------------------


async def test_sessions_are_listed_last_changed_first_in_pages(tmp_path: Path) -> None:
    async with an_office(tmp_path, "a", "b", "c", "d") as office:
        await office.ask(Turn(id=1, session="b", turn="t"), Done)
        await office.insert(text("k", "x", session="a"))
        first = await office.ask(Sessions(id=1, limit=2), SessionList)
        assert [(row.session, row.head, row.results) for row in first.sessions] == [("a", 6, 1), ("b", 5, 0)]
        assert first.more is True
        rest = await office.ask(Sessions(id=1, before=5), SessionList)
        assert [(row.session, row.head) for row in rest.sessions] == [("d", 4), ("c", 3)]
        assert rest.more is False
        row = rest.sessions[0]
        assert (row.kind, row.opened_ms, row.changed_ms) == ("agent", 1003, 1003)
        assert first.sessions[0].changed_ms > first.sessions[0].opened_ms


async def test_a_list_tells_what_each_session_said_last_and_what_it_stored(tmp_path: Path) -> None:
    async with an_office(tmp_path, "a", "b") as office:
        await office.insert(text("k", "x\n" * 5000, session="a"))
        rows = (await office.ask(Sessions(id=1), SessionList)).sessions
        assert [(row.session, row.last_line) for row in rows] == [("a", "x"), ("b", "")]
        assert rows[0].raw_bytes >= 10_000
        assert 0 < rows[0].stored_bytes < rows[0].raw_bytes
        assert rows[1].raw_bytes < 1000


async def test_a_list_of_sessions_is_no_larger_than_a_page(office: Office) -> None:
    office.asker.page_bytes = 1000
    for number in range(5):
        await office.ask(opening(f"t{number}", title="é" * 199), object)
    found = await office.ask(Sessions(id=1), SessionList)
    assert ([row.session for row in found.sessions], found.more) == (["t4", "t3"], True)
    office.asker.page_bytes = 10
    found = await office.ask(Sessions(id=1), SessionList)
    assert ([row.session for row in found.sessions], found.more) == (["t4"], True)


# --- sync and history ------------------------------------------------------------------------------------------------


async def test_sync_of_one_session_passes_over_the_others_numbers(tmp_path: Path) -> None:
    async with an_office(tmp_path, "a", "b") as office:
        await office.ask(Turn(id=1, session="b", turn="t"), Done)
        page = await office.page(session="a")
        assert ([entry.seq for entry in page.entries], page.next, page.head, page.more) == ([1], 3, 3, False)
        page = await office.page(3, session="b")
        assert ([entry.seq for entry in page.entries], page.next) == ([], 3)
        await office.error(Sync(id=1, session="never"), "unknown_session")


async def test_sync_checks_its_cursor(office: Office) -> None:
    epoch = office.store.epoch
    assert (await office.error(Sync(id=1, after=2, epoch=epoch), "reset")).retry is False
    await office.error(Sync(id=1, after=1, epoch="x"), "reset")
    await office.error(Sync(id=1, after=1, epoch="x", session="s"), "reset")
    await office.error(Sync(id=1, after=1), "bad_message")
    assert (await office.ask(Sync(id=1, after=0, epoch="x"), Page)).head == 1


async def test_history_goes_backwards_in_ascending_pages(office: Office) -> None:
    await office.ask(opening("other"), object)
    for number in range(6):
        await office.ask(Turn(id=1, session="s", turn=f"t{number}"), Done)
    last = await office.ask(History(id=1, session="s", limit=3), Page)
    assert ([entry.seq for entry in last.entries], last.next, last.more, last.head) == ([6, 7, 8], 6, True, 8)
    middle = await office.ask(History(id=1, session="s", before=6, limit=3), Page)
    assert ([entry.seq for entry in middle.entries], middle.next, middle.more) == ([3, 4, 5], 3, True)
    first = await office.ask(History(id=1, session="s", before=3, limit=3), Page)
    assert ([entry.seq for entry in first.entries], first.next, first.more) == ([1], 0, False)
    exact = await office.ask(History(id=1, session="s", before=6, limit=4), Page)
    assert ([entry.seq for entry in exact.entries], exact.next, exact.more) == ([1, 3, 4, 5], 0, False)
    none = await office.ask(History(id=1, session="s", before=1), Page)
    assert (none.entries, none.next, none.more) == ([], 0, False)


async def test_history_gives_the_newest_entries_that_fit(office: Office) -> None:
    office.asker.page_bytes = 1000
    for number in range(5):
        await office.insert(text(f"{number}", "x" * 290))
    page = await office.ask(History(id=1, session="s"), Page)
    assert ([entry.seq for entry in page.entries], page.next, page.more) == ([4, 5, 6], 4, True)


async def test_history_and_sync_see_what_was_sent_just_before_them(office: Office) -> None:
    office.send(text("k", "x"))
    assert len((await office.ask(History(id=1, session="s"), Page)).entries) == 2
    office.send(text("l", "x"))
    assert len((await office.page(session="s")).entries) == 3


# --- entry_text ------------------------------------------------------------------------------------------------------


async def test_entry_text_gives_the_rest_of_a_text_in_whole_characters(office: Office) -> None:
    whole = "é€😀" * 400
    await office.ask(Message(id=1, session="s", key="m", role="user", text=whole), Done)
    office.asker.page_bytes = 1000
    text_ = (await office.page(1)).entries[0].text
    while len(text_) < len(whole):
        piece = await office.ask(EntryText(id=1, seq=2, from_char=len(text_)), TextPiece)
        assert (piece.seq, piece.from_char) == (2, len(text_))
        assert 0 < len(piece.text.encode()) <= 1000
        text_ += piece.text
        assert piece.next_char == (len(text_) if len(text_) < len(whole) else None)
    assert text_ == whole
    beyond = await office.ask(EntryText(id=1, seq=2, from_char=5000), TextPiece)
    assert (beyond.text, beyond.next_char) == ("", None)


async def test_entry_text_of_a_read_and_a_capped_result_is_what_went_to_the_model(office: Office) -> None:
    for request in (text("1", "l\n" * 900), read("2", "a\r\nb"), text("3", "x" * 30_000)):
        inserted = await office.insert(request)
        piece = await office.ask(EntryText(id=1, seq=inserted.seq), TextPiece)
        assert piece.text == inserted.text


async def test_entry_text_knows_only_entries(office: Office) -> None:
    carried = await office.ask(Carry(id=1, session="s", key="c", results="none"), Done)
    for seq in (0, carried.seq, carried.seq + 1, 2**53 - 1):
        await office.error(EntryText(id=1, seq=seq), "unknown_result")


# --- Pages that a client cannot take ---------------------------------------------------------------------------------
