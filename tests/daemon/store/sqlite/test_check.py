"""Each way in which a store can have lost something is found, and a whole one is let be."""

from pathlib import Path

import apsw
import pytest

from tests.daemon.store.filled import Heard, old_store, seal_all, sql
from waybread_daemon.store.sqlite.check import (
    QUESTIONS,
    SINCE_VERSION_2,
    file_faults,
    questions_for,
    row_faults,
    stream,
)
from waybread_daemon.store.sqlite.connection import close, connect


def faults(path: Path) -> list[str]:
    connection = connect(path, None)
    try:
        return file_faults(connection) or list(row_faults(connection))
    finally:
        close(connection)


def test_a_whole_store_has_no_fault(path: Path) -> None:
    assert faults(path) == []


SPOILED: list[tuple[str, list[str]]] = [
    (
        "DELETE FROM chunk WHERE id >> 20 = 2; DELETE FROM content WHERE id = 2",
        [
            "2 results have lost their content (the first: entry 4 of device 1)",
            "2 contents that sessions hold are not there (the first: 2)",
        ],
    ),
    ("DELETE FROM chunk WHERE id = (2 << 20) + 1", ["1 contents have lost some of their chunks (the first: 2)"]),
    (
        "DELETE FROM holding WHERE content = 1 AND session = 2",
        [
            (
                "1 results have content that their session does not hold, so that it could be purged "
                "(the first: entry 9 of device 1)"
            )
        ],
    ),
    (
        "DELETE FROM entry WHERE number = 1 AND session = 1; DELETE FROM entry_key WHERE key = 'key-000000001' AND session = 1",
        [
            "1 results have lost the earlier result whose body they share (the first: entry 6 of device 1)",
            "1 sessions have not each of their results once (the first: a)",
            "1 places in sessions' orders have no entry (the first: entry 2 of device 1)",
            "1 devices have gaps in their log (the first: device)",
        ],
    ),
    (
        "DELETE FROM session WHERE number = 2",
        ["6 entries are of a session that is not there (the first: entry 7 of device 1)"],
    ),
    ("UPDATE session SET head = 5 WHERE number = 1", ["1 sessions end elsewhere than they say (the first: a)"]),
    (
        "DELETE FROM event WHERE entry & 0xff = 3",
        ["1 entries stand in no session's order (the first: entry 3 of device 1)"],
    ),
    (
        "UPDATE entry_key SET entry = entry + 100 WHERE key = 'key-000000003'",
        ["2 keys of requests stand for no entry (the first: key-000000003)"],
    ),
    (
        "UPDATE session SET state = 2 WHERE number = 1",
        ["1 sessions are deleted and do not end so, or the other way round (the first: a)"],
    ),
    (
        "UPDATE entry SET kind = 'deleted' WHERE id & 0xff = 6",
        ["1 sessions are deleted and do not end so, or the other way round (the first: a)"],
    ),
    (
        "INSERT INTO turn (session, name, seq, taken_back) VALUES (1, 't', 3, 1); UPDATE session SET turn = 't'",
        ["2 sessions are in a turn that does not stand (the first: a)"],
    ),
    (
        "UPDATE session SET newest_key = 'key-000000003' WHERE number = 2",
        ["1 sessions know another newest key than they have (the first: b)"],
    ),
    (
        "UPDATE session SET base_seq = 3 WHERE number = 2",
        ["1 sessions know another newest compaction than they have (the first: b)"],
    ),
]


@pytest.mark.parametrize("spoil, found", SPOILED)
def test_what_is_lost_is_told_with_the_first_place(path: Path, spoil: str, found: list[str]) -> None:
    sql(path, spoil)
    seal_all(path)
    sql(path, "UPDATE turn SET checksum = ~checksum WHERE taken_back = 1")
    assert faults(path) == found


