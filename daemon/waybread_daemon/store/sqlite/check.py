"""Whether a store holds together: its file by SQLite's own check, and what its rows say of each other.

Everything here only reads, and in one statement a question, so that neither the size of a store nor a daemon that goes on
writing matters. What a deleted session has left while it is purged is nobody's loss and is not looked at.
"""

# ruff: noqa: S608 - what is put into the statements are numbers of the program's own.

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import apsw

from waybread_daemon.store.sqlite.batch import SEQ_BITS, named
from waybread_daemon.store.sqlite.checksums import COLUMNS, EPOCH, columns_of, has_checksums
from waybread_daemon.store.sqlite.copying import Progress, no_progress
from waybread_daemon.store.sqlite.purge import CHUNK_BITS

_MOST = 20
_LIVE = "JOIN session AS s ON s.number = e.session AND s.state = 0 "
_SEQ = f"{(1 << SEQ_BITS) - 1}"


class Question(NamedTuple):
    """A sentence in which `{rows}` are how many and `{first}` the first of them; `sql` finds them, one column each."""

    sentence: str
    sql: str


QUESTIONS = (
    Question(
        "{rows} entries are of a session that is not there (the first: {first})",
        "SELECT e.id FROM entry AS e LEFT JOIN session AS s ON s.number = e.session "
        f"WHERE s.number IS NULL OR s.device <> e.id >> {SEQ_BITS}",
    ),
    Question(
        "{rows} results have lost their content (the first: {first})",
        f"SELECT e.id FROM entry AS e {_LIVE}WHERE e.content IS NOT NULL "
        "AND NOT EXISTS (SELECT 1 FROM content AS c WHERE c.id = e.content AND c.state > 0)",
    ),
    Question(
        "{rows} results have content that their session does not hold, so that it could be purged (the first: {first})",
        f"SELECT e.id FROM entry AS e {_LIVE}WHERE e.content IS NOT NULL "
        "AND NOT EXISTS (SELECT 1 FROM holding AS h WHERE h.content = e.content AND h.session = e.session)",
    ),
    Question(
        "{rows} results have lost the earlier result whose body they share (the first: {first})",
        f"SELECT e.id FROM entry AS e {_LIVE}WHERE e.root IS NOT NULL AND NOT EXISTS (SELECT 1 FROM entry AS r "
        "WHERE r.session = e.session AND r.number = e.root AND r.number IS NOT NULL AND r.root IS NULL)",
    ),
    Question(
        "{rows} contents that sessions hold are not there (the first: {first})",
        "SELECT h.content FROM holding AS h JOIN session AS s ON s.number = h.session AND s.state = 0 "
        "WHERE NOT EXISTS (SELECT 1 FROM content AS c WHERE c.id = h.content AND c.state > 0)",
    ),
    Question(
        "{rows} contents have lost some of their chunks (the first: {first})",
        "SELECT c.id FROM content AS c WHERE c.state > 0 AND c.data IS NULL AND length(c.marks) / 24 <> "
        f"(SELECT count(*) FROM chunk AS k WHERE k.id >= c.id << {CHUNK_BITS} AND k.id < (c.id + 1) << {CHUNK_BITS})",
    ),
    Question(
        "{rows} sessions have not each of their results once (the first: {first})",
        "SELECT s.session FROM session AS s WHERE s.state = 0 AND (s.results, s.results) <> "
        "(SELECT count(*), coalesce(max(e.number), 0) FROM entry AS e WHERE e.session = s.number AND e.number IS NOT NULL)",
    ),
    Question(
        "{rows} sessions end elsewhere than they say (the first: {first})",
        "SELECT s.session FROM session AS s WHERE s.state = 0 AND s.head <> coalesce("
        f"(SELECT max(v.entry) & {_SEQ} FROM event AS v WHERE v.session = s.number), 0)",
    ),
    Question(
        "{rows} sessions are in a turn that does not stand (the first: {first})",
        "SELECT s.session FROM session AS s WHERE s.state = 0 AND s.turn <> '' AND NOT EXISTS "
        "(SELECT 1 FROM turn AS t WHERE t.session = s.number AND t.name = s.turn AND t.taken_back = 0)",
    ),
    Question(
        "{rows} sessions know another newest key than they have (the first: {first})",
        "SELECT s.session FROM session AS s WHERE s.state = 0 AND s.newest_key <> "
        "coalesce((SELECT max(k.key) FROM entry_key AS k WHERE k.session = s.number), '')",
    ),
    Question(
        "{rows} sessions know another newest compaction than they have (the first: {first})",
        "SELECT s.session FROM session AS s LEFT JOIN (SELECT session, max(id) AS id FROM entry WHERE kind = 'compacted' "
        f"GROUP BY session) AS c ON c.session = s.number WHERE s.state = 0 AND s.base_seq <> coalesce(c.id & {_SEQ}, 0)",
    ),
    Question(
        "{rows} entries stand in no session's order (the first: {first})",
        f"SELECT e.id FROM entry AS e {_LIVE}"
        "WHERE NOT EXISTS (SELECT 1 FROM event AS v WHERE v.session = e.session AND v.entry = e.id)",
    ),
    Question(
        "{rows} places in sessions' orders have no entry (the first: {first})",
        "SELECT v.entry FROM event AS v JOIN session AS s ON s.number = v.session AND s.state = 0 "
        "WHERE NOT EXISTS (SELECT 1 FROM entry AS e WHERE e.id = v.entry AND e.session = v.session)",
    ),
    Question(
        "{rows} keys of requests stand for no entry (the first: {first})",
        "SELECT k.key FROM entry_key AS k JOIN session AS s ON s.number = k.session AND s.state = 0 "
        "WHERE NOT EXISTS (SELECT 1 FROM entry AS e WHERE e.id = k.entry AND e.session = k.session)",
    ),
    Question(
        # Of a deleted session only its end is left, so where one was deleted nobody knows which numbers were its own.
        "{rows} devices have gaps in their log (the first: {first})",
        "SELECT d.device FROM device AS d WHERE NOT EXISTS (SELECT 1 FROM session AS s WHERE s.device = d.number "
        f"AND s.state > 0) AND (SELECT count(*) <> coalesce(max(id) & {_SEQ}, 0) FROM entry "
        f"WHERE id BETWEEN d.number << {SEQ_BITS} AND (d.number + 1 << {SEQ_BITS}) - 1)",
    ),
)


