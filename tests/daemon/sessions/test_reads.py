"""Reads as they are inserted: however the content came, the answer is the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.daemon.office import Office, an_office, change, change_of, read, window
from tests.daemon.sessions.stored import LINES, sha, shown
from waybread_daemon.store.contract import LARGE_BYTES
from waybread_protocol.messages import Content, Show, Shown


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
