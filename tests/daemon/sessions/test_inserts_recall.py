"""recall: any stored result again, by windows, as its own body."""

from __future__ import annotations

import hashlib

import pytest

from tests.daemon.office import Office, change, change_of, read, recall, text, window
from waybread_daemon.store.contract import LARGE_BYTES
from waybread_protocol.messages import Compact, Done, TakeBack, Turn

LINES = "".join(f"line {number}\n" for number in range(1, 31))


async def test_a_recall_shows_lines_as_they_are_and_is_stored_itself(office: Office) -> None:
    await office.insert(text("1", "one\r\ntwo\r\n\nlast"))
    for argument in ("#0001", "0001", "1", "#1", " #1\t", "\n1\r\x0b\x0c ", "0000000000000000000001"):
        recalled = await office.insert(recall(f"r{argument}", argument))
        assert recalled.text == f"[{recalled.result} recall #0001 lines 1-4 of 4]\none\r\ntwo\r\n\nlast"
        assert (recalled.stub_of, recalled.capped) == (None, False)
    assert (await office.insert(recall("w", "1", 2, 1))).text == "[#0009 recall #0001 lines 2-2 of 4]\ntwo\r"
    assert (await office.insert(recall("x", "1", 3, 1))).text == "[#000a recall #0001 lines 3-3 of 4]\n"
    assert (await office.insert(recall("of a recall", "9"))).text == "[#000b recall #0009 lines 1-1 of 1]\ntwo\r"


@pytest.mark.parametrize(
    "argument, named",
    [
        ("ffff", "ffff"),
        ("#FFFF", "FFFF"),
        ("2", "2"),
        ("0", "0"),
        ("", ""),
        ("##1", "#1"),
        ("0x1", "0x1"),
        ("1 ", "1"),
        ("١", "١"),
        ("-1", "-1"),
        ("a\nb\x1b\u2028", r"a\nb\x1b\u2028"),
        ("z" * 65, "z" * 64),
        ("\n" + "\t" * 3 + "#" + "é" * 70, "é" * 64),
        ("\u00a01", r"\xa01"),
        ("g\x80" * 40, r"g\x80" * 32),
    ],
)
async def test_an_id_never_given_is_named_in_the_answer(office: Office, argument: str, named: str) -> None:
    if argument == "1 ":
        await office.insert(text("first", "x"))
        assert (await office.insert(recall("k", argument))).text == "[#0002 recall #0001 lines 1-1 of 1]\nx"
        return
    # U+00A0 is a control character to nobody: it stands as it is.
    named = named.replace(r"\xa0", "\u00a0")
    recalled = await office.insert(recall("k", argument))
    assert recalled.text == f"[#0001] No stored result #{named} in this session."
    assert (await office.insert(recall("again", recalled.result))).text == (
        f"[#0002 recall #0001 lines 1-1 of 1]\nNo stored result #{named} in this session."
    )


async def test_the_id_of_a_recall_is_looked_up_before_it_takes_its_own(office: Office) -> None:
    assert (await office.insert(recall("k", "1"))).text == "[#0001] No stored result #1 in this session."
    assert (await office.insert(recall("l", "1"))).text.startswith("[#0002 recall #0001 lines 1-1 of 1]\n")


async def test_windows_past_the_end_and_empty_bodies(office: Office) -> None:
    await office.insert(text("1", "a\nb\nc\n"))
    await office.insert(text("2", ""))
    await office.insert(read("3", "", path="e", absolute="/e"))
    await office.insert(change("4", change_of("old", "x", None)))
    past = await office.insert(recall("5", "1", 4))
    assert past.text == "[#0005] #0001 has 3 lines: there is no line 4."
    for number, key in ((2, "6"), (3, "7"), (4, "8")):
        empty = await office.insert(recall(key, str(number), 100))
        assert empty.text == f"[#000{key} recall #000{number} empty]"
    assert (await office.insert(recall("9", "5"))).text.endswith("]\n#0001 has 3 lines: there is no line 4.")
    assert (await office.insert(recall("a", "8"))).text == "[#000a recall #0008 empty]"
    for key, offset, limit, lines in (
        ("b", 0, 2, "1-2"),
        ("c", -5, -5, "1-3"),
        ("d", 2, 0, "2-3"),
        ("e", 3, 2**53 - 1, "3-3"),
        ("f", -(2**53) + 1, 1, "1-1"),
    ):
        recalled = await office.insert(recall(key, "1", offset, limit))
        assert recalled.text.startswith(f"[#000{key} recall #0001 lines {lines} of 3]\n"), recalled.text


