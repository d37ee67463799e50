"""Large content, written ahead in pieces: compressed in a thread of its own, each piece a transaction of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

import apsw

from waybread_daemon.store.contract import Staged
from waybread_daemon.store.sqlite.checksums import checksum
from waybread_daemon.store.sqlite.chunks import Count, Marks, cut
from waybread_daemon.store.sqlite.packing import Packer
from waybread_daemon.store.sqlite.purge import CHUNK_BITS
from waybread_daemon.store.sqlite.statements import ForRows, Values, run

Submit = Callable[[Callable[[apsw.Cursor], None]], asyncio.Future[None]]

PIECE_CHUNKS = 16
"""2 MiB of content: other records wait for one such piece at most."""

_CHUNK = ForRows("INSERT INTO chunk (id, data, checksum) VALUES {rows}", 3)
_BEGIN = (
    "INSERT INTO content (id, device, sha256, state, size_bytes, lines, chars, marks, data) "
    "VALUES (?, ?, ?, 0, 0, 0, 0, x'', NULL)"
)
_FINISH = (
    "UPDATE content SET size_bytes = ?, lines = ?, chars = ?, marks = ?, stored_bytes = ?, checksum = ? WHERE id = ?"
)


class Stager:
    """Stages contents. Called in the event loop. `submit` hands a transaction to the writing thread."""

    def __init__(self, submit: Submit, contents: Iterator[int], drop: Callable[[int], None]) -> None:
        self.raw_bytes = 0
        """What was written ahead since the start."""
        self.stored_bytes = 0
        """The same, compressed."""
        self._submit = submit
        self._contents = contents
        self._drop = drop
        self._threads = ThreadPoolExecutor(2, "store-staging")
        self._local = threading.local()

    async def stage(
        self, device: int, sha256: bytes | None, data: bytes, allow: Callable[[int], None] | None = None
    ) -> Staged:
        """Writes the content; while one piece is being written the next one is compressed. Raises `StoreFault`.

        `allow` is told the size of each piece before that is written, and may raise. What was written is dropped again
        where it fails or is cancelled.
        """
        loop = asyncio.get_running_loop()
        number = next(self._contents)
        count, marks = Count(), Marks()
        cuts = enumerate(cut(data))
        stored_bytes = 0
        writing = self._submit(lambda cursor: _once(cursor, _BEGIN, number, device, sha256))
        try:
            while True:
                rows = await loop.run_in_executor(self._threads, self._compress, number, data, cuts, count, marks)
                await writing
                if not rows:
                    break
                piece_bytes = sum(len(chunk) for chunk in rows[1::3])
                if allow is not None:
                    allow(piece_bytes)
                stored_bytes += piece_bytes
                writing = self._submit(_writing(rows))
            count.finish()
            sums = (count.size_bytes, count.lines, count.chars, marks.stored())
            finish = (*sums, stored_bytes, checksum(number, device, sha256, *sums, None), number)
            await self._submit(lambda cursor: _once(cursor, _FINISH, *finish))
            self.raw_bytes += count.size_bytes
            self.stored_bytes += stored_bytes
        except BaseException:
            writing.cancel()
            self._drop(number)
            raise
        return Staged(number)

    def close(self) -> None:
        """Ends the threads."""
        self._threads.shutdown()

    def _compress(
        self, number: int, data: bytes, cuts: Iterator[tuple[int, tuple[int, int]]], count: Count, marks: Marks
    ) -> Values:
        """Rows for the next piece, none at the end. It works on slices: decoding all of it at once would hold the
        interpreter's lock for a tenth of a second.
        """
        packer: Packer | None = getattr(self._local, "packer", None)
        if packer is None:
            packer = self._local.packer = Packer()
        rows: Values = []
        for place, (start, end) in islice(cuts, PIECE_CHUNKS):
            chunk = data[start:end]
            marks.add(count)
            count.add(chunk)
            row = (number << CHUNK_BITS | place, packer.pack(chunk))
            rows += (*row, checksum(*row))
        return rows


def _once(cursor: apsw.Cursor, sql: str, *values: int | bytes | None) -> None:
    run(cursor, sql, *values)


def _writing(rows: Values) -> Callable[[apsw.Cursor], None]:
    def write(cursor: apsw.Cursor) -> None:
        _CHUNK.run(cursor, rows)

    return write
