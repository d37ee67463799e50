import asyncio
import time
from contextlib import suppress

from waybread_daemon.watching.counts import Histogram
from waybread_daemon.watching.lag import sample_lag


async def test_a_loop_that_is_held_up_shows_by_how_long() -> None:
    lag_s = Histogram(0.1, 10)
    sampling = asyncio.create_task(sample_lag(lag_s, 0.01))
    await asyncio.sleep(0.1)
    unhindered = list(lag_s.counts)
    time.sleep(0.3)  # noqa: ASYNC251  # the loop is to be held up
    await asyncio.sleep(0.05)
    sampling.cancel()
    with suppress(asyncio.CancelledError):
        await sampling
    assert unhindered[0] >= 1
    assert lag_s.counts[1] >= 1
    assert lag_s.sum > 0.2
    assert lag_s.counts[2] == 0
