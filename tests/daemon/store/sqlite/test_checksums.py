"""Whatever bit of a row turns, it is told, no backup is made of it, and no look gives a changed result."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from tests.daemon.store.filled import fill, old_store, sql
from waybread_daemon.store.contract import Reader, StoreFault, StoreRefusal
from waybread_daemon.store.sqlite import open_reader
from waybread_daemon.store.sqlite.backup import back_up
from waybread_daemon.store.sqlite.checksums import COLUMNS, checksum, has_checksums, seal, seal_epoch, teach
from waybread_daemon.store.sqlite.connection import close, connect
from waybread_daemon.store.sqlite.contents_check import first_fault
from waybread_daemon.store.sqlite.copying import no_progress
from waybread_daemon.store.sqlite.inspection import inspect

KEYS = {
    "entry": ("id",),
    "event": ("session", "entry"),
    "entry_key": ("session", "key"),
    "turn": ("session", "name"),
    "content": ("id",),
    "chunk": ("id",),
    "session": ("number",),
    "device": ("number",),
    "token": ("token",),
}
MOVING = {
    "session": ("results", "turn", "head", "changed_ms", "base_seq", "newest_key", "state"),
    "turn": ("taken_back",),
}
"""What changes with the records has no checksum and is compared with them."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("whole") / "s"
    fill(path, ("a",))
    connection = connect(path, None)
    cursor: Any = connection.cursor()
    cursor.execute("INSERT INTO turn (session, name, seq) VALUES (1, 'stands', 2)")
    cursor.execute("UPDATE session SET turn = 'stands'")
    cursor.execute(
        "INSERT INTO token (token, device, role, secret_hash, made_ms, name) "
        "VALUES ('token', 1, 'device', x'77', 1, 'Anna')"
    )
    for table in ("turn", "token"):
        seal(cursor, table, "1")
    cursor.execute("INSERT INTO turn VALUES (1, 'gone', 3, 1, ?)", (~checksum(1, "gone", 3),))
    close(connection)
    return path


def turned(value: Any) -> list[Any]:
    """The value with one bit of it turned, in a way or two; none where it has no bits."""
    match value:
        case int():
            return [value ^ 1, value ^ 64]
        case str() if value:
            return [f"{value[:-1]}{chr(ord(value[-1]) ^ 1)}"]
        case bytes() if value:
            middle = len(value) // 2
            return [value[:middle] + bytes([value[middle] ^ 4]) + value[middle + 1 :]]
        case _:
            return []


def turns(path: Path) -> Iterator[tuple[str, str, tuple[Any, ...], Any]]:
    """Each value of each row, with a bit turned: table, column, key, and the value as it is then."""
    for table, columns in COLUMNS.items():
        for column in (*columns.split(", "), *MOVING.get(table, ()), "checksum"):
            keys = ", ".join(KEYS[table])
            for value, *key in sql(path, f"SELECT {column}, {keys} FROM {table}"):
                for other in turned(value):
                    yield table, column, tuple(key), other


def test_a_bit_that_turns_in_any_value_of_any_row_is_told_and_makes_no_backup(path: Path, tmp_path: Path) -> None:
    tried: set[str] = set()
    untold: list[str] = []
    connection = connect(path, None)
    cursor: Any = connection.cursor()
    assert first_fault(connection) == ""
    for table, column, key, other in list(turns(path)):
        where = " AND ".join(f"{name} = ?" for name in KEYS[table])
        try:
            ((before,),) = cursor.execute(f"SELECT {column} FROM {table} WHERE {where}", key).fetchall()
            cursor.execute(f"UPDATE {table} SET {column} = ? WHERE {where}", (other, *key))
        except apsw.ConstraintError:
            # Another row has that key: two bits would have to turn.
            continue
        if not first_fault(connection):
            untold.append(f"{table}.{column} of {key}: {before!r:.40} -> {other!r:.40}")
        then = [other if name == column else part for name, part in zip(KEYS[table], key, strict=True)]
        cursor.execute(f"UPDATE {table} SET {column} = ? WHERE {where}", (before, *then))
        tried.add(f"{table}.{column}")
    assert untold == []
    assert first_fault(connection) == ""
    close(connection)
    assert tried == {
        f"{table}.{column}"
        for table, columns in COLUMNS.items()
        for column in (*columns.split(", "), *MOVING.get(table, ()), "checksum")
    }
    sql(path, "UPDATE entry SET facts = CAST(facts || x'00' AS BLOB) WHERE id = (1 << 40) + 2")
    with pytest.raises(StoreRefusal, match=r"has a fault, so no backup was made \(entry 2 of device 1"):
        back_up(path, tmp_path / "b", replace=False)
    assert not (tmp_path / "b").exists()


