"""Answers and pushes as they stand on the wire."""

from __future__ import annotations

from typing import Any

import msgspec

from waybread_protocol.answers import BaseAnswer, Done, Entry, Error, Inserted, Lagged, Page, Pushed
from waybread_protocol.messages import FromDaemon

ANY: Any = FromDaemon
EMPTY_ENTRY: dict[str, Any] = {
    "turn": "",
    "role": "",
    "result": "",
    "tool": "",
    "call": "",
    "args": {},
    "args_chars": 0,
    "body": "",
    "error": False,
    "capped": False,
    "text": "",
    "text_chars": 0,
    "stub_of": None,
    "turns": [],
    "session_kind": "",
    "title": "",
}


def test_an_entry_has_every_field_and_those_that_do_not_apply_are_empty() -> None:
    entry = Entry(seq=3, session="s", at_ms=7, kind="opened")
    assert msgspec.to_builtins(entry) == {"seq": 3, "session": "s", "at_ms": 7, "kind": "opened", **EMPTY_ENTRY}


def test_an_insertion_without_a_stub_says_null() -> None:
    answer = Inserted(re=1, seq=2, result="#0001", text="[#0001]", stub_of=None, capped=False, repeated=False)
    assert msgspec.json.encode(answer) == (
        b'{"type":"inserted","re":1,"seq":2,"result":"#0001","text":"[#0001]","stub_of":null,"capped":false,'
        b'"repeated":false}'
    )


def test_a_push_has_no_re_and_carries_its_entry() -> None:
    assert not issubclass(Pushed, BaseAnswer)
    assert not issubclass(Lagged, BaseAnswer)
    assert msgspec.json.encode(Lagged(next=9)) == b'{"type":"lagged","next":9}'


def test_a_client_takes_an_entry_of_a_kind_and_a_body_that_it_does_not_know() -> None:
    entry = {"seq": 1, "session": "s", "at_ms": 1, "kind": "later", "body": "new", "more": [1]}
    pushed = msgspec.convert({"type": "entry", "entry": entry}, ANY)
    assert (pushed.entry.kind, pushed.entry.body) == ("later", "new")


def test_a_client_takes_an_error_code_that_it_does_not_know() -> None:
    error = msgspec.convert({"type": "error", "re": 1, "code": "later", "message": "m", "retry": True}, ANY)
    assert error == Error(re=1, code="later", message="m", retry=True)


def test_what_changed_nothing_is_done_without_a_place_in_the_log() -> None:
    assert msgspec.to_builtins(Done(re=4)) == {"type": "done", "re": 4, "seq": 0, "repeated": False}


def test_a_page_keeps_the_order_of_its_entries() -> None:
    entries = [Entry(seq=seq, session="s", at_ms=0, kind="turn") for seq in (5, 6)]
    page = Page(re=1, epoch="e", entries=entries, next=6, head=9, more=True)
    again = msgspec.msgpack.decode(msgspec.msgpack.encode(page), type=ANY)
    assert again == page
