"""The bare limit: what a durable insert costs without any of the daemon's own work.

A websocket server that puts each raw message into one row and sends it back once it is on the disk: one writer thread,
group commit without a waiting window, `synchronous=FULL`. Nothing is decoded, compressed, indexed or folded.

`python -m tests.bench.programs.bare FILE` prints the port that it listens on.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import sys
import threading
from collections.abc import Callable
from typing import Any

import apsw
import uvloop
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

_MOST_RECORDS = 1000
_MOST_ROWS = 256

Waiting = tuple[bytes, Callable[[bytes], None]]


class Writer:
    """The one thread that writes: whatever waits goes into one transaction."""

    def __init__(self, path: str, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._queue: queue.SimpleQueue[Waiting] = queue.SimpleQueue()
        self.put = self._queue.put
        connection = apsw.Connection(path)
        self._cursor: Any = connection.cursor()
        for sql in (
            "PRAGMA journal_mode = WAL",
            "PRAGMA synchronous = FULL",
            "CREATE TABLE message (id INTEGER PRIMARY KEY, data BLOB NOT NULL)",
        ):
            self._cursor.execute(sql).fetchall()
        # The number of rows is a power of two, so that every statement stays prepared.
        self._sql: dict[int, str] = {}
        rows = _MOST_ROWS
        while rows:
            self._sql[rows] = "INSERT INTO message (data) VALUES " + ", ".join(["(?)"] * rows)
            rows //= 2

    def run(self) -> None:
        """Writes until the process ends."""
        while True:
            waiting = [self._queue.get()]
            with contextlib.suppress(queue.Empty):
                while len(waiting) < _MOST_RECORDS:
                    waiting.append(self._queue.get_nowait())
            self._write([message for message, _ in waiting])
            self._loop.call_soon_threadsafe(_settled, waiting)

    def _write(self, messages: list[bytes]) -> None:
        execute = self._cursor.execute
        execute("BEGIN IMMEDIATE")
        at = 0
        for rows, sql in self._sql.items():
            while len(messages) - at >= rows:
                execute(sql, messages[at : at + rows])
                at += rows
        execute("COMMIT")


def _settled(waiting: list[Waiting]) -> None:
    for message, done in waiting:
        done(message)


async def _serve(socket: ServerConnection, put: Callable[[Waiting], None]) -> None:
    durable: list[bytes] = []
    filled = asyncio.Event()

    def done(message: bytes) -> None:
        durable.append(message)
        filled.set()

    async def send() -> None:
        while True:
            await filled.wait()
            filled.clear()
            messages = durable.copy()
            durable.clear()
            for message in messages:
                await socket.send(message)

    sending = asyncio.get_running_loop().create_task(send())
    try:
        async for message in socket:
            put((message if isinstance(message, bytes) else message.encode(), done))
    except ConnectionClosed:
        pass
    finally:
        sending.cancel()


async def _main(path: str) -> None:
    writer = Writer(path, asyncio.get_running_loop())
    threading.Thread(target=writer.run, daemon=True).start()

    async def handler(socket: ServerConnection) -> None:
        await _serve(socket, writer.put)

    async with serve(handler, "127.0.0.1", 0, compression=None, max_size=None) as server:
        print(next(iter(server.sockets)).getsockname()[1], flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    uvloop.run(_main(sys.argv[1]))
