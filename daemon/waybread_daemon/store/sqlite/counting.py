"""The sizes of sessions and devices counted anew from what is there: to compare what their rows say, and to set it right."""

# ruff: noqa: S608 - what is put into the statements are the program's own words.

from __future__ import annotations

from collections.abc import Iterator

import apsw

from waybread_daemon.store.sqlite.check import stream
from waybread_daemon.store.sqlite.packing import teach_raw_size
from waybread_daemon.store.sqlite.purge import CHUNK_BITS
from waybread_daemon.store.sqlite.sizes import ROW_BYTES
from waybread_daemon.store.sqlite.statements import run

_STORED = f"coalesce(length(c.data), c.stored_bytes) + {ROW_BYTES}"
# The same as the migration that counted first.
_SESSION = f"""
SELECT e.raw_bytes + t.raw_bytes, e.stored_bytes + k.stored_bytes + t.stored_bytes, t.files_raw_bytes, t.files_stored_bytes
FROM (
    SELECT coalesce(sum(CASE e.encoding WHEN 0 THEN length(e.payload) ELSE raw_size(e.payload) END), 0) AS raw_bytes,
        coalesce(sum(length(e.payload) + length(e.facts) + length(v.event) + {ROW_BYTES}), 0) AS stored_bytes
    FROM event AS v JOIN entry AS e ON e.id = v.entry WHERE v.session = session.number
) AS e, (
    SELECT coalesce(sum(length(k.key)), 0) AS stored_bytes FROM entry_key AS k WHERE k.session = session.number
) AS k, (
    SELECT coalesce(sum(c.size_bytes) FILTER (WHERE c.sha256 IS NULL), 0) AS raw_bytes,
        coalesce(sum({_STORED}) FILTER (WHERE c.sha256 IS NULL), 0) AS stored_bytes,
        coalesce(sum(c.size_bytes) FILTER (WHERE c.sha256 IS NOT NULL), 0) AS files_raw_bytes,
        coalesce(sum({_STORED}) FILTER (WHERE c.sha256 IS NOT NULL), 0) AS files_stored_bytes
    FROM holding AS h JOIN content AS c ON c.id = h.content WHERE h.session = session.number
) AS t
"""
_DEVICE = f"""
SELECT coalesce(sum(c.size_bytes), 0), coalesce(sum({_STORED}), 0)
FROM content AS c WHERE c.device = device.number AND c.sha256 IS NOT NULL AND c.state > 0
"""
_CHUNKS = (
    f"SELECT coalesce(sum(length(k.data)), 0) FROM chunk AS k WHERE k.id >= content.id << {CHUNK_BITS} "
    f"AND k.id < (content.id + 1) << {CHUNK_BITS}"
)
_SESSION_SIZES = "(raw_bytes, stored_bytes, files_raw_bytes, files_stored_bytes)"
_DEVICE_SIZES = "(files_raw_bytes, files_stored_bytes)"


def size_faults(connection: apsw.Connection) -> Iterator[str]:
    """Whose row says another size than it has. Nothing of a transcript depends on it. Raises what SQLite raises."""
    teach_raw_size(connection)
    for (content,) in stream(
        connection, f"SELECT id FROM content WHERE state > 0 AND data IS NULL AND stored_bytes <> ({_CHUNKS})"
    ):
        yield f"content {content} has another size on the disk than its row says"
    for (session,) in stream(
        connection, f"SELECT session FROM session WHERE state = 0 AND {_SESSION_SIZES} <> ({_SESSION})"
    ):
        yield f"the session {session} has other sizes than its row says"
    for (device,) in stream(
        connection, f"SELECT device FROM device WHERE gone_ms = 0 AND {_DEVICE_SIZES} <> ({_DEVICE})"
    ):
        yield f"the device {device} has other sizes than its row says"


def count_anew(connection: apsw.Connection) -> None:
    """Sets the sizes right. Raises what SQLite raises; all is as before then."""
    teach_raw_size(connection)
    cursor = connection.cursor()
    run(cursor, "BEGIN IMMEDIATE")
    run(cursor, f"UPDATE content SET stored_bytes = ({_CHUNKS}) WHERE state > 0 AND data IS NULL")
    run(cursor, f"UPDATE session SET {_SESSION_SIZES} = ({_SESSION}) WHERE state = 0")
    run(cursor, f"UPDATE device SET {_DEVICE_SIZES} = ({_DEVICE}) WHERE gone_ms = 0")
    run(cursor, "COMMIT")
