"""The first message of a link: who speaks, in what form, until when."""

from __future__ import annotations

import asyncio
import contextlib
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest
from websockets.exceptions import ConnectionClosed

from tests.daemon.served import Served, serving
from tests.daemon.wire import CODECS, JSON, MSGPACK, Map, greeted, linked
from waybread_daemon.store.contract import Reader, StoreFault
from waybread_protocol.errors import ErrorCode


async def refused(served: Served, message: Map, codec: str = MSGPACK) -> Map:
    """The answer to a first message that is refused and closed with 4401."""
    async with linked(served.url, codec) as wire:
        await wire.say(message)
        answer = await wire.hear()
        assert await wire.close_code() == 4401
        return answer


@pytest.mark.parametrize("codec", CODECS)
async def test_welcome_says_who_is_linked_and_what_the_daemon_takes(served: Served, codec: str) -> None:
    device = await served.add_device("kitchen")
    token = await served.add_token(device, "agent")
    async with linked(served.url, codec) as wire:
        welcome = await wire.ask("hello", token=token, client="test 1")
    assert welcome == {
        "type": "welcome",
        "re": 1,
        "protocol": 1,
        "server": "waybread/test",
        "device": device.device,
        "name": "kitchen",
        "role": "agent",
        "epoch": served.store.epoch,
        "head": 0,
        "limits": {"max_frame": 1048576, "max_message": 67108864, "page_bytes": 262144},
        "features": ["session_lines"],
    }


async def test_welcome_tells_the_devices_last_number_and_not_another_devices(served: Served) -> None:
    device, other = await served.add_device(), await served.add_device()
    token = await served.add_token(device)
    async with greeted(served.url, token) as wire, greeted(served.url, await served.add_token(other)) as neighbour:
        await neighbour.ask("open", session="theirs", kind="agent")
        await neighbour.ask("turn", session="theirs", turn="one")
        await wire.ask("open", session="mine", kind="agent")
    async with linked(served.url) as wire:
        assert (await wire.ask("hello", token=token, client="c"))["head"] == 1


async def test_a_token_of_another_secret_an_unknown_one_an_empty_one_and_none_are_refused(served: Served) -> None:
    token = await served.new_token()
    public, _, secret = token.partition(".")
    for wrong in (f"{public}.{secret}x", f"{public}.", public, f"{'0' * 16}.{secret}", "", ".", "\0." + secret):
        answer = await refused(served, {"type": "hello", "id": 7, "token": wrong, "client": "c"})
        assert (answer["type"], answer["code"], answer["re"], answer["retry"]) == ("error", "unauthenticated", 7, False)
    answer = await refused(served, {"type": "hello", "id": 8, "client": "c"})
    assert (answer["code"], answer["re"]) == ("unauthenticated", 8)


async def test_a_revoked_token_is_refused(served: Served) -> None:
    token = await served.new_token()
    await served.revoke(token)
    assert (await refused(served, {"type": "hello", "id": 1, "token": token, "client": "c"}))["re"] == 1


async def test_a_one_time_code_is_refused_while_there_is_no_pairing(served: Served) -> None:
    answer = await refused(served, {"type": "hello", "id": 3, "code": "123456", "name": "phone", "client": "c"})
    assert (answer["code"], answer["re"]) == ("unauthenticated", 3)


@pytest.mark.parametrize("codec", CODECS)
async def test_another_message_first_is_refused_even_with_a_valid_token_beside_it(served: Served, codec: str) -> None:
    token = await served.new_token()
    for message, number in (
        ({"type": "ping", "id": 4, "token": token}, 4),
        ({"type": "open", "id": 5, "session": "s", "kind": "agent"}, 5),
        ({"type": "part", "index": 0, "last": True, "data": b"x"}, 0),
        ({"type": "wave", "id": 6, "token": token}, 6),
        ({"id": 9}, 9),
        ({"type": "result", "id": 10}, 10),
    ):
        answer = await refused(served, message, codec)
        assert (answer["code"], answer["re"]) == ("unauthenticated", number), message


async def test_a_first_message_of_64_kib_is_taken_and_one_byte_more_is_not(served: Served) -> None:
    token = await served.new_token()
    for codec in CODECS:
        bare: Map = {"type": "hello", "id": 1, "token": token, "client": "c", "padding": ""}
        async with linked(served.url, codec) as wire:
            # A MessagePack string of so many bytes takes two bytes more for its length than an empty one.
            padding = "x" * (65536 - len(wire.encode(bare)) - (0 if wire.text else 2))
            full = wire.encode(bare | {"padding": padding})
            assert len(full) == 65536
            await wire.say_bytes(full)
            assert (await wire.hear())["type"] == "welcome"
        answer = await refused(served, bare | {"padding": padding + "x"}, codec)
        assert (answer["code"], answer["re"]) == ("unauthenticated", 0)


async def test_the_64_kib_of_a_first_message_are_bytes_and_not_characters(served: Served) -> None:
    message = {"type": "hello", "id": 1, "token": await served.new_token(), "client": "c", "padding": "é" * 40_000}
    assert (await refused(served, message, JSON))["re"] == 0


