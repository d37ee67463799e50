"""How what things take is kept in the rows."""

from __future__ import annotations

import os

from tests.daemon.store.opened import Opened, opened, opening, result
from waybread_daemon.store.sqlite import sizes
from waybread_daemon.store.sqlite.sizes import ROW_BYTES, Grown, Usage

__all__ = ["opened"]


def test_what_grows_adds_up() -> None:
    grown = Grown()
    grown.add(10, 1)
    grown.add(20, 2)
    assert (grown.raw_bytes, grown.stored_bytes) == (30, 3)


def test_what_a_device_takes_is_kept_as_it_grows_and_is_the_same_when_it_is_loaded(opened: Opened) -> None:
    opened.batch.write(opened.cursor, [opening(1, 1), result(2, 1, 1, os.urandom(500))])
    opened.batch.write(opened.cursor, [opening(1, 2, "b", device=2), result(3, 1, 2)])
    loaded = Usage()
    assert loaded.used_bytes(1) == 0
    loaded.load(opened.connection)
    for device in (1, 2):
        assert loaded.used_bytes(device) == opened.usage.used_bytes(device) > ROW_BYTES
    # Two results and an opening: their rows, their facts, events and keys, and the body.
    assert 3 * ROW_BYTES + 500 < loaded.used_bytes(1) < 3 * ROW_BYTES + 700


def test_what_is_counted_is_near_what_the_file_takes(opened: Opened) -> None:
    for batch in range(20):
        at = batch * 500
        opened.batch.write(
            opened.cursor,
            [opening(1, 1)] * (batch == 0) + [result(n + 2, 1, n + 1, os.urandom(300)) for n in range(at, at + 500)],
        )
    opened.connection.wal_checkpoint()
    files = sizes.files(opened.connection)
    assert 0.85 < opened.usage.used_bytes(1) / files.database_bytes < 1.15


def test_a_log_that_is_not_there_takes_nothing(opened: Opened) -> None:
    log = opened.path.with_name(opened.path.name + "-wal")
    assert sizes.files(opened.connection).log_bytes == log.stat().st_size
    log.unlink()
    assert sizes.files(opened.connection).log_bytes == 0
