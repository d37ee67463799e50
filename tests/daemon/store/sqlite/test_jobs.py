"""Work for the writing thread, and its outcome in the loop."""

import asyncio

import apsw
import pytest

from tests.daemon.store.opened import Opened, opened
from waybread_daemon.store.contract import StoreFault
from waybread_daemon.store.sqlite.jobs import Job
from waybread_daemon.store.sqlite.statements import run, value
from waybread_protocol.errors import ErrorCode

__all__ = ["opened"]


async def test_a_job_commits_and_then_tells_its_result(opened: Opened) -> None:
    future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    job = Job(lambda cursor: len(run(cursor, "DELETE FROM meta RETURNING 1")), future)
    succeed = job.run(opened.connection)
    assert not opened.connection.in_transaction
    assert not future.done()
    succeed()
    assert await future == 3
    assert value(opened.cursor, "SELECT count(*) FROM meta") == 0


async def test_a_job_that_raises_commits_nothing(opened: Opened) -> None:
    future: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def work(cursor: apsw.Cursor) -> None:
        run(cursor, "DELETE FROM meta")
        raise apsw.FullError

    job = Job(work, future)
    with pytest.raises(apsw.FullError):
        job.run(opened.connection)
    run(opened.cursor, "ROLLBACK")
    assert value(opened.cursor, "SELECT count(*) FROM meta") == 3
    job.fail(StoreFault(ErrorCode.STORAGE_FULL, "full"))
    with pytest.raises(StoreFault, match="storage_full: full"):
        await future


async def test_nobody_has_to_wait_for_it_any_more(opened: Opened) -> None:
    future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    job = Job(lambda _: None, future)
    future.cancel()
    job.run(opened.connection)()
    job.fail(StoreFault(ErrorCode.INTERNAL, "late"))
    assert future.cancelled()