def _checksums(table: str, name: str, rows: str, columns: str, sums: str = "{}") -> Question:
    return Question(
        f"{{rows}} {rows} have another checksum than when they were written (the first: {{first}})",
        f"SELECT {name} FROM {table} WHERE checksum IS NOT {sums.format(f'row_checksum({columns})')}",
    )


SINCE_VERSION_2 = (
    Question(
        "{rows} sessions are deleted and do not end so, or the other way round (the first: {first})",
        "SELECT s.session FROM session AS s JOIN device AS d ON d.number = s.device AND d.gone_ms = 0 "
        f"LEFT JOIN entry AS e ON e.id = s.device << {SEQ_BITS} | s.head WHERE (s.state > 0) <> (e.kind IS 'deleted')",
    ),
    *(
        _checksums(table, name, rows, COLUMNS[table], sums)
        for table, name, rows, sums in (
            ("device", "device", "devices", "{}"),
            ("session", "session", "sessions", "{}"),
            ("turn", "name", "turns", "CASE taken_back WHEN 0 THEN {0} WHEN 1 THEN ~{0} END"),
            ("event", "entry", "places in sessions' orders", "{}"),
            ("entry_key", "entry", "keys of requests", "{}"),
        )
    ),
    Question(
        "the store's epoch has another checksum than when it was written",
        f"SELECT value FROM meta WHERE name = 'epoch' AND NOT EXISTS (SELECT 1 FROM meta AS m WHERE m.name = '{EPOCH}' "
        "AND m.value = row_checksum(meta.value)) UNION ALL SELECT '' WHERE NOT EXISTS (SELECT 1 FROM meta WHERE name = 'epoch')",
    ),
)
"""What only a store of that version can be asked: rows that have a checksum, but for those that are read one by one anyway."""


def file_faults(connection: apsw.Connection) -> list[str]:
    """What SQLite finds wrong in the file."""
    try:
        found = [str(row[0]) for row in stream(connection, f"PRAGMA integrity_check({_MOST})")]
    except (apsw.CorruptError, apsw.NotADBError) as error:
        # Some damage ends the check itself.
        found = [str(error)]
    return [] if found == ["ok"] else [f"the file: {text}" for row in found for text in row.splitlines()]


def questions_for(connection: apsw.Connection) -> tuple[Question, ...]:
    """What a store of that version can be asked."""
    if not has_checksums(connection):
        return QUESTIONS
    return (*QUESTIONS, *SINCE_VERSION_2, _checksums("token", "token", "tokens", columns_of("token", connection)))


def row_faults(connection: apsw.Connection, progress: Progress = no_progress) -> Iterator[str]:
    """What rows that belong together do not agree on."""
    questions = questions_for(connection)
    for at, question in enumerate(questions):
        progress("checking that everything is there", at, len(questions))
        rows, first = 0, None
        for (found,) in stream(connection, question.sql):
            rows += 1
            first = _named(found) if first is None else first
        if rows:
            yield question.sentence.format(rows=rows, first=first)


def stream(connection: apsw.Connection, sql: str, *values: float | str | bytes | None) -> Iterator[tuple[Any, ...]]:
    """Rows as SQLite finds them, so that memory holds one at a time."""
    cursor: Any = connection.cursor()
    rows: Iterator[tuple[Any, ...]] = cursor.execute(sql, values)
    return rows


def _named(found: object) -> str:
    return named(found) if isinstance(found, int) and found >> SEQ_BITS else str(found)
