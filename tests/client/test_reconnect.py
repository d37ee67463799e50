"""The link over connections that break: each thing done once and in order, and no storm of new connections."""

import asyncio

import pytest

from tests.client.fake import LIMITS, Side, Waits, done, fake_daemon, inserted, link_to, opened
from waybread_client import Refused, Session
from waybread_protocol.errors import CloseCode
from waybread_protocol.messages import BaseRequest, Done, Inserted, Turn


class KeyedDaemon:
    """Does each thing once, by its key, over any number of connections; breaks the first one at a chosen point."""

    def __init__(self, drop_at: tuple[int, str]) -> None:
        self.drop_at = drop_at
        self.done: dict[str, int] = {}
        self.order: list[str] = []
        self.heard: list[list[tuple[int, str]]] = []

    async def play(self, side: Side) -> None:
        await side.welcome()
        heard: list[tuple[int, str]] = []
        self.heard.append(heard)
        for number in range(1, 1000):
            if await self._drop(side, number, "before hearing"):
                return
            request = await side.hear()
            if await self._drop(side, number, "before doing"):
                return
            answer = self._do(request, heard)
            if await self._drop(side, number, "before answering"):
                return
            await side.say(answer)
            if await self._drop(side, number, "after answering"):
                return

    async def _drop(self, side: Side, number: int, point: str) -> bool:
        if side.number == 1 and (number, point) == self.drop_at:
            await side.drop()
            return True
        return False

    def _do(self, request: BaseRequest, heard: list[tuple[int, str]]) -> Done | Inserted:
        key = request.turn if isinstance(request, Turn) else getattr(request, "key", "")
        heard.append((request.id, key))
        repeated = key in self.done
        if not repeated:
            self.done[key] = len(self.done) + 1
            self.order.append(f"turn {key}" if isinstance(request, Turn) else getattr(request, "tool", ""))
        if isinstance(request, Turn):
            return Done(re=request.id, seq=self.done[key], repeated=repeated)
        return inserted(request.id, self.done[key], repeated=repeated)


POINTS = ("before hearing", "before doing", "before answering", "after answering")


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("number", [1, 2, 3, 4, 5])
async def test_a_connection_lost_at_any_point_does_each_thing_once_and_in_order(number: int, point: str) -> None:
    daemon = KeyedDaemon((number, point))

    async def script(side: Side) -> None:
        await daemon.play(side)

    async with fake_daemon(script) as fake, link_to(fake) as link:
        session = Session(link, opened(1))
        answers = await asyncio.gather(
            session.turn("t1"),
            session.result("one", {}, "1"),
            session.result("two", {}, "2"),
            session.turn("t2"),
            session.result("three", {}, "3"),
        )
        await session.result("four", {}, "4")
        # Where all was answered before the break, the last result finds it and goes on the next connection.
        assert fake.connections == 2
    assert [answer.seq for answer in answers] == [1, 2, 3, 4, 5]
    assert daemon.order == ["turn t1", "one", "two", "turn t2", "three", "four"]
    assert len(daemon.done) == 6


async def test_after_a_break_the_unanswered_requests_come_first_in_order_with_the_same_keys() -> None:
    daemon = KeyedDaemon((3, "before answering"))

    async def script(side: Side) -> None:
        await daemon.play(side)

    async with fake_daemon(script) as fake, link_to(fake) as link:
        session = Session(link, opened(1))
        await asyncio.gather(*(session.result(name, {}, name) for name in ("a", "b", "c", "d", "e")))
    before, after = daemon.heard
    assert len(before) == 3
    assert after[0] == before[2]
    assert [number for number, _ in after] == sorted(number for number, _ in after)
    assert len(after) == 3


@pytest.mark.parametrize("end", [1001, 1012, 1013, 4408, None])
async def test_the_link_comes_back_after_every_end_that_is_not_final(end: int | None) -> None:
    waits = Waits()

    async def script(side: Side) -> None:
        await side.welcome()
        if side.number < 4:
            await (side.drop() if end is None else side.socket.close(end))
        else:
            await side.say(done((await side.hear()).id))

    async with fake_daemon(script) as fake, link_to(fake, waits=waits) as link:
        await link.ping()
        assert (fake.connections, waits.waits_s) == (4, [0.25, 0.5, 1.0])


async def test_waits_get_longer_though_each_connection_is_welcomed_and_shorter_once_one_held(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waits = Waits()
    sixth = asyncio.Event()

    async def script(side: Side) -> None:
        await side.welcome()
        if side.number == 4:
            # From here on any time is as long as the cap: this connection counts as one that held.
            monkeypatch.setattr("waybread_client.link.CAP_S", 0.0)
        if side.number < 6:
            await side.drop()
        else:
            sixth.set()

    async with fake_daemon(script) as fake, link_to(fake, waits=waits):
        await sixth.wait()
    assert waits.waits_s == [0.25, 0.5, 1.0, 0.25, 0.25]


async def test_what_is_no_message_closes_the_connection_and_the_link_comes_back() -> None:
    async def script(side: Side) -> None:
        await side.welcome()
        odd: list[str | bytes] = ["text on a binary link", b"\xc1", side.codec.encode(done(1))[:-1]]
        request = await side.hear()
        if side.number <= len(odd):
            await side.socket.send(odd[side.number - 1])
            await side.socket.wait_closed()
            assert side.socket.close_code == CloseCode.UNDECODABLE
        else:
            await side.say(done(request.id))

    async with fake_daemon(script) as fake, link_to(fake) as link:
        await link.ping()
        assert fake.connections == 4


async def test_a_waiting_request_that_a_restarted_daemon_no_longer_takes_is_refused() -> None:
    async def script(side: Side) -> None:
        if side.number == 2:
            side.limits = type(LIMITS)(max_frame=4096, max_message=4096, page_bytes=1024)
        await side.welcome()
        await side.hear()
        if side.number == 1:
            await side.drop()

    async with fake_daemon(script) as fake, link_to(fake) as link:
        with pytest.raises(Refused, match="limit is 4096"):
            await Session(link, opened(1)).result("bash", {}, "x" * 5000)
        assert fake.connections == 2
