"""From version 1 to version 2: what everything takes is counted from what is there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import apsw

from tests.daemon.store.opened import Opened, opened, opening, result
from tests.daemon.store.version1 import LARGE, SMALL, Takes, Version1
from waybread_daemon.clock import now_ms
from waybread_daemon.store.contract import Reader
from waybread_daemon.store.sizes import DeviceSizes
from waybread_daemon.store.sqlite import SqliteStore
from waybread_daemon.store.sqlite.packing import raw_size
from waybread_daemon.store.sqlite.schema import migrate, migrations

__all__ = ["opened"]

COLUMNS = "raw_bytes, stored_bytes, files_raw_bytes, files_stored_bytes"


def rows(path: Path, sql: str) -> list[Any]:
    connection: Any = apsw.Connection(str(path))
    found = list(connection.execute(sql))
    connection.close()
    return found


def test_what_is_there_is_counted_as_it_is_counted_from_then_on(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    old = Version1(path)
    connection = apsw.Connection(str(path))
    migrate(connection, path, migrations()[:2])
    connection.close()
    found = {name: Takes(*takes) for name, *takes in rows(path, f"SELECT session, {COLUMNS} FROM session")}
    assert found == old.takes
    files = [Takes(0, 0, *each) for each in rows(path, "SELECT files_raw_bytes, files_stored_bytes FROM device")]
    assert files == [old.files, Takes()]
    assert rows(path, "SELECT id, stored_bytes > 0 FROM content") == [(1, 0), (2, 1), (3, 1), (4, 1)]


async def test_a_store_of_version_1_opens_with_all_that_is_in_it_and_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    old = Version1(path)
    store = SqliteStore.open(path, clock_ms=now_ms, grace_ms=0)
    await store.start()
    await store.purged()

    def look(reader: Reader) -> None:
        a, b = old.takes["a"], old.takes["b"]
        phone = DeviceSizes(1, 2, a.raw_bytes + b.raw_bytes + len(SMALL) + len(LARGE), store.used_bytes(1), 0)
        assert reader.sizes() == [phone, DeviceSizes(2, 0, 0, 0, 0)]
        assert [session.session for session in reader.largest_sessions(9)] == ["a", "b"]
        facts = reader.session(1, "gone")
        assert facts is not None
        assert facts.gone

    await store.look(look)
    a, b = old.takes["a"], old.takes["b"]
    # The deleted session is purged by now; its `deleted` entry counts for nothing.
    assert store.used_bytes(1) == a.stored_bytes + b.stored_bytes + old.files.files_stored_bytes
    await store.close()


def test_a_payload_whose_head_is_damaged_counts_as_it_is_and_stops_no_migration(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    Version1(path)
    rows(path, "UPDATE entry SET payload = x'00112233', encoding = 1 WHERE id = (1 << 40) + 2")
    connection = apsw.Connection(str(path))
    migrate(connection, path, migrations()[:2])
    connection.close()
    ((raw_bytes,),) = rows(path, "SELECT raw_bytes FROM session WHERE session = 'b'")
    assert raw_bytes == 0


def test_the_writer_and_the_migration_count_alike(opened: Opened) -> None:
    """What a batch counts is what the migration would count of the rows that it left."""
    opened.batch.write(opened.cursor, [opening(1, 1), *[result(n + 1, 1, n, b"x" * n) for n in range(1, 200)]])
    cursor: Any = opened.cursor
    counted = list(cursor.execute(f"SELECT {COLUMNS} FROM session"))
    cursor.execute("UPDATE session SET raw_bytes = 0, stored_bytes = 0")
    begin = migrations()[1].index("UPDATE session")
    end = migrations()[1].index("UPDATE session SET\n")
    untyped: Any = opened.connection
    untyped.create_scalar_function("raw_size", raw_size, 1)
    cursor.execute(migrations()[1][begin:end])
    assert list(cursor.execute(f"SELECT {COLUMNS} FROM session")) == counted
    assert counted[0][0] == sum(range(1, 200))
