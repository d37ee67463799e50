"""Entries as the wire tells of them, and how many make a page."""

from __future__ import annotations

from typing import Any

from tests.daemon.office import Office, change, change_of, opening, read, recall, text
from waybread_protocol.messages import Compact, Delete, Done, Entry, Message, TakeBack, Turn


def told(entry: Entry) -> dict[str, Any]:
    """The fields of an entry that have not their empty value, but for the time."""
    empty = Entry(seq=0, session="", at_ms=0, kind="")
    names = [name for name in Entry.__struct_fields__ if name != "at_ms"]
    return {name: getattr(entry, name) for name in names if getattr(entry, name) != getattr(empty, name)}


async def test_every_kind_of_entry_has_its_fields_and_no_others(office: Office) -> None:
    await office.ask(opening("t", "chat", title="a title"), object)
    await office.ask(Turn(id=1, session="s", turn="one"), Done)
    await office.insert(text("1", "x" * 3, tool="grep", args={"p": "é"}, call="c1"))
    await office.insert(text("2", "x" * 3, tool="grep", args={"p": "é"}, call="c2"))
    await office.insert(text("3", "no", error=True))
    await office.insert(text("4", "l\n" * 500))
    await office.insert(read("5", "a\n", call="c5"))
    await office.insert(read("6", "a\n", 9))
    await office.insert(change("7", change_of("a", "x", "y"), args={"n": 1}))
    await office.insert(recall("8", "3"))
    await office.insert(recall("9", "zz"))
    await office.ask(Message(id=1, session="s", key="m", role="summary", text="said"), Done)
    await office.ask(Compact(id=1, session="s", key="c"), object)
    await office.ask(TakeBack(id=1, session="s", key="tb", turns=["one", "none"]), Done)
    await office.ask(Delete(id=1, session="t"), Done)
    entries = [told(entry) for entry in (await office.page()).entries]
    cut = "l\n" * 200 + "[200 lines elided, full output #0004]\n" + "l\n" * 100
    diff = "@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+y\n\\ No newline at end of file"
    search = {"kind": "result", "tool": "grep", "args": {"p": "é"}, "args_chars": 9, "body": "text"}
    of_turn = {"session": "s", "turn": "one"}
    bash = {"kind": "result", "tool": "bash", "args_chars": 2, "body": "text"} | of_turn
    a_read = {"kind": "result", "tool": "read", "args_chars": 2, "body": "read"} | of_turn
    wanted: list[dict[str, Any]] = [
        {"session": "s", "kind": "opened", "session_kind": "agent"},
        {"kind": "turn"} | of_turn,
        search | of_turn | {"call": "c1", "result": "#0001", "text": "[#0001]\nxxx"},
        search
        | of_turn
        | {"call": "c2", "result": "#0002", "text": "[#0002] Same result as #0001.", "stub_of": "#0001"},
        bash | {"result": "#0003", "text": "[#0003]\nno", "error": True},
        bash | {"result": "#0004", "text": f"[#0004]\n{cut}", "capped": True},
        a_read | {"result": "#0005", "call": "c5", "text": "[#0005 a.py lines 1-1 of 1 sha 87428fc5]\n1: a"},
        a_read | {"result": "#0006", "text": "[#0006] /x/a.py has 1 lines: there is no line 9.", "error": True},
        {"kind": "result", "tool": "edit", "args": {"n": 1}, "args_chars": 7, "body": "change", "result": "#0007"}
        | of_turn
        | {"text": f"[#0007 a sha a1fce436]\n{diff}"},
        {"kind": "recall", "result": "#0008", "text": "[#0008 recall #0003 lines 1-1 of 1]\nno"} | of_turn,
        {"kind": "recall", "result": "#0009", "text": "[#0009] No stored result #zz in this session."}
        | of_turn
        | {"error": True},
        {"kind": "message", "role": "summary", "text": "said"} | of_turn,
        {"kind": "compacted", "text": entries[12]["text"]} | of_turn,
        {"kind": "taken_back", "turns": ["one"]} | of_turn,
        {"session": "t", "kind": "deleted"},
    ]
    seqs = [1, *range(3, 17)]
    for entry, seq, fields in zip(entries, seqs, wanted, strict=True):
        chars = {"text_chars": len(fields["text"])} if "text" in fields else {}
        assert entry == fields | {"seq": seq} | chars
    assert entries[12]["text"].endswith("| a.py | 1-1 of 1 | 87428fc5 | #0005 |")


async def test_times_are_those_of_the_daemons_clock(office: Office) -> None:
    await office.insert(text("1", "x"))
    times = [entry.at_ms for entry in (await office.page()).entries]
    assert times == [1000, 1001]


async def test_args_over_16_kib_stand_as_an_empty_map_and_their_length_is_told(office: Office) -> None:
    most = {"a": "x" * (16 * 1024 - 8)}
    await office.insert(text("1", "x", args=most))
    await office.insert(text("2", "x", args={"a": "x" * (16 * 1024 - 7)}))
    await office.insert(text("3", "x", args={"a": "é" * 8189}))
    entries = (await office.page(1)).entries
    assert [entry.args_chars for entry in entries] == [16 * 1024, 16 * 1024 + 1, 8197]
    assert [bool(entry.args) for entry in entries] == [True, False, False]
    assert entries[0].args == most


async def test_a_page_holds_what_fits_in_its_bytes_of_text_and_args(office: Office) -> None:
    office.asker.page_bytes = 1000
    for number in range(5):
        # 8 characters of bracket, 290 of body and 2 of arguments: 300 bytes.
        await office.insert(text(f"{number}", "é" * 145))
    page = await office.page(1)
    assert ([entry.seq for entry in page.entries], page.next, page.more) == ([2, 3, 4], 4, True)
    page = await office.page(4)
    assert ([entry.seq for entry in page.entries], page.next, page.more) == ([5, 6], 6, False)
    office.asker.page_bytes = 900
    assert len((await office.page(1)).entries) == 3
    office.asker.page_bytes = 899
    assert len((await office.page(1)).entries) == 2


async def test_a_longer_text_stands_alone_up_to_a_whole_character(office: Office) -> None:
    office.asker.page_bytes = 1001
    await office.insert(text("1", "small"))
    await office.insert(text("2", "é" * 5000))
    await office.insert(text("3", "small"))
    assert [entry.seq for entry in (await office.page(1)).entries] == [2]
    page = await office.page(2)
    (entry,) = page.entries
    assert entry.text == "[#0002]\n" + "é" * 495
    assert (entry.text_chars, page.more, page.next) == (5008, True, 3)


async def test_a_page_has_at_least_one_entry_however_large_its_args(office: Office) -> None:
    office.asker.page_bytes = 500
    await office.insert(text("1", "y" * 900, args={"a": "x" * 492}))
    await office.insert(text("2", "y" * 900, args={"a": "x" * 493}))
    (fits,) = (await office.page(1)).entries
    assert (fits.args_chars, fits.args, fits.text) == (500, {"a": "x" * 492}, "[#00")
    (over,) = (await office.page(2)).entries
    assert (over.args_chars, over.args, over.text) == (501, {"a": "x" * 493}, "[#00")


async def test_a_page_of_very_small_entries_has_a_thousand_at_most(office: Office) -> None:
    futures = [office.send(Turn(id=1, session="s", turn=f"t{number}")) for number in range(1004)]
    for future in futures:
        await future
    page = await office.page()
    assert (len(page.entries), page.next, page.more) == (1000, 1000, True)
    page = await office.page(1000)
    assert (len(page.entries), page.next, page.more, page.head) == (5, 1005, False, 1005)
