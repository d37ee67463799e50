"""A disk that fails and recovers again and again while many requests are on their way at once."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest

from tests.crash.survey import survey
from tests.faults.disk import Call, Disk, Fault
from tests.faults.house import Caller, calling, new_token, serving
from waybread_client.wire import Peer, Wire, open_wire
from waybread_daemon.serving import STORE_NAME
from waybread_protocol.codec import client_codec
from waybread_protocol.errors import ErrorCode
from waybread_protocol.limits import SUBPROTOCOL_MSGPACK
from waybread_protocol.messages import Entry, Error, Inserted, Open, Opened, Page, Result, Sync, TextBody

_CODEC = client_codec(SUBPROTOCOL_MSGPACK)
CLIENTS = 4
RESULTS = 300
WINDOW = 12
LARGE_EACH = 25


class Client:
    """Sends results without waiting, some of them large, and sends again what failed."""

    def __init__(self, name: int) -> None:
        self.inserted: dict[str, Inserted] = {}
        """What was acknowledged, by the text that was sent."""
        self.errors: list[Error] = []
        self._name = name
        self._texts = [self._text(number) for number in range(RESULTS)]

    def _text(self, number: int) -> str:
        line = f"client {self._name} result {number}\n"
        return line * (300_000 // len(line)) if number % LARGE_EACH == 5 else line

    async def run(self, url: str, token: str) -> None:
        wire = await open_wire(Peer(url=url, token=token, client="faults"), 10**6)
        try:
            left = list(range(RESULTS))
            waiting: set[int] = set()
            while left or waiting:
                while left and len(waiting) < WINDOW:
                    number = left.pop(0)
                    waiting.add(number)
                    await wire.send(_CODEC.encode(self._request(number)))
                number = await self._hear(wire)
                waiting.remove(number)
                if self._texts[number] not in self.inserted:
                    left.insert(0, number)
        finally:
            await wire.close()

    def _request(self, number: int) -> Result:
        # All in one session, so that each one's number hangs on all the others'.
        body = TextBody(text=self._texts[number])
        args = {"client": self._name, "number": number}
        return Result(id=number + 1, session="s", key=f"{self._name} {number}", tool="bash", args=args, body=body)

    async def _hear(self, wire: Wire) -> int:
        answer = await wire.receive()
        if isinstance(answer, Error):
            assert answer.retry, answer
            assert answer.code in (ErrorCode.STORAGE_FULL, ErrorCode.INTERNAL, ErrorCode.BUSY), answer
            self.errors.append(answer)
        else:
            assert isinstance(answer, Inserted), answer
            self.inserted[self._texts[answer.re - 1]] = answer
        return answer.re - 1


async def fail_now_and_then(disk: Disk, calls: tuple[Call, ...], chance: random.Random) -> None:
    """Until it is cancelled. A commit has dozens of writes and one sync."""
    spread = 60 if "write" in calls else 2
    while True:
        way = chance.choice(["EIO", "ENOSPC", "short"])
        disk.fail(Fault(calls, way, chance.randint(1, spread), chance.randint(1, spread)))  # type: ignore[arg-type]
        await asyncio.sleep(chance.uniform(0.005, 0.03))
        disk.mend()
        await asyncio.sleep(chance.uniform(0.005, 0.03))


async def all_entries(caller: Caller) -> list[Entry]:
    entries: list[Entry] = []
    more, after = True, 0
    while more:
        page = await caller.look(Sync(id=caller.next_id(), after=after, epoch=caller.epoch), Page)
        entries += page.entries
        after, more = page.next, page.more
    return entries


@pytest.mark.parametrize("calls", [("write",), ("sync",), ("write", "sync", "read", "open")])
async def test_requests_in_flight_while_commits_fail_again_and_again_are_stored_once_each_without_a_gap(
    tmp_path: Path, calls: tuple[Call, ...]
) -> None:
    data = tmp_path / "data"
    token = new_token(data)
    disk = Disk(f"disk {tmp_path.name}")
    clients = [Client(name) for name in range(CLIENTS)]
    async with serving(data, disk) as url, calling(url, token) as caller:
        await caller.look(Open(id=caller.next_id(), session="s", kind="agent"), Opened)
        failing = asyncio.create_task(fail_now_and_then(disk, calls, random.Random(1)))
        async with asyncio.TaskGroup() as tasks:
            for client in clients:
                tasks.create_task(client.run(url, token))
        failing.cancel()
        disk.mend()
        assert sum(len(client.errors) for client in clients) > 10
    inserted = [answer for client in clients for answer in client.inserted.values()]
    total = CLIENTS * RESULTS
    # One number and one `seq` each, none left out, in the same order.
    in_order = sorted(inserted, key=lambda answer: answer.seq)
    assert [answer.seq for answer in in_order] == list(range(2, total + 2))
    assert [answer.result for answer in in_order] == [f"#{number:04x}" for number in range(1, total + 1)]
    assert survey(data / STORE_NAME).head(1) == total + 1
    async with serving(data) as url, calling(url, token) as caller:
        entries = (await all_entries(caller))[1:]
        assert [entry.result for entry in entries] == [answer.result for answer in in_order]
        assert all(answer.text.startswith(entry.text) for entry, answer in zip(entries, in_order, strict=True))
