"""Text results, reads and changes as they are inserted: the text, its number, and what is stored."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from tests.daemon.office import Office, an_office, change, change_of, opening, read, text, window
from tests.model import patch
from waybread_daemon.store.contract import LARGE_BYTES
from waybread_protocol.messages import Content, Delete, Done, Inserted, Show, Shown

LINES = "".join(f"line {number}\n" for number in range(1, 341))


def sha(content: str | bytes) -> str:
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()


async def shown(office: Office, result: str) -> str:
    """A stored body by its pieces."""
    text_, offset = "", 1
    while True:
        piece = await office.ask(Show(id=1, session="s", result=result, offset=offset), Shown)
        more, from_char = piece, 0
        text_ += piece.text
        while more.next_char is not None:
            assert more.next_char > from_char
            from_char = more.next_char
            more = await office.ask(Show(id=1, session="s", result=result, offset=offset, from_char=from_char), Shown)
            text_ += more.text
        if piece.last == piece.lines:
            return text_
        offset = piece.last + 1


# --- Text ------------------------------------------------------------------------------------------------------------


async def test_a_text_goes_in_as_it_came_behind_its_id(office: Office) -> None:
    for number, body in enumerate(["out", "  a\r\n\n", "\n", "é\u2028€😀", "\x00\x1b[0m", ""], 1):
        inserted = await office.insert(text(f"k{number}", body))
        assert inserted.text == f"[#{number:04x}]" + (f"\n{body}" if body else "")
        assert (inserted.result, inserted.seq) == (f"#{number:04x}", number + 1)
        assert (inserted.stub_of, inserted.capped, inserted.repeated) == (None, False, False)
        if body:
            assert await shown(office, inserted.result) == body


@pytest.mark.parametrize("size", [LARGE_BYTES - 1, LARGE_BYTES, LARGE_BYTES + 1])
@pytest.mark.parametrize("letters", ["x", "line of text\n", "é€😀\n"])
async def test_results_around_the_size_from_which_they_are_staged_are_capped_and_stored_alike(
    office: Office, size: int, letters: str
) -> None:
    body = (letters * (size // len(letters.encode()) + 1)).encode()[:size].decode("utf-8", "ignore")
    body += "." * (size - len(body.encode()))
    inserted = await office.insert(text("k", body))
    assert inserted.capped is True
    assert inserted.text.startswith("[#0001]\n" + body[:800])
    assert f" lines elided, full output {inserted.result}]" in inserted.text
    assert await shown(office, "#0001") == body
    again = await office.insert(text("k", body))
    assert (again.repeated, again.text) == (True, inserted.text)
    await office.restart()
    assert await shown(office, "#0001") == body
    assert (await office.insert(text("k", body))).text == inserted.text


async def test_a_search_of_the_same_call_and_text_is_a_stub_and_other_tools_never_are(office: Office) -> None:
    first = await office.insert(text("1", "x.py:1", tool="grep", args={"p": "x", "n": 1}))
    stub = await office.insert(text("2", "x.py:1", tool="grep", args={"n": 1.0, "p": "x"}))
    assert (stub.text, stub.stub_of) == ("[#0002] Same result as #0001.", first.result)
    assert await shown(office, "#0002") == "x.py:1"
    for tool, target in (("list", "#0003"), ("glob", "#0005"), ("search", "#0007")):
        assert (await office.insert(text(f"{tool} one", "same", tool=tool))).stub_of is None
        assert (await office.insert(text(f"{tool} two", "same", tool=tool))).stub_of == target
    for tool in ("bash", "Grep", "grep ", ""):
        await office.insert(text(f"{tool} one", "same", tool=tool))
        assert (await office.insert(text(f"{tool} two", "same", tool=tool))).stub_of is None


async def test_a_search_that_is_an_error_is_no_stub_and_no_target(office: Office) -> None:
    await office.insert(text("1", "no such folder", tool="grep", error=True))
    second = await office.insert(text("2", "no such folder", tool="grep"))
    assert second.text == "[#0002]\nno such folder"
    third = await office.insert(text("3", "no such folder", tool="grep", error=True))
    assert third.text == "[#0003]\nno such folder"
    assert (await office.insert(text("4", "no such folder", tool="grep"))).stub_of == "#0002"


async def test_a_large_search_twice_is_a_stub_whose_body_is_shown_in_full(office: Office) -> None:
    body = "hit\n" * (LARGE_BYTES // 4)
    await office.insert(text("1", body, tool="grep"))
    stub = await office.insert(text("2", body, tool="grep"))
    assert (stub.text, stub.capped) == ("[#0002] Same result as #0001.", False)
    assert await shown(office, "#0002") == body


# --- Reads -----------------------------------------------------------------------------------------------------------


async def test_a_read_shows_its_lines_behind_their_numbers(office: Office) -> None:
    first = await office.insert(read("1", LINES, 1, 200))
    assert first.text.startswith(f"[#0001 a.py lines 1-200 of 340 sha {sha(LINES)[:8]}]\n1: line 1\n2: line 2\n")
    assert first.text.endswith("\n200: line 200")
    inside = await office.insert(read("2", LINES, 50, 31, path="./a.py"))
    assert inside.text == (
        f"[#0002 ./a.py lines 50-80 of 340 sha {sha(LINES)[:8]}] Unchanged since #0001, which already shows lines 1-200."
    )
    assert inside.stub_of == "#0001"
    assert (await office.insert(read("3", LINES, 200, 2))).stub_of is None
    assert (await office.insert(read("4", LINES, 1, 201))).stub_of is None
    assert (await office.insert(read("5", LINES, 300, 500))).text.endswith("\n340: line 340")
    past = await office.insert(read("6", LINES, 500, 1))
    assert past.text == "[#0006] /x/a.py has 340 lines: there is no line 500."
    assert past.stub_of is None
    assert await shown(office, "#0002") == "\n".join(f"{number}: line {number}" for number in range(50, 81))
    assert await shown(office, "#0006") == "/x/a.py has 340 lines: there is no line 500."


async def test_the_same_bytes_under_another_absolute_path_and_other_bytes_under_this_one_are_read_in_full(
    office: Office,
) -> None:
    await office.insert(read("1", LINES))
    assert (await office.insert(read("2", LINES, absolute="/y/a.py"))).stub_of is None
    assert (await office.insert(read("3", LINES + "x"))).stub_of is None
    back = await office.insert(read("4", LINES))
    assert back.stub_of == "#0001"


async def test_content_whole_in_a_window_and_by_hash_answer_with_the_same_bytes(tmp_path: Path) -> None:
    lines = LINES.splitlines(keepends=True)
    for offset, limit in ((1, 2000), (1, 1), (340, 1), (100, 50), (500, 1)):
        texts: list[str] = []
        async with an_office(tmp_path / f"{offset}-{limit}", "s", "t", "u") as office:
            await office.insert(read("known", LINES, session="t"))
            for session, content in (
                ("s", Content(text=LINES)),
                ("t", window("".join(lines[offset - 1 : offset - 1 + limit]), 340, sha(LINES))),
                ("u", Content(sha256=sha(LINES))),
            ):
                absolute = f"/x/{session}"
                inserted = await office.insert(
                    read("k", content, offset, limit, session=session, absolute=absolute, path="p")
                )
                texts.append(inserted.text.partition("]")[2].replace(absolute, "") + str(inserted.stub_of))
        assert texts[1:] == texts[:1] * 2


async def test_a_hash_is_enough_where_a_stub_or_an_error_answers_and_else_content_is_needed(office: Office) -> None:
    by_hash = Content(sha256=sha(LINES))
    fault = await office.error(read("1", by_hash), "content_needed")
    assert fault.needed == [sha(LINES)]
    assert fault.retry is False
    await office.insert(read("1", window(LINES, 340, sha(LINES))))
    assert (await office.insert(read("2", by_hash, 5, 10))).stub_of == "#0001"
    past = await office.insert(read("3", by_hash, 341, 1))
    assert past.text == "[#0003] /x/a.py has 340 lines: there is no line 341."
    # A window is no whole content: a range that no read shows needs it, as does another file.
    await office.error(read("4", by_hash, absolute="/x/b"), "content_needed")


async def test_a_hash_of_content_that_another_session_or_a_change_brought_is_enough(office: Office) -> None:
    await office.insert(change("1", change_of("b", LINES, "after\n")))
    inserted = await office.insert(read("2", Content(sha256=sha(LINES)), 339))
    assert inserted.text == f"[#0002 a.py lines 339-340 of 340 sha {sha(LINES)[:8]}]\n339: line 339\n340: line 340"
    assert (await office.insert(read("3", Content(sha256=sha("after\n"))))).text.endswith("]\n1: after")


@pytest.mark.parametrize("sent", ["text", "bytes", "hash", "window"])
async def test_an_empty_file_and_one_of_a_byte_order_mark_alone_need_no_content(office: Office, sent: str) -> None:
    for number, data in ((1, b""), (2, b"\xef\xbb\xbf")):
        content = {
            "text": Content(text=data.decode()),
            "bytes": Content(data=data),
            "hash": Content(sha256=sha(data)),
            "window": window(data.decode(), 0, sha(data)),
        }[sent]
        for again in (0, 1):
            inserted = await office.insert(read(f"{number}{again}", content, 7, 3))
            assert inserted.text == f"[#{number * 2 - 1 + again:04x} a.py empty sha {sha(data)[:8]}]"
            assert inserted.stub_of is None
            assert (await office.ask(Show(id=1, session="s", result=inserted.result), Shown)).lines == 0


@pytest.mark.parametrize(
    "text_, lines, offset, limit",
    [
        ("one\n", 3, 1, 2),
        ("one\ntwo\nthree\n", 3, 1, 2),
        ("one", 3, 1, 1),
        ("one\ntwo", 3, 1, 2),
        ("", 3, 1, 1),
        ("x", 3, 4, 1),
        ("x", 0, 1, 1),
        ("\ufeff", 1, 1, 1),
        ("\ufeff", 3, 2, 1),
    ],
)
async def test_a_window_that_has_not_exactly_the_lines_of_its_range_is_a_bad_message(
    office: Office, text_: str, lines: int, offset: int, limit: int
) -> None:
    fault = await office.error(read("k", window(text_, lines, "1" * 64), offset, limit), "bad_message")
    assert "window" in fault.message
    assert await office.head() == 1


@pytest.mark.parametrize(
    "text_, lines, offset, limit, shown_",
    [
        ("\ufeffone\r\ntwo\r\n", 3, 1, 2, "1: one\n2: two"),
        ("three", 3, 3, 2000, "3: three"),
        ("three\n", 3, 3, 1, "3: three"),
        ("\ufeff\n", 1, 1, 1, "1: "),
        ("\n\n", 4, 2, 2, "2: \n3: "),
        ("\ufefftwo\n", 3, 2, 1, "2: \ufefftwo"),
        ("a\rb\x0c\u2028c\n", 9, 4, 1, "4: a\rb\x0c\u2028c"),
    ],
)
async def test_a_window_is_shown_as_the_whole_file_would_be(
    office: Office, text_: str, lines: int, offset: int, limit: int, shown_: str
) -> None:
    inserted = await office.insert(read("k", window(text_, lines, "1" * 64), offset, limit))
    assert inserted.text.partition("]\n")[2] == shown_
    assert await shown(office, "#0001") == shown_


@pytest.mark.parametrize("size", [LARGE_BYTES - 1, LARGE_BYTES, LARGE_BYTES + 1])
@pytest.mark.parametrize("ending", [b"\n", b"\r\n", b""])
async def test_files_around_the_size_from_which_they_are_staged_are_read_alike(
    office: Office, size: int, ending: bytes
) -> None:
    line = b"0123456789" * 20 + (ending or b"\n")
    data = (line * (size // len(line) + 1))[: size - len(ending)] + ending
    lines = data.count(b"\n") + (not data.endswith(b"\n"))
    assert len(data) == size
    first = await office.insert(read("1", data, lines - 1))
    last = data.split(b"\n")[lines - 1].removesuffix(b"\r").decode()
    assert first.text.startswith(
        f"[#0001 a.py lines {lines - 1}-{lines} of {lines} sha {sha(data)[:8]}]\n{lines - 1}: "
    )
    assert first.text.endswith(f"\n{lines}: {last}")
    by_hash = await office.insert(read("2", Content(sha256=sha(data)), 1, 1))
    assert by_hash.text.endswith("]\n1: " + "0123456789" * 20)
    windowed = await office.insert(read("3", window(data.decode(), lines, sha(data)), 1, 2000, absolute="/w"))
    assert await shown(office, windowed.result) == windowed.text.partition("]\n")[2]
    await office.restart()
    assert await shown(office, "#0001") == first.text.partition("]\n")[2]
    assert await shown(office, windowed.result) == windowed.text.partition("]\n")[2]


async def test_bytes_that_are_no_utf8_are_hashed_as_they_are_and_shown_with_replacements(office: Office) -> None:
    data = b"a\xff\xfeb\n\xe2\x82\n\xf0\x9f\x98\x80"
    inserted = await office.insert(read("k", data))
    assert inserted.text == f"[#0001 a.py lines 1-3 of 3 sha {sha(data)[:8]}]\n1: a\ufffd\ufffdb\n2: \ufffd\n3: 😀"
    assert (await office.insert(read("k2", Content(sha256=sha(data)), 2, 1))).stub_of == "#0001"


async def test_a_hash_that_does_not_match_its_content_is_refused_and_nothing_is_kept(office: Office) -> None:
    wrong = Content(text="\ufeffx", sha256=sha("x"))
    fault = await office.error(read("k", wrong), "hash_mismatch")
    assert sha("\ufeffx") in fault.message
    await office.error(read("k", Content(sha256=sha("\ufeffx"))), "content_needed")
    assert (await office.insert(read("k", Content(text="\ufeffx", sha256=sha("\ufeffx"))))).text.endswith("]\n1: x")


async def test_content_that_only_a_deleted_session_held_is_needed_again(tmp_path: Path) -> None:
    async with an_office(tmp_path, "s", "keeper") as office:
        for data in (LINES, "x\n" * LARGE_BYTES):
            await office.insert(read(f"1{len(data)}", data))
        await office.insert(read("kept", "kept\n", session="keeper"))
        await office.insert(read("also", "kept\n"))
        await office.ask(Delete(id=1, session="s"), Done)
        for data in (LINES, "x\n" * LARGE_BYTES):
            await office.error(read("k", Content(sha256=sha(data)), session="keeper"), "content_needed")
        assert (await office.insert(read("k", Content(sha256=sha("kept\n")), absolute="/z", session="keeper"))).text[
            -7:
        ] == "1: kept"
        again = await office.insert(read("k2", LINES, session="keeper"))
        assert again.result == "#0003"


async def test_content_of_another_device_is_not_known(office: Office) -> None:
    await office.insert(read("1", LINES))
    office.device = await office.another_device()
    await office.ask(opening("s"), object)
    await office.error(read("1", Content(sha256=sha(LINES))), "content_needed")


# --- Changes ---------------------------------------------------------------------------------------------------------


async def test_an_edit_answers_with_its_diff_a_creation_with_a_sentence_a_deletion_with_its_bracket(
    office: Office,
) -> None:
    edited = await office.insert(change("1", change_of("a.py", "one\ntwo\n", "one\n2\n")))
    assert edited.text == f"[#0001 a.py sha {sha(chr(10).join(['one', '2', '']))[:8]}]\n@@ -1,2 +1,2 @@\n one\n-two\n+2"
    created = await office.insert(change("2", change_of("b.md", None, "x\ny")))
    assert created.text == f"[#0002 b.md sha {sha('x' + chr(10) + 'y')[:8]}] Created, 2 lines."
    deleted = await office.insert(change("3", change_of("old.md", "x\n", None)))
    assert deleted.text == "[#0003 old.md deleted]"
    nothing = await office.insert(change("4", change_of("same", "x", "x")))
    assert nothing.text == f"[#0004 same sha {sha('x')[:8]}]"
    bodies = [await shown(office, f"#{number:04x}") for number in (1, 2)]
    assert bodies == ["@@ -1,2 +1,2 @@\n one\n-two\n+2", "Created, 2 lines."]
    for number in (3, 4):
        assert (await office.ask(Show(id=1, session="s", result=f"#{number:04x}"), Shown)).lines == 0


async def test_a_patch_over_several_files_answers_with_each_files_bracket_and_a_note_at_the_end(
    office: Office,
) -> None:
    inserted = await office.insert(
        change(
            "k",
            change_of("a", "1\n", "2\n"),
            change_of("new", None, ""),
            change_of("old", "x", None),
            note="mind\nthis",
        )
    )
    wanted = (
        f"[a sha {sha('2' + chr(10))[:8]}]\n@@ -1 +1 @@\n-1\n+2\n[new sha {sha('')[:8]}] Created, 0 lines.\n"
        "[old deleted]\nmind\nthis"
    )
    assert inserted.text == f"[#0001]\n{wanted}"
    assert await shown(office, "#0001") == wanted


async def test_a_move_sends_its_content_once_and_its_hash_the_second_time(office: Office) -> None:
    for number, data in enumerate((LINES, "moved\n" * LARGE_BYTES), 1):
        by_hash = Content(sha256=sha(data))
        moved = await office.insert(
            change(f"k{number}", change_of(f"old{number}", data, None), change_of(f"new{number}", None, by_hash))
        )
        lines = data.count("\n")
        assert moved.text == (
            f"[#{number:04x}]\n[old{number} deleted]\n[new{number} sha {sha(data)[:8]}] Created, {lines} lines."
        )
    both = await office.insert(
        change("3", change_of("x", None, Content(sha256=sha("tail\n"))), change_of("y", "tail\n", None))
    )
    assert both.text.endswith("[y deleted]")
    for data in (LINES, "tail\n"):
        assert (await office.insert(read(sha(data), Content(sha256=sha(data)), 1, 1))).stub_of is None


async def test_every_hash_that_a_change_needs_is_listed_once(office: Office) -> None:
    one, two, three = (Content(sha256=digit * 64) for digit in "123")
    await office.insert(read("known", LINES))
    request = change(
        "k", change_of("a", one, two), change_of("b", two, Content(sha256=sha(LINES))), change_of("c", None, three)
    )
    assert (await office.error(request, "content_needed")).needed == ["1" * 64, "2" * 64, "3" * 64]


async def test_a_large_change_is_staged_capped_and_shown_in_full_and_applies(office: Office) -> None:
    before = "".join(f"{number} before\n" for number in range(30_000))
    after = "".join(f"{number} after\n" for number in range(30_000))
    inserted = await office.insert(change("k", change_of("a", before, after), note="a note"))
    assert inserted.capped is True
    assert inserted.text.endswith("\na note")
    body = await shown(office, "#0001")
    assert len(body.encode()) > LARGE_BYTES
    hunks, _, note = body.rpartition("\n")
    assert note == "a note"
    patch.check(before.encode(), after.encode(), hunks)
    await office.restart()
    assert (await office.insert(change("k", change_of("a", before, after), note="a note"))).text == inserted.text


async def test_a_change_is_no_read_and_no_stubs_target(office: Office) -> None:
    await office.insert(change("1", change_of("a.py", "old\n", LINES)))
    inserted = await office.ask(read("2", LINES, absolute="/x/a.py"), Inserted)
    assert inserted.stub_of is None