async def test_a_frame_of_the_wrong_kind_and_an_undecodable_one_close_with_1007(served: Served) -> None:
    token = await served.new_token()
    hello = {"type": "hello", "id": 1, "token": token, "client": "c"}
    for codec, data, text in (
        (MSGPACK, msgspec.json.encode(hello), True),
        (JSON, msgspec.msgpack.encode(hello), False),
        (MSGPACK, msgspec.msgpack.encode(hello)[:-1], False),
        (JSON, msgspec.json.encode(hello)[:-1], True),
        (JSON, b"", True),
        (MSGPACK, b"", False),
    ):
        async with linked(served.url, codec) as wire:
            await wire.socket.send(data, text=text)
            with pytest.raises(ConnectionClosed):
                await wire.hear()
            assert wire.socket.close_code == 1007, (codec, data)


@pytest.mark.parametrize("codec", CODECS)
async def test_a_valid_token_beside_a_bad_field_is_told_so_and_may_say_hello_again(served: Served, codec: str) -> None:
    token = await served.new_token()
    async with linked(served.url, codec) as wire:
        for fields, code in (
            ({"max_frame": 4095}, "bad_message"),
            ({"max_message": 4095}, "bad_message"),
            ({"max_message": None}, "bad_message"),
            ({"client": 1}, "bad_message"),
            ({"client": "x" * 1025}, "too_large"),
        ):
            answer = await wire.ask("hello", **({"token": token, "client": "c"} | fields))
            assert (answer["type"], answer["code"]) == ("error", code), fields
        assert (await wire.ask("hello", token=token, client="c", max_frame=4096))["type"] == "welcome"
        assert (await wire.ask("ping"))["type"] == "done"


async def test_a_bad_field_beside_a_wrong_token_is_unauthenticated(served: Served) -> None:
    message = {"type": "hello", "id": 2, "token": "a.b", "client": "c", "max_frame": 1}
    assert (await refused(served, message))["re"] == 2


async def test_a_second_hello_is_a_bad_message_and_the_link_goes_on(served: Served) -> None:
    token = await served.new_token()
    async with greeted(served.url, token) as wire:
        again = await wire.ask("hello", token=token, client="c")
        assert (again["type"], again["code"]) == ("error", "bad_message")
        assert (await wire.ask("ping"))["type"] == "done"


async def test_without_hello_the_link_is_closed_at_the_deadline(tmp_path: Path) -> None:
    async with serving(tmp_path, hello_timeout_s=0.3) as served, linked(served.url) as wire:
        begun = time.monotonic()
        answer = await wire.hear()
        assert (answer["code"], answer["re"]) == ("unauthenticated", 0)
        assert await wire.close_code() == 4401
        assert 0.2 < time.monotonic() - begun < 3


async def test_hello_said_wrongly_again_and_again_does_not_move_the_deadline(tmp_path: Path) -> None:
    async with serving(tmp_path, hello_timeout_s=0.4) as served, linked(served.url) as wire:
        token, codes = await served.new_token(), set[str]()
        begun = time.monotonic()
        with contextlib.suppress(ConnectionClosed):
            while time.monotonic() - begun < 5:
                await wire.send("hello", token=token, client="c", max_frame=1)
                codes.add((await wire.hear())["code"])
                await asyncio.sleep(0.02)
        assert wire.socket.close_code == 4401
        assert codes <= {"bad_message", "unauthenticated"}


async def test_a_welcomed_link_outlives_the_deadline_of_hello(tmp_path: Path) -> None:
    async with (
        serving(tmp_path, hello_timeout_s=0.2) as served,
        greeted(served.url, await served.new_token()) as wire,
    ):
        await asyncio.sleep(0.4)
        assert (await wire.ask("ping"))["type"] == "done"


async def test_no_token_is_ever_logged(served: Served) -> None:
    token = await served.new_token()
    async with greeted(served.url, token) as wire:
        await wire.ask("hello", token=token, client="c")
    await refused(served, {"type": "hello", "id": 1, "token": token + "x", "client": "c"})
    assert served.log
    assert token.partition(".")[2] not in str(served.log)


async def test_a_link_opens_where_the_use_of_its_token_cannot_be_noted(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(token: str, at_ms: int) -> asyncio.Future[None]:
        noted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        noted.set_exception(StoreFault(ErrorCode.STORAGE_FULL, "the disk is full"))
        noted.exception()
        return noted

    token = await served.new_token()
    monkeypatch.setattr(served.store, "seen", full)
    async with greeted(served.url, token) as wire:
        assert (await wire.ask("sessions"))["sessions"] == []


async def test_a_store_that_cannot_be_read_closes_with_1013(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    token = await served.new_token()
    look = served.store.look

    async def broken(read: Any) -> object:
        raise StoreFault(ErrorCode.INTERNAL, "the disk does not answer")

    async def broken_but_for_tokens(read: Any) -> object:
        def only_tokens(reader: Reader) -> object:
            return read(reader)

        return await (look(only_tokens) if "valid_token" in read.__code__.co_names else broken(read))

    for fault in (broken, broken_but_for_tokens):
        monkeypatch.setattr(served.store, "look", fault)
        async with linked(served.url) as wire:
            await wire.say({"type": "hello", "id": 1, "token": token, "client": "c"})
            assert await wire.close_code() == 1013
