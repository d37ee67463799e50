"""Contents as a batch takes them up."""

import hashlib

import pytest

from tests.daemon.store.opened import Opened, opened, opening, result
from waybread_daemon.store.contract import FileContent, Record, Staged
from waybread_daemon.store.sqlite.statements import run, value

__all__ = ["opened"]

DATA = b"the content " * 100
SHA = hashlib.sha256(DATA).digest()


def reads(seq: int, session: int, number: int, data: bytes | Staged | None, device: int = 1) -> Record:
    record = result(seq, session, number, b"", device)
    record.source, record.contents = SHA, (FileContent(SHA, data),)
    return record


def staged(opened: Opened) -> Staged:
    number = next(opened.numbers)
    run(
        opened.cursor,
        "INSERT INTO content (id, device, sha256, state, size_bytes, lines, chars, marks) "
        "VALUES (?, 1, ?, 0, 1200, 1, 1200, x'')",
        number,
        SHA,
    )
    return Staged(number)


def held(opened: Opened) -> list[tuple[int, ...]]:
    return run(opened.cursor, "SELECT id, state, session FROM content LEFT JOIN holding ON content = id ORDER BY id")


def test_the_same_content_twice_in_a_batch_is_one(opened: Opened) -> None:
    opened.batch.write(
        opened.cursor,
        [opening(1, 1), opening(2, 2, "b"), reads(3, 1, 1, DATA), reads(4, 2, 1, DATA), reads(5, 1, 2, None)],
    )
    assert held(opened) == [(1, 1, 1), (1, 1, 2)]
    assert run(opened.cursor, "SELECT DISTINCT content FROM entry WHERE content IS NOT NULL") == [(1,)]


def test_staged_content_of_a_new_hash_is_taken_up(opened: Opened) -> None:
    content = staged(opened)
    written = opened.batch.write(opened.cursor, [opening(1, 1), reads(2, 1, 1, content)])
    assert held(opened) == [(1, 1, 1)]
    assert written.contents == []


def test_of_several_staged_for_one_hash_all_but_one_are_dropped(opened: Opened) -> None:
    contents = [staged(opened) for _ in range(3)]
    written = opened.batch.write(
        opened.cursor, [opening(1, 1), *(reads(n + 2, 1, n + 1, content) for n, content in enumerate(contents))]
    )
    assert held(opened) == [(1, 1, 1), (2, 0, None), (3, 0, None)]
    assert written.contents == [2, 3]
    later = staged(opened)
    written = opened.batch.write(opened.cursor, [reads(5, 1, 4, later)])
    assert written.contents == [later.content]


def test_staged_content_is_taken_up_once_only(opened: Opened) -> None:
    content = staged(opened)
    record = result(2, 1, 1, b"")
    record.own = content
    opened.batch.write(opened.cursor, [opening(1, 1), record])
    again = result(3, 1, 2, b"")
    again.own = content
    with pytest.raises(ValueError, match="some are not there, or were taken up before"):
        opened.batch.write(opened.cursor, [again])


def test_each_device_has_its_own(opened: Opened) -> None:
    opened.batch.write(
        opened.cursor,
        [opening(1, 1), opening(1, 2, device=2), reads(2, 1, 1, DATA), reads(2, 2, 1, DATA, device=2)],
    )
    assert run(opened.cursor, "SELECT device, sha256 FROM content ORDER BY device") == [(1, SHA), (2, SHA)]


def test_a_hash_is_found_by_its_index(opened: Opened) -> None:
    plan = run(
        opened.cursor,
        "EXPLAIN QUERY PLAN SELECT device, sha256, id FROM content "
        "WHERE (device, sha256) IN (VALUES (?, ?), (?, ?)) AND sha256 IS NOT NULL AND state > 0",
        1,
        SHA,
        2,
        SHA,
    )
    assert "SEARCH content USING INDEX content_by_hash (device=? AND sha256=?)" in [row[3] for row in plan]
    assert value(opened.cursor, "SELECT count(*) FROM content") == 0
