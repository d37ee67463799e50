"""One connection: `hello`, parts, and what a daemon says that is no message."""

import pytest

from tests.client.fake import TOKEN, Side, done, fake_daemon
from waybread_client.errors import Denied, LinkEnded, Lost
from waybread_client.wire import Peer, open_wire
from waybread_protocol.errors import CloseCode
from waybread_protocol.messages import BaseRequest, Done, Error, Part, Struct

PART = Part(index=0, last=False, data=b"\x80")


async def refusing(side: Side, code: str, retry: bool) -> None:
    hello = side.codec.decode(await side.socket.recv())
    assert isinstance(hello, BaseRequest)
    await side.socket.send(side.codec.encode(Error(re=hello.id, code=code, message="because", retry=retry)))


@pytest.mark.parametrize(
    "code, retry, kind",
    [("unauthenticated", False, Denied), ("busy", True, Lost), ("bad_message", False, LinkEnded)],
)
async def test_a_refused_hello_says_whether_to_try_again(code: str, retry: bool, kind: type[Exception]) -> None:
    async def script(side: Side) -> None:
        await refusing(side, code, retry)

    async with fake_daemon(script) as fake:
        with pytest.raises(kind, match="because") as fault:
            await open_wire(Peer(url=fake.url, token=TOKEN), 1)
        assert type(fault.value) is kind


async def test_an_answer_that_is_no_welcome_ends_it() -> None:
    async def script(side: Side) -> None:
        hello = side.codec.decode(await side.socket.recv())
        assert isinstance(hello, BaseRequest)
        await side.socket.send(side.codec.encode(done(hello.id)))

    async with fake_daemon(script) as fake:
        with pytest.raises(LinkEnded, match="something else than `welcome`"):
            await open_wire(Peer(url=fake.url, token=TOKEN), 1)


async def test_a_hello_without_an_answer_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("waybread_client.wire.HELLO_TIMEOUT_S", 0.05)

    async def script(side: Side) -> None:
        await side.socket.recv()

    async with fake_daemon(script) as fake:
        with pytest.raises(Lost, match="did not answer `hello`"):
            await open_wire(Peer(url=fake.url, token=TOKEN), 1)


@pytest.mark.parametrize(
    "frames, sentence",
    [
        ([PART, done(1)], "between the parts"),
        ([Part(index=1, last=True, data=b"x")], "part 1 came where part 0"),
        ([PART, Part(index=2, last=True, data=b"x")], "part 2 came where part 1"),
        ([PART, Part(index=0, last=True, data=b"x")], "part 0 came where part 1"),
    ],
)
async def test_parts_that_do_not_fit_close_the_connection(frames: list[Struct], sentence: str) -> None:
    closes: list[int | None] = []

    async def script(side: Side) -> None:
        await side.welcome()
        await side.say(*frames)
        await side.socket.wait_closed()
        closes.append(side.socket.close_code)

    async with fake_daemon(script) as fake:
        wire = await open_wire(Peer(url=fake.url, token=TOKEN), 1)
        with pytest.raises(Lost, match=sentence):
            await wire.receive()
    assert closes == [CloseCode.UNDECODABLE]


async def test_a_joined_message_over_the_limit_closes_with_1009() -> None:
    closes: list[int | None] = []

    async def script(side: Side) -> None:
        await side.welcome()
        for index in range(10):
            await side.say(Part(index=index, last=False, data=b"x" * 1000))
        await side.socket.wait_closed()
        closes.append(side.socket.close_code)

    async with fake_daemon(script) as fake:
        wire = await open_wire(Peer(url=fake.url, token=TOKEN, max_message=4096), 1)
        with pytest.raises(Lost, match="over the limit of 4096"):
            await wire.receive()
    assert closes == [CloseCode.TOO_LARGE]


async def test_a_frame_over_the_limit_closes_with_1009() -> None:
    closes: list[int | None] = []

    async def script(side: Side) -> None:
        await side.welcome()
        await side.socket.send(b"x" * 4097)
        await side.socket.wait_closed()
        closes.append(side.socket.close_code)

    async with fake_daemon(script) as fake:
        wire = await open_wire(Peer(url=fake.url, token=TOKEN, max_frame=4096), 1)
        with pytest.raises(Lost):
            await wire.receive()
    assert closes == [CloseCode.TOO_LARGE]


async def test_a_close_while_sending_is_a_lost_connection() -> None:
    async def script(side: Side) -> None:
        await side.welcome()
        await side.drop()

    async with fake_daemon(script) as fake:
        wire = await open_wire(Peer(url=fake.url, token=TOKEN), 1)
        with pytest.raises(Lost):
            await wire.receive()
        with pytest.raises(Lost):
            await wire.send(b"x")
        await wire.close()


async def test_messages_around_parts_come_in_their_order() -> None:
    async def script(side: Side) -> None:
        await side.welcome()
        encoded = side.codec.encode(Done(re=2, seq=2))
        await side.say(done(1), Part(index=0, last=False, data=encoded[:3]), Part(index=1, last=True, data=encoded[3:]))
        await side.say(done(3))

    async with fake_daemon(script) as fake:
        wire = await open_wire(Peer(url=fake.url, token=TOKEN), 1)
        numbers = [await wire.receive() for _ in range(3)]
        assert [message.re for message in numbers if isinstance(message, Done)] == [1, 2, 3]
        await wire.close()
