from __future__ import annotations

import asyncio
from typing import cast

from structlog.typing import FilteringBoundLogger

from waybread_daemon.life.readiness import tell_readiness


class Log:
    def __init__(self) -> None:
        self.lines: list[tuple[str, str, dict[str, object]]] = []

    def error(self, event: str, **fields: object) -> None:
        self.lines.append(("error", event, fields))

    def info(self, event: str, **fields: object) -> None:
        self.lines.append(("info", event, fields))


async def test_it_is_told_once_when_it_begins_and_once_when_it_ends_however_the_reason_changes() -> None:
    log, why = Log(), ""
    telling = asyncio.create_task(tell_readiness(cast("FilteringBoundLogger", log), lambda: why, interval_s=0.001))

    async def looked() -> None:
        await asyncio.sleep(0.05)

    await looked()
    assert log.lines == []
    why = "1 MiB is free"
    await looked()
    why = "0 bytes are free"
    await looked()
    assert log.lines == [("error", "not_ready", {"why": "1 MiB is free"})]
    why = ""
    await looked()
    why = "the disk failed"
    await looked()
    telling.cancel()
    await asyncio.gather(telling, return_exceptions=True)
    assert log.lines[1:] == [("info", "ready_again", {}), ("error", "not_ready", {"why": "the disk failed"})]
