"""The store as a whole: one daemon at a time, killed, and on a disk that fails at every call in turn."""

import asyncio
import contextlib
import os
import random
import subprocess
import sys
from functools import partial
from pathlib import Path

import apsw
import pytest

from tests.daemon.store.stores import Log, SqlitePlace, sha
from waybread_daemon.clock import now_ms
from waybread_daemon.store.contract import Reader, Row, StoreFault, StoreRefusal
from waybread_daemon.store.sqlite import SqliteStore
from waybread_daemon.store.sqlite.statements import value

ROOT = Path(__file__).resolve().parents[4]


def check(path: Path) -> None:
    """The file is whole, and so is what is in it."""
    cursor = apsw.Connection(str(path)).cursor()
    assert value(cursor, "PRAGMA integrity_check") == "ok"
    # Every entry has its event's row and its session, and a body is somewhere.
    assert value(cursor, "SELECT count(*) FROM entry") == value(cursor, "SELECT count(*) FROM event")
    orphans = "SELECT count(*) FROM entry WHERE {} NOT IN (SELECT {} FROM {})"
    assert value(cursor, orphans.format("session", "number", "session")) == 0
    assert value(cursor, orphans.format("content IS NOT NULL AND content", "id", "content")) == 0


def test_a_second_daemon_on_the_same_store_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    first = SqliteStore.open(path, clock_ms=now_ms)
    with pytest.raises(StoreRefusal, match="Another Waybread serves the store"):
        SqliteStore.open(path, clock_ms=now_ms)
    assert first.epoch


async def test_a_store_that_was_closed_can_be_opened_again_and_leaves_one_file_and_its_lock(tmp_path: Path) -> None:
    for _ in range(2):
        store = SqliteStore.open(tmp_path / "store.sqlite", clock_ms=now_ms)
        await store.start()
        assert await store.look(lambda reader: reader.head(1)) == 0
        await store.close()
    assert sorted(os.listdir(tmp_path)) == ["store.sqlite", "store.sqlite.lock"]  # noqa: PTH208 - a loop is running


def kill_under_load(path: Path, name: str, lines: int) -> list[int]:
    """What a child acknowledged before it was killed in the middle of its work."""
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.daemon.store.sqlite.child", str(path), name],
        stdout=subprocess.PIPE,
        cwd=ROOT,
    )
    assert child.stdout is not None
    acknowledged = [int(child.stdout.readline()) for _ in range(lines)]
    child.kill()
    # What it printed between the last line read and its end counts, too; the last line may be cut.
    acknowledged += [int(line) for line in child.stdout.read().split(b"\n")[:-1]]
    child.stdout.close()
    child.wait()
    return acknowledged


async def test_what_was_acknowledged_before_a_kill_is_there(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    noise = random.Random(1)
    expected: dict[int, bytes] = {}
    for n in range(4):
        acknowledged = await asyncio.to_thread(kill_under_load, path, f"s{n}", noise.randrange(1, 1200))
        expected |= {seq: b"%d " % seq * 300 for seq in acknowledged}
        store = SqliteStore.open(path, clock_ms=now_ms, grace_ms=0)
        await store.start()
        head, found = await store.look(rows)
        await store.close()
        assert list(found) == list(range(1, head + 1))
        assert [seq for seq in expected if found.get(seq) not in {expected[seq], None}] == []
        assert [seq for seq in acknowledged if seq not in found] == []
        check(path)


def rows(reader: Reader) -> tuple[int, dict[int, bytes | None]]:
    return reader.head(1), {row.seq: row.body for row in reader.rows(1, 0, None, 10**6)}


def page(reader: Reader, session: int) -> list[Row]:
    return reader.rows(1, 0, session, 99)


@pytest.mark.parametrize("kinds", ["write", "sync", "open", "read", "write sync"])
@pytest.mark.parametrize("full", [False, True])
async def test_a_disk_that_fails_one_call_loses_nothing_and_the_store_goes_on(
    tmp_path: Path, kinds: str, *, full: bool
) -> None:
    place = SqlitePlace(tmp_path)
    store = await place.open(grace_ms=0)
    seq, number, acknowledged = 0, 0, 0
    data = random.Random(1).randbytes(600_000)
    for call in range(0, 45, 3 if full else 1):
        log = Log(store, seq=seq)
        session = store.new_session()
        place.vfs.fail(*kinds.split(), full=full, from_call=call, only_one=True)
        with contextlib.suppress(StoreFault):
            number += 1
            session, opened = log.open(f"s{number}")
            await opened
            await asyncio.gather(*(log.result(session) for _ in range(5)))
            await log.read(session, sha(data), await store.stage(1, sha(data), data, text=False))
            await store.look(partial(page, session=session))
            await log.delete(session)
            acknowledged = log.seq
        place.mend_disk()
        await store.settled()
        seq = await store.look(lambda reader: reader.head(1))
        assert seq >= acknowledged
    log = Log(store, seq=seq)
    session = await log.session("after")
    await log.result(session, b"well again")
    await store.close()
    store = await place.open()
    row = await store.look(lambda reader: reader.result(session, 1))
    assert row is not None
    assert (row.seq, row.body) == (seq + 2, b"well again")
    await store.close()
    check(place.path)


async def test_a_disk_that_cannot_open_the_file_refuses_the_start_with_a_sentence(tmp_path: Path) -> None:
    place = SqlitePlace(tmp_path)
    await (await place.open()).close()
    for kind in ("open", "read"):
        place.vfs.fail(kind)
        with pytest.raises(StoreRefusal, match="cannot be opened"):
            await place.open()
        place.mend_disk()
    await (await place.open()).close()