async def test_a_recall_shows_at_most_2000_lines_and_is_not_capped(office: Office) -> None:
    body = "".join(f"{number} {'x' * 300}\n" for number in range(1, 3401))
    await office.insert(text("1", body))
    first = await office.insert(recall("2", "1", 1, 5000))
    assert first.text.startswith("[#0002 recall #0001 lines 1-2000 of 3400]\n1 x")
    assert first.text.endswith("\n2000 " + "x" * 300)
    assert first.capped is False
    last = await office.insert(recall("3", "1", 2001))
    assert last.text.startswith("[#0003 recall #0001 lines 2001-3400 of 3400]\n2001 x")
    assert first.text.partition("\n")[2] + "\n" + last.text.partition("\n")[2] + "\n" == body
    assert (await office.insert(recall("4", "3", 1400, 1))).text.partition("\n")[2] == "3400 " + "x" * 300


@pytest.mark.parametrize("how", ["whole", "window", "large"])
async def test_a_recall_of_a_recall_of_a_stub_of_a_read_shows_the_lines_of_the_file(office: Office, how: str) -> None:
    lines = LINES if how != "large" else "".join(f"line {number} {'y' * 9000}\n" for number in range(1, 31))
    sha256 = hashlib.sha256(lines.encode()).hexdigest()
    if how == "window":
        wanted = "".join(lines.splitlines(keepends=True)[9:20])
        await office.insert(read("1", window(wanted, 30, sha256), 10, 11))
    else:
        assert (how == "large") == (len(lines) > LARGE_BYTES)
        await office.insert(read("1", lines, 10, 11))
    stub = await office.insert(read("2", lines, 12, 5))
    assert stub.stub_of == "#0001"
    shown = [line.removesuffix("\n") for line in lines.splitlines(keepends=True)]
    for _ in range(2):
        again = await office.insert(recall("3", "2"))
        assert again.text == "[#0003 recall #0002 lines 1-5 of 5]\n" + "\n".join(
            f"{number}: {shown[number - 1]}" for number in range(12, 17)
        )
        inner = await office.insert(recall("4", "3", 2, 3))
        assert inner.text == "[#0004 recall #0003 lines 2-4 of 5]\n" + "\n".join(
            f"{number}: {shown[number - 1]}" for number in range(13, 16)
        )
        last = await office.insert(recall("5", "4", 3, 1))
        assert last.text == f"[#0005 recall #0004 lines 3-3 of 3]\n15: {shown[14]}"
        full = await office.insert(recall("6", "1", 11))
        assert full.text == f"[#0006 recall #0001 lines 11-11 of 11]\n20: {shown[19]}"
        await office.restart()


async def test_a_recall_is_never_a_stub_nor_a_target_and_works_past_compaction_and_taking_back(
    office: Office,
) -> None:
    await office.ask(Turn(id=1, session="s", turn="t"), Done)
    await office.insert(read("1", LINES))
    await office.insert(text("2", "hit", tool="grep"))
    for key in ("3", "4"):
        assert (await office.insert(recall(key, "2"))).text == f"[#000{key} recall #0002 lines 1-1 of 1]\nhit"
    await office.ask(Compact(id=1, session="s", key="c"), object)
    assert (await office.insert(text("5", "hit", tool="grep"))).stub_of is None
    await office.ask(TakeBack(id=1, session="s", key="tb", turns=["t"]), Done)
    assert (await office.insert(recall("6", "1", 30))).text == "[#0006 recall #0001 lines 30-30 of 30]\n30: line 30"
    assert (await office.insert(read("7", LINES))).stub_of is None


async def test_a_giant_line_is_recalled_whole(office: Office) -> None:
    giant = "é" * 5_000_000
    await office.insert(text("1", f"a\n{giant}\nb"))
    recalled = await office.insert(recall("2", "1", 2, 1))
    assert recalled.text == f"[#0002 recall #0001 lines 2-2 of 3]\n{giant}"
