"""A process of its own with a store under load, for tests that kill it.

It appends results to one session without end and prints the `seq` of each once it is done.
"""

import asyncio
import sys
from functools import partial
from pathlib import Path

from tests.daemon.store.stores import Log, sha
from waybread_daemon.clock import now_ms
from waybread_daemon.store.sqlite import SqliteStore


async def main(path: Path, name: str) -> None:
    store = SqliteStore.open(path, clock_ms=now_ms, grace_ms=0)
    await store.start()
    log = Log(store, seq=await store.look(lambda reader: reader.head(1)))
    session = await log.session(name)
    data = name.encode() * 100_000
    await log.read(session, sha(data), await store.stage(1, sha(data), data, text=False))
    window = asyncio.Semaphore(64)

    def done(seq: int, future: asyncio.Future[None]) -> None:
        future.result()
        print(seq, flush=True)
        window.release()

    while True:
        await window.acquire()
        seq = log.seq + 1
        future = log.read(session, sha(data), None) if seq % 50 == 0 else log.result(session, b"%d " % seq * 300)
        future.add_done_callback(partial(done, seq))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
