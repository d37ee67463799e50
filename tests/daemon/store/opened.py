"""A SQLite store's file without the threads around it, for tests of single modules."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from waybread_daemon.store.contract import Facts, Opening, Record
from waybread_daemon.store.sqlite.batch import BatchWriter
from waybread_daemon.store.sqlite.connection import close, connect_reader, connect_writer, prepare
from waybread_daemon.store.sqlite.packing import Packer
from waybread_daemon.store.sqlite.reader import SqliteReader
from waybread_daemon.store.sqlite.sizes import Usage


class Opened:
    """A store's file, a connection that writes and one that looks."""

    def __init__(self, path: Path) -> None:
        prepare(path, None)
        self.path = path
        self.connection = connect_writer(path, None)
        self.cursor = self.connection.cursor()
        self.numbers = itertools.count(1)
        self.usage = Usage()
        self.batch = BatchWriter(Packer(), self.numbers, "epoch", self.usage)
        self.looking = connect_reader(path, None)
        self.reader = SqliteReader(self.looking)

    def close(self) -> None:
        self.reader.close()
        close(self.connection)


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    store = Opened(tmp_path / "store.sqlite")
    yield store
    store.close()


def opening(seq: int, session: int, name: str = "a", device: int = 1) -> Record:
    return Record(
        device, seq, session, "opened", Facts(seq), 0, "", opening=Opening(name, "agent", "title", "/directory")
    )


def result(seq: int, session: int, number: int, body: bytes = b"body", device: int = 1) -> Record:
    return Record(
        device,
        seq,
        session,
        "result",
        Facts(seq),
        number,
        "",
        number=number,
        key=f"key-{number:09}",
        event=b"event",
        body=body,
    )
