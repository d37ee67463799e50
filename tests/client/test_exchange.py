"""Requests that wait for their answers: bounded, in order."""

import asyncio

import pytest

from tests.client.fake import done
from waybread_client.errors import AnswerError, LinkClosed, Refused
from waybread_client.exchange import Exchange
from waybread_protocol.messages import Answer


async def start(exchange: Exchange, number: int, encoded: bytes) -> asyncio.Task[Answer]:
    task = asyncio.create_task(exchange.ask(number, encoded))
    await asyncio.sleep(0)
    return task


async def sent(exchange: Exchange) -> list[bytes]:
    out: list[bytes] = []
    while True:
        try:
            out.append(await asyncio.wait_for(exchange.next_to_send(), 0.01))
        except TimeoutError:
            return out


async def test_no_more_wait_than_the_bound_and_the_others_come_in_their_order() -> None:
    exchange = Exchange(waiting_max=2)
    tasks = [await start(exchange, number, b"%d" % number) for number in range(1, 6)]
    assert await sent(exchange) == [b"1", b"2"]
    exchange.hear(done(2))
    assert await sent(exchange) == [b"3"]
    exchange.hear(done(1))
    exchange.hear(done(3))
    assert await sent(exchange) == [b"4", b"5"]
    exchange.hear(done(5))
    exchange.hear(done(4))
    assert [answer.re for answer in await asyncio.gather(*tasks)] == [1, 2, 3, 4, 5]


async def test_bytes_are_bounded_and_one_that_is_larger_goes_alone() -> None:
    exchange = Exchange(waiting_max_bytes=10)
    tasks = [await start(exchange, 1, b"x" * 6), await start(exchange, 2, b"y" * 50), await start(exchange, 3, b"z")]
    assert await sent(exchange) == [b"x" * 6]
    exchange.hear(done(1))
    assert await sent(exchange) == [b"y" * 50]
    exchange.hear(done(2))
    assert await sent(exchange) == [b"z"]
    exchange.hear(done(3))
    await asyncio.gather(*tasks)


async def test_beginning_again_sends_the_unanswered_first_and_in_order() -> None:
    exchange = Exchange()
    tasks = [await start(exchange, number, b"%d" % number) for number in (1, 2, 3)]
    assert await sent(exchange) == [b"1", b"2", b"3"]
    exchange.hear(done(2))
    tasks.append(await start(exchange, 4, b"4"))
    exchange.begin_again(max_message=100)
    assert await sent(exchange) == [b"1", b"3", b"4"]
    for number in (1, 3, 4):
        exchange.hear(done(number))
    await asyncio.gather(*tasks)


async def test_beginning_again_refuses_what_has_become_too_large() -> None:
    exchange = Exchange()
    large, small = await start(exchange, 1, b"x" * 101), await start(exchange, 2, b"x" * 100)
    exchange.begin_again(max_message=100)
    with pytest.raises(Refused, match="101 bytes and the daemon's limit is 100"):
        await large
    assert await sent(exchange) == [b"x" * 100]
    exchange.hear(done(2))
    await small


async def test_who_gives_up_is_not_sent_and_frees_its_room() -> None:
    exchange = Exchange(waiting_max=1)
    first, second = await start(exchange, 1, b"1"), await start(exchange, 2, b"2")
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    assert await sent(exchange) == [b"2"]
    exchange.hear(done(1))
    exchange.hear(done(2))
    assert (await second).re == 2


async def test_a_second_answer_to_one_request_is_passed_over() -> None:
    exchange = Exchange()
    task = await start(exchange, 1, b"1")
    exchange.hear(done(1))
    exchange.hear(done(1))
    exchange.misunderstand(1, "late")
    assert (await task).re == 1


async def test_the_hook_sees_the_answer_when_it_arrives() -> None:
    exchange = Exchange()
    seen: list[Answer] = []
    task = asyncio.create_task(exchange.ask(1, b"1", seen.append))
    await asyncio.sleep(0)
    exchange.hear(done(1))
    assert [answer.re for answer in seen] == [1]
    await task


async def test_the_end_reaches_who_waits_for_an_answer_and_who_waits_for_room() -> None:
    exchange = Exchange(waiting_max=1)
    tasks = [await start(exchange, 1, b"1"), await start(exchange, 2, b"2"), await start(exchange, 3, b"3")]
    exchange.end(LinkClosed())
    for task in tasks:
        with pytest.raises(LinkClosed):
            await task


async def test_an_answer_that_cannot_be_understood_fails_its_request() -> None:
    exchange = Exchange()
    task = await start(exchange, 1, b"1")
    exchange.misunderstand(1, "`seq` is no number")
    with pytest.raises(AnswerError, match="`seq` is no number"):
        await task
