"""A checksum beside every row: over all that a result, a state or an account is made of, so that no damage goes unnoticed.

SQLite's own check looks at the structure of the file and not at what its rows say, and a compressed text of which a bit
has turned may still unpack into another text. The checksum is made by whoever writes the row, in Python, where all its
values are at hand; a look compares it with the values that it reads anyway. `row_checksum` is the same as a function of
SQL: for migrations, for accounts, and for checks. What changes with every record (the ends and sizes of sessions) stands in no
checksum: it follows from the entries, and `check.QUESTIONS` compares it with them.
"""

from __future__ import annotations

from typing import Any
from zlib import crc32

import apsw
import msgspec

from waybread_daemon.store.sqlite.statements import run, value

_encode = msgspec.msgpack.Encoder().encode

_BEFORE_NAMES = "token, device, role, secret_hash, made_ms, seen_ms, revoked_ms"
"""What the checksum of a token was made of in version 2, which had no names of them."""

COLUMNS = {
    "entry": "id, session, kind, number, root, content, facts, args_bytes, encoding, payload",
    "event": "session, entry, event",
    "entry_key": "session, key, entry",
    "turn": "session, name, seq",
    "content": "id, device, sha256, size_bytes, lines, chars, marks, data",
    "chunk": "id, data",
    "session": "number, device, session, kind, title, directory, epoch, opened_seq, opened_ms",
    "device": "number, device, name, made_ms, gone_ms",
    "token": f"{_BEFORE_NAMES}, name",
}
"""What the checksum of a row is made of, in this order. The migration that made the checksums names the same."""

FIRST_VERSION = 2
"""A store before that has none."""

EPOCH = "epoch_checksum"
"""A name in `meta`: the checksum of the epoch, which decides whether the sessions go on."""


def checksum(*values: float | str | bytes | None) -> int:
    """The checksum of a row's values: 32 bits, as SQLite keeps them in four bytes."""
    return (crc32(_encode(values)) ^ 0x8000_0000) - 0x8000_0000


def teach(connection: apsw.Connection) -> None:
    """Makes `row_checksum` known to a connection."""
    # The types that come with apsw name one that Python 3.11 has not.
    untyped: Any = connection
    untyped.create_scalar_function("row_checksum", checksum, -1, deterministic=True)


def has_checksums(connection: apsw.Connection) -> bool:
    """Whether the store is of a version whose rows have them."""
    return _version(connection) >= FIRST_VERSION


def columns_of(table: str, connection: apsw.Connection) -> str:
    """What the checksum of the table's rows is made of in this store, whose rows have them."""
    return _BEFORE_NAMES if table == "token" and _version(connection) == FIRST_VERSION else COLUMNS[table]


def _version(connection: apsw.Connection) -> int:
    return int(value(connection.cursor(), "PRAGMA user_version"))


def seal(cursor: apsw.Cursor, table: str, where: str, *values: float | str | bytes | None) -> None:
    """Makes the checksums of a few rows anew, in the transaction that has changed them."""
    run(cursor, f"UPDATE {table} SET checksum = row_checksum({COLUMNS[table]}) WHERE {where}", *values)  # noqa: S608  # only the program's own words


def seal_epoch(cursor: apsw.Cursor) -> None:
    """The same for the epoch."""
    run(
        cursor,
        "INSERT OR REPLACE INTO meta (name, value) SELECT ?, row_checksum(value) FROM meta WHERE name = 'epoch'",
        EPOCH,
    )
