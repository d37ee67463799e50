"""Large content in chunks: where it is cut, what is counted, and how a window is cut out of it.

Each chunk has a mark: the bytes, line ends and characters before it. So a window costs the same wherever it lies: the
chunk in which it begins is found without reading any other.
"""

from __future__ import annotations

import codecs
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from itertools import pairwise

CHUNK_BYTES = 128 * 1024
_NEAR_BYTES = 256


def cut(data: bytes) -> Iterator[tuple[int, int]]:
    """Start and end of each chunk. A chunk ends between characters, where `data` is UTF-8; empty data has one."""
    start = 0
    while start + CHUNK_BYTES < len(data):
        end = start + CHUNK_BYTES
        # A character has at most three bytes behind its first one.
        end -= next((back for back in range(4) if not _continues(data[end - back])), 0)
        yield start, end
        start = end
    yield start, len(data)


def _continues(byte: int) -> bool:
    """Whether a byte stands inside a character."""
    return byte & 0xC0 == 0x80


class Count:
    """Bytes, lines and characters of content that comes in pieces, wherever they are cut.

    Bytes that are no UTF-8 count as they are shown: each maximal subpart of a bad sequence is one character.
    """

    def __init__(self) -> None:
        self.size_bytes = 0
        self.line_ends = 0
        self.chars = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._ended = True

    def add(self, piece: bytes) -> None:
        """Counts the next piece."""
        if piece:
            self.size_bytes += len(piece)
            self.line_ends += piece.count(b"\n")
            self._ended = piece.endswith(b"\n")
            self.chars += len(self._decoder.decode(piece))

    def finish(self) -> None:
        """Counts what an unfinished last character is shown as."""
        self.chars += len(self._decoder.decode(b"", final=True))

    @property
    def lines(self) -> int:
        r"""A last line counts without its `\n`, too; empty content has none."""
        return self.line_ends + (not self._ended)


class Marks:
    """What lies before each chunk."""

    def __init__(self, stored: bytes = b"") -> None:
        numbers = array("Q", stored)
        self.starts = numbers[0::3]
        self.line_ends = numbers[1::3]
        self.chars = numbers[2::3]

    def add(self, before: Count) -> None:
        """Notes where the next chunk begins."""
        self.starts.append(before.size_bytes)
        self.line_ends.append(before.line_ends)
        self.chars.append(before.chars)

    def stored(self) -> bytes:
        """All of it as bytes."""
        numbers = array("Q", bytes(8 * 3 * len(self.starts)))
        numbers[0::3], numbers[1::3], numbers[2::3] = self.starts, self.line_ends, self.chars
        return numbers.tobytes()


class Text:
    """Content as windows are cut out of it. Positions are bytes from its start.

    `fetch` gives the chunk of a number, counted from 0. Each chunk is fetched once while windows go forward.
    """

    def __init__(self, size_bytes: int, marks: Marks, fetch: Callable[[int], bytes]) -> None:
        self._size_bytes = size_bytes
        self._marks = marks
        self._fetch = fetch
        self._number = -1
        self._chunk = b""

    def lines(self, first: int, last: int) -> bytes:
        """Lines `first` to `last`, endings included; what is past the end is not there."""
        return self.between(self._line_start(first), self._line_start(last + 1))

    def piece(self, first: int, last: int, from_char: int, max_bytes: int) -> tuple[bytes, bool]:
        """Of those lines, from a character on, the whole characters that fit; and whether more follow."""
        start, end = self._line_start(first), self._line_start(last + 1)
        if from_char > 0:
            start = min(self._char_start(self._chars_before(start) + from_char), end)
        data = self.between(start, min(end, start + max_bytes + 1))
        if len(data) <= max_bytes:
            return data, False
        stop = max_bytes
        while stop > 0 and _continues(data[stop]):
            stop -= 1
        return data[:stop], True

    def _line_start(self, line: int) -> int:
        """Where a line begins; the end of the content for a line that is not there."""
        ends = line - 1
        if ends <= 0:
            return 0
        number = bisect_left(self._marks.line_ends, ends) - 1
        at = nth_line_end(self._get(number), ends - self._marks.line_ends[number])
        return self._size_bytes if at < 0 else self._marks.starts[number] + at + 1

    def _chars_before(self, position: int) -> int:
        number = bisect_right(self._marks.starts, position) - 1
        before = position - self._marks.starts[number]
        if before:
            return self._marks.chars[number] + len(self._get(number)[:before].decode("utf-8", "replace"))
        return self._marks.chars[number]

    def _char_start(self, char: int) -> int:
        """Where a character begins; the end of the content for one that is not there."""
        number = bisect_right(self._marks.chars, char) - 1
        chunk, before = self._get(number), char - self._marks.chars[number]
        if not chunk.isascii():
            before = len(chunk.decode()[:before].encode())
        return self._marks.starts[number] + min(before, len(chunk))

    def between(self, start: int, end: int) -> bytes:
        """Bytes `start` to `end`, both within the content."""
        if start >= end:
            return b""
        number = bisect_right(self._marks.starts, start) - 1
        pieces: list[bytes] = []
        for at, following in pairwise((*self._marks.starts[number:], self._size_bytes)):
            if at >= end:
                break
            chunk = self._get(number)
            inner = max(start - at, 0)
            pieces.append(chunk if inner == 0 and following <= end else chunk[inner : end - at])
            number += 1
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def _get(self, number: int) -> bytes:
        if number != self._number:
            self._number, self._chunk = number, self._fetch(number)
        return self._chunk


def nth_line_end(data: bytes, count: int) -> int:
    r"""Position of the `count`th `\n`, counted from 1; -1 where there are fewer.

    It halves what is searched, because counting is a hundred times faster than finding one after another.
    """
    low, high = 0, len(data)
    while high - low > _NEAR_BYTES:
        middle = (low + high) // 2
        before = data.count(b"\n", low, middle)
        if before >= count:
            high = middle
        else:
            count -= before
            low = middle
    at = low - 1
    for _ in range(count):
        at = data.find(b"\n", at + 1, high)
        if at < 0:
            return -1
    return at
