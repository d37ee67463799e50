"""A daemon that is killed loses nothing that it acknowledged."""

from __future__ import annotations

import asyncio
import hashlib
import random
from pathlib import Path

import msgspec
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from tests.running import Daemon, running
from waybread_client import Link
from waybread_protocol.messages import Inserted, Result, TextBody

RESULTS = 1000


def _text(number: int) -> str:
    return hashlib.sha256(str(number).encode()).hexdigest() * (1 + number % 40)


async def _pipelined_until_killed(daemon: Daemon, token: str, kill_after: int) -> dict[int, str]:
    """Sends 1,000 results without waiting and kills the daemon in their midst: the answers that came, by number."""
    answered: dict[int, str] = {}
    async with connect(daemon.url, subprotocols=[Subprotocol("waybread.v1.msgpack")], compression=None) as socket:

        async def say(**fields: object) -> None:
            await socket.send(msgspec.msgpack.encode(fields))

        await say(type="hello", id=1, token=token, client="crash")
        await socket.recv()
        await say(type="open", id=1, session="s", kind="agent")
        await socket.recv()

        async def send() -> None:
            for number in range(RESULTS):
                body = {"kind": "text", "text": _text(number)}
                await say(type="result", id=number + 2, session="s", key=f"{number:04}", tool="bash", body=body)

        sending = asyncio.create_task(send())
        try:
            async for frame in socket:
                assert isinstance(frame, bytes)
                answer = msgspec.msgpack.decode(frame)
                answered[answer["re"] - 2] = answer["result"]
                if len(answered) == kill_after:
                    daemon.kill()
        except ConnectionClosed:
            pass
        await asyncio.gather(sending, return_exceptions=True)
    return answered


@pytest.mark.parametrize("kill_after", [1, 40, 250, 600])
async def test_after_sigkill_amid_1000_pipelined_results_every_acknowledged_one_is_there_and_no_id_twice(
    tmp_path: Path, kill_after: int
) -> None:
    with running(tmp_path / "data") as daemon:
        token = daemon.token()
        answered = await _pipelined_until_killed(daemon, token, kill_after)
    assert kill_after <= len(answered)
    with running(tmp_path / "data") as daemon:
        async with Link(daemon.url, token) as link:
            session = await link.open("s", "agent")
            kept = session.opened.results
            assert kept >= len(answered)
            # Requests of one session are carried out in order: what is there is the first of them, without a gap.
            assert sorted(answered.values()) == [f"#{number:04x}" for number in range(1, len(answered) + 1)]
            for number in range(kept):
                assert await session.show_all(f"{number + 1:x}") == _text(number)
            # A retry by key: what was carried out gets its first answer, what was not is carried out now.
            for number in random.Random(kill_after).sample(range(RESULTS), 60):
                answer = await link.ask(_request(link, number), Inserted)
                assert answer.text.partition("\n")[2] == _text(number)
                if number < kept:
                    assert (answer.repeated, answer.result) == (True, f"#{number + 1:04x}")
                else:
                    assert not answer.repeated
                    assert int(answer.result[1:], 16) > kept
            page = await session.history(limit=1000)
            assert page.head == page.entries[-1].seq
            assert [entry.seq for entry in page.entries] == list(range(page.entries[0].seq, page.head + 1))


def _request(link: Link, number: int) -> Result:
    return Result(id=link.next_id(), session="s", key=f"{number:04}", tool="bash", body=TextBody(text=_text(number)))
