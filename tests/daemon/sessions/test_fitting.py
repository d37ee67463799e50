"""Answers made smaller: half of a list is left for the next one, and of one item half of what is long in it."""

from __future__ import annotations

import msgspec

from waybread_daemon.sessions.fitting import smaller, smaller_entry
from waybread_protocol.messages import Done, Entry, Page, SessionList, SessionRow


def page_of(*seqs: int, next_: int, more: bool) -> Page:
    entries = [Entry(seq=seq, session="s", at_ms=1, kind="turn") for seq in seqs]
    return Page(re=1, epoch="e", entries=entries, next=next_, head=20, more=more)


def test_half_a_page_of_sync_goes_on_behind_its_last_entry() -> None:
    half = smaller(page_of(3, 5, 7, 9, 11, next_=20, more=False))
    assert half == page_of(3, 5, next_=5, more=True)
    assert smaller(page_of(3, 5, next_=5, more=True)) == page_of(3, next_=3, more=True)


def test_half_a_page_of_history_goes_on_ahead_of_its_first_entry() -> None:
    assert smaller(page_of(3, 5, 7, 9, 11, next_=3, more=True)) == page_of(9, 11, next_=9, more=True)
    assert smaller(page_of(1, 2, next_=0, more=False)) == page_of(2, next_=2, more=True)


def test_one_entry_and_what_is_no_page_cannot_be_smaller() -> None:
    assert smaller(page_of(3, next_=20, more=False)) is None
    assert smaller(page_of(next_=20, more=False)) is None
    assert smaller(Done(re=1)) is None


def test_half_a_list_of_sessions_has_more() -> None:
    rows = [
        SessionRow(
            session=f"s{head}", kind="chat", title="", directory="", results=0, head=head, opened_ms=1, changed_ms=1
        )
        for head in (9, 8, 7)
    ]
    assert smaller(SessionList(re=1, sessions=rows, more=False)) == SessionList(re=1, sessions=rows[:1], more=True)
    assert smaller(SessionList(re=1, sessions=rows[:1], more=False)) is None


def test_an_entry_loses_what_is_longer_of_text_and_arguments_then_of_its_labels_then_of_its_turns() -> None:
    entry = Entry(
        seq=1,
        session="s",
        at_ms=1,
        kind="result",
        text="abcdefghij",
        args={"a": 1},
        args_chars=7,
        call="c",
        tool="bash",
        turns=["x", "y"],
    )
    seen: list[dict[str, object]] = []
    while (less := smaller_entry(entry)) is not None:
        entry = less
        seen.append({name: getattr(entry, name) for name in ("text", "args", "tool", "call", "turns")})
    assert seen == [
        {"text": "abcde", "args": {"a": 1}, "tool": "bash", "call": "c", "turns": ["x", "y"]},
        {"text": "abcde", "args": {}, "tool": "bash", "call": "c", "turns": ["x", "y"]},
        {"text": "ab", "args": {}, "tool": "bash", "call": "c", "turns": ["x", "y"]},
        {"text": "a", "args": {}, "tool": "bash", "call": "c", "turns": ["x", "y"]},
        {"text": "", "args": {}, "tool": "bash", "call": "c", "turns": ["x", "y"]},
        {"text": "", "args": {}, "tool": "ba", "call": "c", "turns": ["x", "y"]},
        {"text": "", "args": {}, "tool": "b", "call": "c", "turns": ["x", "y"]},
        {"text": "", "args": {}, "tool": "b", "call": "", "turns": ["x", "y"]},
        {"text": "", "args": {}, "tool": "", "call": "", "turns": ["x", "y"]},
        {"text": "", "args": {}, "tool": "", "call": "", "turns": ["x"]},
        {"text": "", "args": {}, "tool": "", "call": "", "turns": []},
    ]


def test_a_page_of_one_entry_keeps_it_and_its_cursor() -> None:
    page = page_of(3, next_=20, more=False)
    long = msgspec.structs.replace(page, entries=[msgspec.structs.replace(page.entries[0], text="abcd")])
    less = smaller(long)
    assert isinstance(less, Page)
    assert (less.next, less.more, less.entries[0].seq, less.entries[0].text) == (20, False, 3, "ab")


def test_one_session_keeps_half_of_its_longest_label() -> None:
    row = SessionRow(
        session="s",
        kind="chat",
        title="abcd",
        directory="xyz",
        results=0,
        head=9,
        opened_ms=1,
        changed_ms=1,
        last_line="123456",
    )
    whole = smaller(SessionList(re=1, sessions=[row], more=True))
    assert isinstance(whole, SessionList)
    assert (whole.sessions[0].title, whole.sessions[0].directory, whole.sessions[0].last_line) == ("abcd", "xyz", "123")
    row = msgspec.structs.replace(row, last_line="12")
    once = smaller(SessionList(re=1, sessions=[row], more=True))
    assert isinstance(once, SessionList)
    assert (once.sessions[0].title, once.sessions[0].directory, once.more) == ("ab", "xyz", True)
    twice = smaller(once)
    assert isinstance(twice, SessionList)
    assert (twice.sessions[0].title, twice.sessions[0].directory) == ("ab", "x")
