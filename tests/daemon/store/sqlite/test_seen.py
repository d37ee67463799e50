"""Uses of tokens, written one batch at a time."""

import asyncio

import pytest

from waybread_daemon.store.contract import StoreFault
from waybread_daemon.store.sqlite.seen import Seen
from waybread_protocol.errors import ErrorCode


class Writes:
    def __init__(self) -> None:
        self.batches: list[dict[str, int]] = []
        self.futures: list[asyncio.Future[None]] = []

    def __call__(self, seen: dict[str, int]) -> asyncio.Future[None]:
        self.batches.append(seen)
        self.futures.append(asyncio.get_running_loop().create_future())
        return self.futures[-1]


async def test_what_comes_while_a_batch_is_written_goes_into_the_next() -> None:
    writes = Writes()
    seen = Seen(writes)
    first = seen.note("a", 1)
    rest = [seen.note(token, at_ms) for token, at_ms in (("a", 3), ("b", 2), ("a", 2))]
    assert writes.batches == [{"a": 1}]
    writes.futures[0].set_result(None)
    await first
    assert writes.batches == [{"a": 1}, {"a": 3, "b": 2}]
    writes.futures[1].set_result(None)
    await asyncio.gather(*rest)
    await seen.finish()
    assert len(writes.batches) == 2


async def test_a_fault_reaches_whoever_waits_and_nobody_else() -> None:
    writes = Writes()
    seen = Seen(writes)
    waited, ignored = seen.note("a", 1), seen.note("b", 2)
    writes.futures[0].set_exception(StoreFault(ErrorCode.INTERNAL, "broken"))
    with pytest.raises(StoreFault, match="broken"):
        await waited
    writes.futures[1].set_result(None)
    await ignored
    assert writes.batches == [{"a": 1}, {"b": 2}]


async def test_finish_waits_for_the_last_batch() -> None:
    writes = Writes()
    seen = Seen(writes)
    seen.note("a", 1)
    seen.note("b", 2)
    finishing = asyncio.ensure_future(seen.finish())
    for n in range(2):
        await asyncio.sleep(0.01)
        assert not finishing.done()
        writes.futures[n].set_result(None)
    await asyncio.wait_for(finishing, 5)
