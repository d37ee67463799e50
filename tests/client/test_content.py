"""A file's content as the link carries it."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from waybread_client.content import hash_of, whole, window_of
from waybread_protocol.messages import Window

EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


async def window(content: bytes, offset: int, limit: int) -> Window:
    carried = (await window_of(content, EMPTY, offset, limit)).window
    assert isinstance(carried, Window)
    return carried


async def test_the_hash_is_the_same_on_the_loop_and_on_a_thread() -> None:
    assert await hash_of(b"") == EMPTY
    large = b"x" * 300_000
    assert await hash_of(large) == hashlib.sha256(large).hexdigest()


def test_utf_8_goes_as_text_with_its_bom_and_anything_else_as_bytes() -> None:
    content = whole(b"\xef\xbb\xbfa\r\n", EMPTY)
    assert content.text == "\ufeffa\r\n"
    assert content.data is UNSET
    assert content.sha256 == EMPTY
    other = whole(b"a\xff", EMPTY)
    assert other.data == b"a\xff"
    assert other.text is UNSET


@pytest.mark.parametrize(
    "content, offset, limit, text, lines",
    [
        (b"a\nb\nc\n", 2, 1, "b\n", 3),
        (b"a\nb\nc\n", 3, 9, "c\n", 3),
        (b"a\nb\nc", 3, 9, "c", 3),
        (b"a\nb\nc\n", 4, 9, "", 3),
        (b"a\nb\nc\n", 500, 9, "", 3),
        (b"a\nb\nc\n", 0, 1, "a\n", 3),
        (b"a\nb\nc\n", -7, 2, "a\nb\n", 3),
        (b"a\nb\nc\n", 1, 0, "a\nb\nc\n", 3),
        (b"a\nb\nc\n", 1, -5, "a\nb\nc\n", 3),
        (b"\xef\xbb\xbfa\r\nb", 1, 1, "\ufeffa\r\n", 2),
        (b"\xef\xbb\xbf", 1, 1, "\ufeff", 0),
        (b"", 1, 1, "", 0),
        (b"\n", 1, 1, "\n", 1),
        (b"a\rb\x0cc\xe2\x80\xa8d\n", 1, 1, "a\rb\x0cc\u2028d\n", 1),
        (b"a\xe2\x82\nb", 1, 1, "a\ufffd\n", 2),
    ],
)
async def test_a_window_is_the_lines_asked_for_exactly(
    content: bytes, offset: int, limit: int, text: str, lines: int
) -> None:
    carried = await window(content, offset, limit)
    assert (carried.text, carried.lines, carried.sha256) == (text, lines, EMPTY)


async def test_a_window_has_at_most_two_thousand_lines() -> None:
    content = b"x\n" * 5000
    assert (await window(content, 1, 100_000)).text == "x\n" * 2000
    assert (await window(content, 3500, 100_000)).text == "x\n" * 1501
    assert (await window(content, 1, 1)).lines == 5000


@given(st.binary(max_size=60), st.integers(1, 8))
async def test_windows_side_by_side_join_to_the_whole(content: bytes, limit: int) -> None:
    pieces = [await window(content, offset, limit) for offset in range(1, 70, limit)]
    assert "".join(piece.text for piece in pieces) == content.decode(errors="replace")
