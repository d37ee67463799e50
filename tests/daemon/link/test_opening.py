"""First messages on real sockets: codes, and who is turned away before any token is looked at."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.http11 import Response
from websockets.typing import Subprotocol

from tests.daemon.served import Served, serving
from tests.daemon.waiting import until
from tests.daemon.wire import CODECS, JSON, MSGPACK, Map, Wire, greeted, linked
from waybread_daemon.link.pairing import PairingVoid
from waybread_daemon.store.contract import StoreFault
from waybread_protocol.errors import ErrorCode


async def refused(served: Served, message: Map) -> Map:
    """The answer to a first message after which the link is closed with 4401."""
    async with linked(served.url) as wire:
        await wire.say(message)
        answer = await wire.hear()
        assert await wire.close_code() == 4401
        return answer


async def turned_away(url: str, **options: Any) -> Response:
    """The answer to a handshake that is refused."""
    with pytest.raises(InvalidStatus) as refusal:
        async with connect(url, subprotocols=[Subprotocol(MSGPACK)], proxy=None, **options):
            pass
    return refusal.value.response


def body(response: Response) -> str:
    return (response.body or b"").decode()


def bad_hello(number: int = 1) -> Map:
    return {"type": "hello", "id": number, "token": "a.b", "client": "c"}


# --- Codes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("codec", CODECS)
async def test_a_code_gets_a_token_with_which_the_same_link_says_hello(served: Served, codec: str) -> None:
    offer = served.server.pairing.offer("", "viewer", "")
    async with linked(served.url, codec) as wire:
        paired = await wire.ask("hello", code=offer.code.lower().replace("-", " "), name="my phone", client="c")
        made = await offer.paired
        assert paired == {
            "type": "paired",
            "re": 1,
            "device": made.device.device,
            "role": "viewer",
            "token": made.token,
        }
        welcome = await wire.ask("hello", token=paired["token"], client="c")
        assert (welcome["type"], welcome["name"], welcome["role"]) == ("welcome", "my phone", "viewer")
        assert (await wire.ask("ping"))["type"] == "done"
    async with greeted(served.url, paired["token"], codec):
        pass


async def test_a_wrong_a_used_and_a_void_code_are_refused_as_a_wrong_token_is(served: Served) -> None:
    used, withdrawn = served.server.pairing.offer("", "device", ""), served.server.pairing.offer("", "device", "")
    served.server.pairing.withdraw(withdrawn)
    async with linked(served.url) as wire:
        assert (await wire.ask("hello", code=used.code, name="n", client="c"))["type"] == "paired"
    for code in ("0000-0000", used.code, withdrawn.code):
        answer = await refused(served, {"type": "hello", "id": 3, "code": code, "name": "n", "client": "c"})
        assert (answer["code"], answer["re"], answer["retry"]) == ("unauthenticated", 3, False)


async def test_a_code_is_not_used_up_by_a_hello_with_another_bad_field(served: Served) -> None:
    offer = served.server.pairing.offer("", "device", "")
    async with linked(served.url) as wire:
        answer = await wire.ask("hello", code=offer.code, name="n", client="c", max_frame=1)
        assert answer["code"] == "bad_message"
        assert (await wire.ask("hello", code=offer.code, name="n", client="c"))["type"] == "paired"
    answer = await refused(served, {"type": "hello", "id": 2, "code": "wrong", "client": "c", "max_frame": 1})
    assert (answer["code"], answer["re"]) == ("unauthenticated", 2)


async def test_a_token_and_a_code_in_one_hello_are_a_bad_message_and_use_nothing_up(served: Served) -> None:
    offer = served.server.pairing.offer("", "device", "")
    async with linked(served.url) as wire:
        answer = await wire.ask("hello", code=offer.code, token=await served.new_token(), client="c")
        assert answer["code"] == "bad_message"
        assert not offer.paired.done()
        assert (await wire.ask("hello", code=offer.code, client="c"))["type"] == "paired"


async def test_five_wrong_codes_over_links_make_all_void(served: Served) -> None:
    offer = served.server.pairing.offer("", "device", "")
    for _ in range(5):
        await refused(served, {"type": "hello", "id": 1, "code": "0000", "client": "c"})
    with pytest.raises(PairingVoid):
        await offer.paired
    await refused(served, {"type": "hello", "id": 1, "code": offer.code, "client": "c"})


async def test_of_links_that_say_one_code_at_once_one_is_paired(served: Served) -> None:
    offer = served.server.pairing.offer("", "device", "")

    async def say() -> str:
        async with linked(served.url) as wire:
            return str((await wire.ask("hello", code=offer.code, client="c"))["type"])

    assert sorted(await asyncio.gather(*(say() for _ in range(4)))) == ["error", "error", "error", "paired"]


async def test_where_the_store_refuses_the_client_may_try_the_same_code_again(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(*_: object) -> None:
        raise StoreFault(ErrorCode.STORAGE_FULL, "the disk is full")

    offer = served.server.pairing.offer("", "device", "")
    with monkeypatch.context() as patched:
        patched.setattr(served.store, "add_device", full)
        async with linked(served.url) as wire:
            answer = await wire.ask("hello", code=offer.code, client="c")
            assert (answer["code"], answer["retry"]) == ("storage_full", True)
            assert answer["message"] == "the disk is full; the code is still good: try again"
            assert await wire.close_code() == 1013
    async with linked(served.url) as wire:
        assert (await wire.ask("hello", code=offer.code, client="c"))["type"] == "paired"


async def test_the_deadline_breaks_off_no_pairing(tmp_path: Path) -> None:
    async with serving(tmp_path, hello_timeout_s=0.3) as served:
        add_device = served.store.add_device

        async def slow(*arguments: Any) -> Any:
            await asyncio.sleep(0.6)
            return await add_device(*arguments)

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(served.store, "add_device", slow)
            offer = served.server.pairing.offer("", "device", "")
            async with linked(served.url) as wire:
                paired = await wire.ask("hello", code=offer.code, client="c")
                assert paired["type"] == "paired"
                assert await wire.close_code() == 4401
        async with greeted(served.url, paired["token"]):
            pass


@pytest.mark.parametrize("field", ["client", "name", "other"])
async def test_half_a_surrogate_pair_beside_a_right_token_or_code_is_a_bad_message_and_the_link_goes_on(
    served: Served, field: str
) -> None:
    token, offer = await served.new_token(), served.server.pairing.offer("", "device", "")
    for number, secret in enumerate(({"token": token}, {"code": offer.code}), 1):
        async with linked(served.url, JSON) as wire:
            fields = {"type": "hello", "id": number, **secret, "client": "c", field: "x\ud800"}
            await wire.socket.send(json.dumps(fields))
            answer = await wire.hear()
            assert (answer["type"], answer["code"], answer["re"]) == ("error", "bad_message", number)
            answer = await wire.ask("hello", client="c", **secret)
            assert answer["type"] == ("welcome" if "token" in secret else "paired")


async def test_a_client_is_logged_by_name_and_version_or_not_at_all(served: Served) -> None:
    token = await served.new_token()
    code = served.server.pairing.offer("", "device", "").code
    for client in ("my-app/1.2", " ".join(code), code[:20], code.replace("-", ".")):
        async with linked(served.url) as wire:
            await wire.ask("hello", token=token, client=client)
    logged = [fields["client"] for event, fields in served.log if event == "link_opened"]
    assert logged == ["my-app/1.2", *["(no name/version)"] * 3]


async def test_neither_code_nor_token_is_logged(served: Served) -> None:
    offer = served.server.pairing.offer("", "device", "")
    async with linked(served.url) as wire:
        paired = await wire.ask("hello", code=offer.code, name="my phone", client="c")
    await refused(served, {"type": "hello", "id": 1, "code": offer.code, "client": "c"})
    log = str(served.log)
    assert "paired" in log
    for secret in (offer.code, offer.code.replace("-", ""), paired["token"], paired["token"].partition(".")[2]):
        assert secret not in log


# --- Limits ----------------------------------------------------------------------------------------------------------


async def test_after_ten_failed_hellos_an_address_gets_429_until_the_minute_is_over(served: Served) -> None:
    token = await served.new_token()
    async with greeted(served.url, token) as open_before:
        for _ in range(10):
            await refused(served, bad_hello())
        response = await turned_away(served.url)
        assert response.status_code == 429
        assert 50 <= int(response.headers["Retry-After"]) <= 60
        assert "10 hellos from this address failed within a minute (max_failed_hellos)" in body(response)
        assert (await open_before.ask("ping"))["type"] == "done"


async def test_a_link_that_was_there_before_its_address_was_barred_is_not_looked_at_either(tmp_path: Path) -> None:
    async with serving(tmp_path, max_failed_hellos=2) as served:
        token = await served.new_token()
        offer = served.server.pairing.offer("", "device", "")
        async with linked(served.url) as one, linked(served.url) as two:
            for _ in range(2):
                await refused(served, bad_hello())
            for wire, hello in ((one, {"token": token}), (two, {"code": offer.code})):
                answer = await wire.ask("hello", client="c", **hello)
                assert (answer["code"], answer["retry"]) == ("busy", True)
                assert "max_failed_hellos" in answer["message"]
                assert await wire.close_code() == 1013
        assert not offer.paired.done()


async def test_wrong_codes_and_malformed_hellos_count_and_what_is_no_hello_does_not(tmp_path: Path) -> None:
    async with serving(tmp_path, max_failed_hellos=3) as served:
        for message in ({"type": "ping", "id": 1}, {"type": "part", "index": 0, "last": True, "data": b""}):
            for _ in range(3):
                await refused(served, message)
        await refused(served, {"type": "hello", "id": 1, "code": "0000", "client": "c"})
        await refused(served, bad_hello() | {"max_frame": 1})
        await refused(served, {"type": "hello", "id": 1, "client": "c"})
        assert (await turned_away(served.url)).status_code == 429


async def test_behind_a_trusted_proxy_the_clients_address_counts_and_not_the_proxys(tmp_path: Path) -> None:
    async with serving(tmp_path, max_failed_hellos=1, trusted_proxies=("127.0.0.1",)) as served:
        guess = {"X-Forwarded-For": "198.51.100.1"}
        async with connect(
            served.url, subprotocols=[Subprotocol(MSGPACK)], proxy=None, additional_headers=guess
        ) as socket:
            assert (await Wire(socket).ask("hello", token="a.b", client="c"))["code"] == "unauthenticated"
        assert (await turned_away(served.url, additional_headers=guess)).status_code == 429
        async with connect(
            served.url,
            subprotocols=[Subprotocol(MSGPACK)],
            proxy=None,
            additional_headers={"X-Forwarded-For": "198.51.100.1, 198.51.100.2"},
        ):
            pass


async def test_without_a_trusted_proxy_nobody_is_counted_as_somebody_else(tmp_path: Path) -> None:
    async with serving(tmp_path, max_failed_hellos=1) as served:
        await refused(served, bad_hello())
        response = await turned_away(served.url, additional_headers={"X-Forwarded-For": "198.51.100.7"})
        assert response.status_code == 429


async def test_another_address_is_not_locked_out_by_failed_hellos(tmp_path: Path) -> None:
    async with serving(tmp_path, max_failed_hellos=1) as served:
        await refused(served, bad_hello())
        assert (await turned_away(served.url)).status_code == 429
        async with connect(
            served.url, subprotocols=[Subprotocol(MSGPACK)], proxy=None, local_addr=("127.0.0.2", 0)
        ) as socket:
            token = await served.new_token()
            assert (await Wire(socket).ask("hello", token=token, client="c"))["type"] == "welcome"


async def test_so_many_sockets_may_wait_with_their_hello(tmp_path: Path) -> None:
    async with serving(tmp_path, max_waiting_hellos=2) as served, linked(served.url), linked(served.url) as second:
        response = await turned_away(served.url)
        assert (response.status_code, response.headers["Retry-After"]) == (503, "10")
        assert "2 is the most (max_waiting_hellos)" in body(response)
        assert (await second.ask("hello", token=await served.new_token(), client="c"))["type"] == "welcome"
        async with linked(served.url):
            pass


async def test_so_many_links_may_be_open(tmp_path: Path) -> None:
    async with serving(tmp_path, max_connections=2) as served:
        token = await served.new_token()
        async with greeted(served.url, token):
            async with greeted(served.url, token):
                response = await turned_away(served.url)
                assert (response.status_code, response.headers["Retry-After"]) == (503, "10")
                assert "2 is the most (max_connections)" in body(response)
            await until(lambda: len(served.server.connections) == 1)
            async with greeted(served.url, token):
                pass


async def test_a_device_may_have_so_many_links_by_whichever_tokens(tmp_path: Path) -> None:
    async with serving(tmp_path, max_device_connections=2) as served:
        device = await served.add_device()
        one, two = await served.add_token(device), await served.add_token(device, "viewer")
        async with greeted(served.url, one), greeted(served.url, two):
            async with linked(served.url) as third:
                answer = await third.ask("hello", token=one, client="c")
                assert (answer["code"], answer["retry"]) == ("busy", True)
                assert "this device has 2 links already" in answer["message"]
                assert "max_device_connections" in answer["message"]
                assert await third.close_code() == 1013
            async with greeted(served.url, await served.new_token()):
                pass
        await until(lambda: not served.server.connections)
        async with greeted(served.url, one):
            pass


async def test_each_refusal_is_counted(tmp_path: Path) -> None:
    async with serving(tmp_path, max_connections=1, max_device_connections=1, max_failed_hellos=1) as served:
        token = await served.new_token()
        async with greeted(served.url, token):
            await turned_away(served.url)
        await until(lambda: not served.server.connections)
        served.server.reconfigure(msgspec.structs.replace(served.server.config, max_connections=9))
        async with greeted(served.url, token), linked(served.url) as second:
            await second.ask("hello", token=token, client="c")
        await refused(served, bad_hello())
        await turned_away(served.url)
        counted = {name: count for name, count in served.desk.counts.refusals.items() if count}
        assert counted == {"connections": 1, "device_connections": 1, "failed_hellos": 1}


async def test_a_flood_of_sockets_from_one_address_that_never_say_hello_locks_no_other_address_out(
    tmp_path: Path,
) -> None:
    async with serving(tmp_path, max_waiting_hellos=4) as served, contextlib.AsyncExitStack() as flood:
        sockets = [await flood.enter_async_context(linked(served.url)) for _ in range(4)]
        assert (await turned_away(served.url)).status_code == 503
        async with connect(
            served.url, subprotocols=[Subprotocol(MSGPACK)], proxy=None, local_addr=("127.0.0.2", 0)
        ) as guest:
            token = await served.new_token()
            assert (await Wire(guest).ask("hello", token=token, client="c"))["type"] == "welcome"
        # The one that had waited longest made way.
        assert await sockets[0].close_code() == 1006


async def test_where_every_waiting_socket_has_its_own_address_the_oldest_makes_way_for_a_client(tmp_path: Path) -> None:
    async with serving(tmp_path, max_waiting_hellos=3) as served, contextlib.AsyncExitStack() as flood:
        for number in range(2, 5):
            await flood.enter_async_context(
                connect(
                    served.url, subprotocols=[Subprotocol(MSGPACK)], proxy=None, local_addr=(f"127.0.0.{number}", 0)
                )
            )
        await asyncio.sleep(1.1)
        async with greeted(served.url, await served.new_token()) as guest:
            assert (await guest.ask("ping"))["type"] == "done"


async def test_a_socket_that_said_no_hello_in_time_makes_room_at_once_although_it_closes_slowly(tmp_path: Path) -> None:
    async with serving(tmp_path, max_waiting_hellos=1, hello_timeout_s=0.5) as served:
        # It never answers the closing handshake.
        reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
        writer.write(
            f"GET /link HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
            f"Sec-WebSocket-Protocol: {MSGPACK}\r\n\r\n".encode()
        )
        await reader.readuntil(b"\r\n\r\n")
        assert (await turned_away(served.url)).status_code == 503
        await until(lambda: any(event == "hello_refused" for event, _ in served.log))
        assert len(served.server.connections) == 1
        async with greeted(served.url, await served.new_token()):
            pass
        writer.close()


async def after(count: int, wire: Wire, wanted: Callable[[Map], bool]) -> list[Map]:
    answers = await wire.answers_to([await wire.send("ping") for _ in range(count)])
    return [answer for answer in answers.values() if wanted(answer)]


async def test_a_viewer_that_asks_too_often_is_told_busy_and_goes_on(tmp_path: Path) -> None:
    async with serving(tmp_path, viewer_burst_requests=5, viewer_requests_per_s=1) as served:
        device = await served.add_device()
        token = await served.add_token(device, "viewer")
        async with greeted(served.url, token) as wire, greeted(served.url, token) as second:
            busy = await after(8, wire, lambda answer: answer["type"] == "error")
            assert len(busy) == 3
            assert {(answer["code"], answer["retry"]) for answer in busy} == {("busy", True)}
            assert "5 requests at once and 1 a second" in busy[0]["message"]
            # Another link of the same token has no requests of its own.
            assert (await second.ask("ping"))["code"] == "busy"
            await asyncio.sleep(1.1)
            assert (await wire.ask("ping"))["type"] == "done"
        async with greeted(served.url, await served.add_token(device)) as unlimited:
            assert await after(300, unlimited, lambda answer: answer["type"] == "error") == []


async def test_of_a_viewer_every_message_counts_and_none_that_is_forbidden_or_unknown_gets_around_the_limit(
    tmp_path: Path,
) -> None:
    async with serving(tmp_path, viewer_burst_requests=5, viewer_requests_per_s=1) as served:
        for type_ in ("no_such_type", "open", "ping"):
            async with greeted(served.url, await served.new_token("viewer")) as wire:
                sent = [await wire.send(type_, session="s", kind="agent") for _ in range(8)]
                answers = await wire.answers_to(sent)
                codes = [answers[number].get("code") for number in sent]
                assert codes[5:] == ["busy"] * 3, type_
                assert "busy" not in codes[:5], type_


async def test_a_viewer_that_goes_on_all_the_same_is_heard_no_more_often_than_it_may_ask(tmp_path: Path) -> None:
    async with serving(tmp_path, viewer_burst_requests=5, viewer_requests_per_s=10) as served:
        async with greeted(served.url, await served.new_token("viewer")) as wire:
            for _ in range(300):
                await wire.send("no_such_type")
            await asyncio.sleep(1)
            heard = sum(served.desk.counts.errors.values())
        # Five and five at once, then ten a second.
        assert 11 <= heard <= 30