def test_a_bit_that_turns_in_the_file_is_told(path: Path) -> None:
    """Not by a statement, but on the disk: in the middle of every value that is long enough to be found there."""
    data = path.read_bytes()
    values = {
        value
        for table, columns in COLUMNS.items()
        for row in sql(path, f"SELECT {columns} FROM {table}")
        for value in row
        if isinstance(value, bytes) and 8 <= len(value) < 4000
    }
    assert len(values) >= 8
    for value in values:
        at = data.find(value) + len(value) // 2
        path.write_bytes(data[:at] + bytes([data[at] ^ 0x20]) + data[at + 1 :])
        with inspect(path) as found:
            told = [*found.file_faults(), *found.row_faults(no_progress), *found.data_faults(no_progress)]
        assert told, value


def look(reader: Reader) -> None:
    """All that a recall and a transcript read."""
    rows = reader.rows(1, 0, 1, 100)
    for row in rows:
        if row.content is not None:
            reader.whole(row.content)
    reader.events(1)


@pytest.mark.parametrize(
    "spoil, what",
    [
        ("UPDATE entry SET payload = x'6120626f647a' WHERE number = 1", "entry 2 of device 1"),
        ("UPDATE entry SET kind = 'messagf' WHERE id & 0xff = 1", "entry 1 of device 1"),
        ("UPDATE event SET event = x'61' WHERE entry & 0xff = 3", "entry 3 of device 1"),
        ("UPDATE content SET data = CAST(x'28b52ffd' || data AS BLOB) WHERE id = 1", "content 1"),
        ("UPDATE chunk SET data = CAST(data || x'00' AS BLOB) WHERE id = 2 << 20", "chunk 0 of content 2"),
        ("DELETE FROM chunk WHERE id = 2 << 20 | 1", "chunk 1 of content 2"),
    ],
)
def test_a_damaged_row_is_never_shown(path: Path, spoil: str, what: str) -> None:
    with open_reader(path) as reader:
        look(reader)
    sql(path, spoil)
    with open_reader(path) as reader, pytest.raises(StoreFault) as caught:
        look(reader)
    assert caught.value.sentence == (
        f"The store is damaged: {what} has another checksum than when it was written, so nothing is shown of it. "
        "`waybread doctor` tells what else is; the disk may be failing, and a backup may have it whole."
    )


def test_a_checksum_fits_into_four_bytes_and_is_the_same_in_sql() -> None:
    sums = [checksum(number, "text", b"bytes", None) for number in range(200)]
    assert min(sums) < 0 < max(sums)
    assert all(-(2**31) <= one < 2**31 for one in sums)
    assert len(set(sums)) == 200
    connection = apsw.Connection("")
    teach(connection)
    cursor: Any = connection.cursor()
    assert cursor.execute("SELECT row_checksum(7, 'text', x'6279746573', NULL)").fetchall() == [(sums[7],)]


def test_texts_bytes_and_where_values_end_all_count() -> None:
    assert len({checksum("ab", "c"), checksum("a", "bc"), checksum(b"ab", "c"), checksum("ab", "c", None)}) == 4


def test_rows_that_were_changed_are_sealed_again(path: Path) -> None:
    connection = connect(path, None)
    cursor: Any = connection.cursor()
    cursor.execute("UPDATE device SET name = 'new'; UPDATE meta SET value = 'new' WHERE name = 'epoch'")
    assert first_fault(connection).startswith("1 devices have another checksum")
    seal(cursor, "device", "number = ?", 1)
    assert first_fault(connection).startswith("the store's epoch has another checksum")
    seal_epoch(cursor)
    assert first_fault(connection) == ""
    assert has_checksums(connection)
    close(connection)


def test_a_store_of_the_first_version_has_none(tmp_path: Path) -> None:
    old_store(tmp_path / "old" / "s")
    connection = connect(tmp_path / "old" / "s", None)
    assert not has_checksums(connection)
    assert first_fault(connection) == ""
    close(connection)
