"""Bodies put together from where they are kept: whole, in lines, in pieces."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.daemon.office import Office, an_office, change, change_of, read, recall, text, window
from waybread_daemon.sessions import bodies
from waybread_daemon.sessions.bodies import cut_text
from waybread_daemon.store.contract import Reader
from waybread_protocol.messages import Content, Done, Inserted, Message, Recall, Result, Show, Shown

SMALL = "é one\r\ntwo\n\n€ four\n😀"
LARGE = "".join(f"{number} é€😀 {'z' * (number % 300)}\n" for number in range(3000))
GIANT = "x" * 150_000 + "é" * 200_000 + "\nshort\n" + "y" * 300_000


def sha(content: str) -> str:
    return hashlib.sha256(content.encode()).hexdigest()


def numbered(content: str, first: int, last: int) -> str:
    lines = content.replace("\r\n", "\n").split("\n")
    return "\n".join(f"{number}: {lines[number - 1]}" for number in range(first, last + 1))


# Every kind of body, and what it is as a whole. Results are numbered from 1 in this order.
EVERY_BODY: list[tuple[Result | Recall, str]] = [
    (text("1", SMALL), SMALL),
    (text("2", ""), ""),
    (text("3", LARGE), LARGE),
    (text("4", GIANT), GIANT),
    (text("5", "hit\n", tool="grep"), "hit\n"),
    (text("6", "hit\n", tool="grep"), "hit\n"),
    (text("7", LARGE, tool="grep"), LARGE),
    (text("8", LARGE, tool="grep"), LARGE),
    (read("9", SMALL, absolute="/small"), numbered(SMALL, 1, 5)),
    (read("a", SMALL, 2, 3, absolute="/small"), numbered(SMALL, 2, 4)),
    (read("b", LARGE, 500, 2000, absolute="/large"), numbered(LARGE, 500, 2499)),
    (read("c", Content(sha256=sha(LARGE)), 600, 1800, absolute="/large"), numbered(LARGE, 600, 2399)),
    (read("d", GIANT, absolute="/giant"), numbered(GIANT, 1, 3)),
    (read("e", window("two\n\n", 5, sha(SMALL)), 2, 2, absolute="/window"), "2: two\n3: "),
    (read("f", Content(sha256=sha(SMALL)), 3, 1, absolute="/window"), "3: "),
    (read("11", "", absolute="/empty"), ""),
    (read("12", SMALL, 9, absolute="/small"), "/small has 5 lines: there is no line 9."),
    (change("13", change_of("a", SMALL, None)), ""),
    (change("14", change_of("b", None, SMALL), note="note\n"), "Created, 5 lines.\nnote\n"),
    (change("15", change_of("c", "a\n", "b\n")), "@@ -1 +1 @@\n-a\n+b"),
    (recall("16", "1", 2, 2), "two\n"),
    (recall("17", "3", 100, 2000), "".join(LARGE.splitlines(keepends=True)[99:2099])[:-1]),
    (recall("18", "b", 10, 1500), numbered(LARGE, 509, 2008)),
    (recall("19", "18", 5, 3), numbered(LARGE, 513, 515)),
    (recall("1a", "6"), "hit"),
    (recall("1b", "4", 1, 1), GIANT.split("\n", maxsplit=1)[0]),
    (recall("1c", "ffff"), "No stored result #ffff in this session."),
    # The body of that recall is one line and its ending.
    (recall("1d", "16"), "two"),
    (recall("1e", "e", 2, 1), "3: "),
]


async def filled(office: Office) -> list[tuple[Inserted, str]]:
    """Every kind of body, inserted. Ids in recalls are looked up by key, because a key names the kind."""
    inserted: dict[str, tuple[Inserted, str]] = {}
    for request, body in EVERY_BODY:
        if isinstance(request, Recall) and request.result in inserted:
            named = inserted[request.result][0].result
            request = recall(request.key, named, request.offset, request.limit)  # noqa: PLW2901
        inserted[request.key] = (await office.insert(request), body)
    return list(inserted.values())


async def pieces(office: Office, result: str, limit: int) -> str:
    """A body joined from the pieces that `show` gives."""
    joined, offset, lines = "", 1, 1
    while offset <= lines:
        from_char: int | None = 0
        last = 0
        while from_char is not None:
            piece = await office.ask(
                Show(id=1, session="s", result=result, offset=offset, limit=limit, from_char=from_char), Shown
            )
            assert len(piece.text.encode()) <= max(office.asker.page_bytes, 4)
            assert piece.next_char is None or piece.next_char == from_char + len(piece.text)
            joined, from_char, last, lines = joined + piece.text, piece.next_char, piece.last, piece.lines
        if not lines:
            return joined
        assert last == min(offset + limit - 1, lines)
        offset = last + 1
    return joined


@pytest.mark.parametrize("page_bytes, limit", [(256 * 1024, 2000), (50_000, 700), (257, 2000)])
async def test_the_pieces_of_every_kind_of_body_join_to_the_whole(tmp_path: Path, page_bytes: int, limit: int) -> None:
    async with an_office(tmp_path, "s") as office:
        inserted = await filled(office)
        await office.restart()
        office.asker.page_bytes = page_bytes
        for answer, body in inserted:
            if page_bytes < 1000 and len(body) > 1000:
                continue
            assert await pieces(office, answer.result, limit) == body, answer.result


async def test_the_text_that_went_out_is_put_together_again_for_every_kind(office: Office) -> None:
    inserted = await filled(office)
    await office.restart()

    def read_all(reader: Reader) -> list[tuple[str, str, int]]:
        session = reader.session(office.device.number, "s")
        assert session is not None
        found: list[tuple[str, str, int]] = []
        for number in range(1, len(inserted) + 1):
            row = reader.result(session.number, number)
            assert row is not None
            body = bodies.body_of(reader, row)
            found.append(
                (
                    bodies.text_of(reader, row).decode(),
                    bodies.whole(reader, body).decode(),
                    bodies.line_count(reader, body),
                )
            )
        return found

    for (answer, body), (text_, whole, lines) in zip(inserted, await office.store.look(read_all), strict=True):
        assert text_ == answer.text
        assert whole == body
        assert lines == body.count("\n") + (not body.endswith("\n") and body != "")


async def test_one_line_of_any_body_is_shown_exactly(office: Office) -> None:
    for answer, body in await filled(office):
        lines = body.split("\n")
        for offset in {1, 2, len(lines) - 1, len(lines)}:
            if not 1 <= offset <= body.count("\n") + (not body.endswith("\n") and body != ""):
                continue
            shown = await office.ask(
                Show(id=1, session="s", result=answer.result, offset=offset, limit=1, from_char=3), Shown
            )
            exact = lines[offset - 1] + ("\n" if offset < len(lines) else "")
            assert exact[3:].startswith(shown.text)
            assert (shown.first, shown.last) == (offset, offset)
            assert shown.next_char is not None or shown.text == exact[3:]


async def test_a_root_that_is_not_in_the_store_is_a_fault_and_no_empty_body(office: Office) -> None:
    await office.insert(text("1", "hit", tool="grep"))
    await office.insert(text("2", "hit", tool="grep"))

    def broken(reader: Reader) -> None:
        session = reader.session(office.device.number, "s")
        assert session is not None
        row = reader.result(session.number, 2)
        assert row is not None
        assert row.root == 1

        class Without:
            def result(self, *_: int) -> None:
                return None

        bodies.body_of(Without(), row)  # type: ignore[arg-type]

    with pytest.raises(LookupError, match="result 1 of session"):
        await office.store.look(broken)


async def test_a_message_of_the_transcript_is_its_own_text(office: Office) -> None:
    for key, text_ in (("a", ""), ("b", "hello\n"), ("c", LARGE)):
        await office.ask(Message(id=1, session="s", key=key, role="user", text=text_), Done)
    office.asker.page_bytes = 10**6
    page = await office.page()
    assert [entry.text_chars for entry in page.entries] == [0, 0, 6, len(LARGE)]
    assert page.entries[2].text == "hello\n"


@given(st.text(), st.integers(0, 8), st.integers(0, 40))
def test_a_cut_text_is_a_piece_of_whole_characters_that_fits(text_: str, from_char: int, max_bytes: int) -> None:
    piece, more = cut_text(text_.encode(), from_char, max_bytes)
    rest = text_[from_char:]
    assert rest.startswith(piece.decode())
    assert len(piece) <= max(max_bytes, 4)
    assert more == (piece.decode() != rest)
    if more:
        assert len(piece) + 4 > max(max_bytes, 4)


def test_at_least_one_character_fits_however_small_the_piece() -> None:
    assert cut_text("😀x".encode(), 0, 0) == ("😀".encode(), True)
    assert cut_text(b"abc", 0, 0) == (b"abc", False)
    assert cut_text(b"", 5, 0) == (b"", False)
