"""Cutting, counting and windows, against the plain way over the whole content."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from waybread_daemon.store.sqlite import chunks
from waybread_daemon.store.sqlite.chunks import CHUNK_BYTES, Count, Marks, Text, cut, nth_line_end

TEXTS = st.text(alphabet="ab\n\r☃😀é", max_size=300)
ANY = st.one_of(st.binary(max_size=200), TEXTS.map(str.encode))


def text_of(data: bytes, chunk_bytes: int) -> tuple[Text, list[bytes], Count]:
    """Content in small chunks, so that windows go over their edges."""
    before = chunks.CHUNK_BYTES
    chunks.CHUNK_BYTES = chunk_bytes
    try:
        pieces = [data[start:end] for start, end in cut(data)]
    finally:
        chunks.CHUNK_BYTES = before
    count, marks = Count(), Marks()
    for piece in pieces:
        marks.add(count)
        count.add(piece)
    count.finish()
    return Text(len(data), Marks(marks.stored()), pieces.__getitem__), pieces, count


@given(ANY, st.integers(4, 40))
def test_chunks_join_to_the_content(data: bytes, chunk_bytes: int) -> None:
    _, pieces, _ = text_of(data, chunk_bytes)
    assert b"".join(pieces) == data
    assert all(0 < len(piece) <= chunk_bytes for piece in pieces) or data == b""


@given(TEXTS, st.integers(4, 40))
def test_a_chunk_of_text_ends_between_characters(text: str, chunk_bytes: int) -> None:
    _, pieces, _ = text_of(text.encode(), chunk_bytes)
    assert "".join(piece.decode() for piece in pieces) == text


def test_a_chunk_has_128_kib_and_empty_content_has_one_chunk() -> None:
    assert list(cut(b"")) == [(0, 0)]
    assert list(cut(b"x" * CHUNK_BYTES)) == [(0, 131_072)]
    assert list(cut(b"x" * (CHUNK_BYTES + 1))) == [(0, 131_072), (131_072, 131_073)]


@given(ANY, st.lists(st.integers(0, 200), max_size=8))
def test_counts_are_the_same_however_the_content_comes_in_pieces(data: bytes, cuts: list[int]) -> None:
    count = Count()
    edges = [0, *sorted(min(at, len(data)) for at in cuts), len(data)]
    for start, end in pairwise(edges):
        count.add(data[start:end])
    count.finish()
    assert count.size_bytes == len(data)
    assert count.chars == len(data.decode("utf-8", "replace"))
    assert count.lines == len(data.split(b"\n")) - (data.endswith(b"\n") or data == b"")


@given(ANY, st.integers(4, 40), st.integers(1, 60), st.integers(0, 20))
def test_lines_are_those_of_the_whole_content(data: bytes, chunk_bytes: int, first: int, more: int) -> None:
    text, _, _ = text_of(data, chunk_bytes)
    whole = [line + b"\n" for line in data.split(b"\n")]
    whole[-1] = whole[-1][:-1]
    assert text.lines(first, first + more) == b"".join(whole[first - 1 : first + more])


@given(TEXTS, st.integers(4, 40), st.integers(1, 40), st.integers(0, 9), st.integers(0, 200), st.integers(4, 50))
def test_a_piece_is_the_characters_that_fit(
    content: str, chunk_bytes: int, first: int, more: int, from_char: int, max_bytes: int
) -> None:
    text, _, _ = text_of(content.encode(), chunk_bytes)
    wanted = text.lines(first, first + more).decode()[from_char:]
    piece, follows = text.piece(first, first + more, from_char, max_bytes)
    assert wanted.startswith(piece.decode())
    assert len(piece) <= max_bytes
    assert follows == (len(piece) < len(wanted.encode()))
    if follows:
        assert len((piece.decode() + wanted[len(piece.decode())]).encode()) > max_bytes


def test_a_window_fetches_only_the_chunks_that_it_lies_in() -> None:
    data = b"".join(b"%06d\n" % n for n in range(100_000))
    count, marks = Count(), Marks()
    pieces: list[bytes] = []
    for start, end in cut(data):
        marks.add(count)
        count.add(data[start:end])
        pieces.append(data[start:end])
    fetched: list[int] = []

    def fetch(number: int) -> bytes:
        fetched.append(number)
        return pieces[number]

    assert Text(len(data), marks, fetch).lines(50_000, 50_001) == b"049999\n050000\n"
    assert fetched == [2]
    fetched.clear()
    assert Text(len(data), marks, fetch).piece(1, 100_000, 689_997, 7) == (b"098571\n", True)
    assert fetched == [5]


@pytest.mark.parametrize("count", [1, 2, 255, 256, 257, 9_999, 10_000])
def test_the_nth_line_end_is_found(count: int) -> None:
    data = b"".join(b"x" * (n % 7) + b"\n" for n in range(10_000))
    ends = [at for at, byte in enumerate(data) if byte == 10]
    assert nth_line_end(data, count) == ends[count - 1]


def test_a_line_end_that_is_not_there_is_minus_one() -> None:
    assert nth_line_end(b"", 1) == -1
    assert nth_line_end(b"a\nb", 2) == -1
    assert nth_line_end(b"a\n" * 1000, 1001) == -1