@pytest.mark.parametrize(
    "spoil, found",
    [
        ("UPDATE device SET name = 'phonf'", "1 devices have another checksum (the first: device)"),
        ("UPDATE device SET gone_ms = 1", "1 devices have another checksum (the first: device)"),
        ("UPDATE token SET role = 'viewer'", "1 tokens have another checksum (the first: token)"),
        ("UPDATE token SET revoked_ms = 0", "1 tokens have another checksum (the first: token)"),
        ("UPDATE session SET title = 'titles' WHERE number = 1", "1 sessions have another checksum (the first: a)"),
        ("UPDATE turn SET taken_back = 1", "1 turns have another checksum (the first: t)"),
        ("UPDATE turn SET taken_back = 2", "1 turns have another checksum (the first: t)"),
        (
            "UPDATE event SET event = x'61' WHERE entry & 0xff = 2",
            "1 places in sessions' orders have another checksum (the first: entry 2 of device 1)",
        ),
        (
            "UPDATE entry_key SET key = 'key-000000000' WHERE entry & 0xff = 2",
            "1 keys of requests have another checksum (the first: entry 2 of device 1)",
        ),
        ("UPDATE meta SET value = 'x' WHERE name = 'epoch'", "the store's epoch has another checksum"),
        ("DELETE FROM meta WHERE name = 'epoch'", "the store's epoch has another checksum"),
        ("DELETE FROM meta WHERE name = 'epoch_checksum'", "the store's epoch has another checksum"),
    ],
)
def test_a_row_that_is_not_what_was_written_is_told(path: Path, spoil: str, found: str) -> None:
    sql(path, "INSERT INTO turn (session, name, seq) VALUES (1, 't', 3)")
    sql(
        path,
        "INSERT INTO token (token, device, role, secret_hash, made_ms, revoked_ms) VALUES ('token', 1, 'device', x'00', 1, 2)",
    )
    seal_all(path)
    assert faults(path) == []
    sql(path, spoil)
    assert [
        sentence.replace(" than when they were written", "").replace(" than when it was written", "")
        for sentence in faults(path)
    ] == [found]


def test_a_store_of_the_first_version_is_asked_for_no_checksums(tmp_path: Path) -> None:
    old_store(tmp_path / "old" / "s")
    heard = Heard()
    connection = connect(tmp_path / "old" / "s", None)
    assert list(row_faults(connection, heard)) == []
    close(connection)
    assert len(heard.told) == len(QUESTIONS)


def test_every_question_is_answered_by_one_of_these() -> None:
    found = [sentence for _, sentences in SPOILED for sentence in sentences]
    asked = {
        question.sentence.removeprefix("{rows} ").partition(" (")[0] for question in (*QUESTIONS, SINCE_VERSION_2[0])
    }
    assert {sentence.partition(" ")[2].partition(" (")[0] for sentence in found} == asked


def test_what_a_deleted_session_leaves_while_it_is_purged_is_no_fault(path: Path) -> None:
    sql(path, "UPDATE entry SET kind = 'deleted' WHERE id = (SELECT max(id) FROM entry WHERE session = 1)")
    sql(path, "UPDATE session SET state = 1 WHERE number = 1; DELETE FROM entry WHERE session = 1 AND number < 3")
    sql(path, "DELETE FROM entry_key WHERE session = 1; DELETE FROM holding WHERE session = 1")
    sql(path, "UPDATE content SET state = 0 WHERE id = 3; DELETE FROM chunk WHERE id = 3 << 20")
    assert faults(path) == []


def test_a_broken_file_is_told_and_nothing_is_asked_of_its_rows(path: Path) -> None:
    data = bytearray(path.read_bytes())
    # The root of the index on numbers: its cells point anywhere.
    ((page,),) = sql(path, "SELECT rootpage FROM sqlite_schema WHERE name = 'entry_by_number'")
    data[(page - 1) * 4096 : (page - 1) * 4096 + 64] = bytes(range(64))
    path.write_bytes(data)
    found = faults(path)
    assert found
    assert all(sentence.startswith("the file: ") for sentence in found)
    connection = connect(path, None)
    assert file_faults(connection) == found
    close(connection)


def test_progress_is_told_of_each_question(path: Path) -> None:
    heard = Heard()
    connection = connect(path, None)
    assert list(row_faults(connection, heard)) == []
    asked = len(questions_for(connection))
    close(connection)
    assert asked > len(QUESTIONS) + len(SINCE_VERSION_2)
    assert heard.told == [("checking that everything is there", at, asked) for at in range(asked)]


def test_rows_are_streamed_one_at_a_time() -> None:
    connection = apsw.Connection("")
    rows = stream(
        connection, "WITH RECURSIVE n(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM n) SELECT x, ? FROM n", "a"
    )
    assert [next(rows) for _ in range(3)] == [(1, "a"), (2, "a"), (3, "a")]
