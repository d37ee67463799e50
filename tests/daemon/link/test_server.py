"""How links end that do not end by themselves: stuck clients, revoked tokens, a daemon that stops."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from pathlib import Path
from typing import Any

import msgspec
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.typing import Origin, Subprotocol

from tests.daemon.served import Served, serving
from tests.daemon.waiting import until
from tests.daemon.wire import JSON, MSGPACK, Wire, greeted, linked, text_result
from waybread_daemon.config import ConfigError
from waybread_daemon.link import connection, draining, server
from waybread_daemon.store.sqlite import open_accounts


async def until_no_links(served: Served, within_s: float) -> None:
    await until(lambda: not served.server._connections, within_s)


async def stuck_client(served: Served, token: str) -> Wire:
    """A client that has said hello and will read nothing more than a small buffer takes."""
    plain = socket.socket()
    plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    plain.connect(("127.0.0.1", served.port))
    plain.setblocking(False)
    link = await connect(
        served.url,
        sock=plain,
        subprotocols=[Subprotocol(MSGPACK)],
        compression=None,
        max_size=None,
        max_queue=1,
        ping_interval=None,
        proxy=None,
        close_timeout=1,
    )
    wire = Wire(link)
    assert (await wire.ask("hello", token=token, client="stuck"))["type"] == "welcome"
    return wire


async def ask_for_more_than_it_takes(wire: Wire) -> None:
    """Some 30 MB of answers, far more than the kernel's buffers hold."""
    await wire.send("open", session="big", kind="agent")
    lines = "".join(f"{number:07}{'x' * 392}\n" for number in range(2000))
    await wire.send("result", **text_result("big", "one", lines))
    for number in range(40):
        await wire.send("recall", session="big", key=f"again {number}", result="1")


async def test_a_client_that_takes_nothing_is_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "SEND_TIMEOUT_S", 0.3)
    monkeypatch.setattr(server, "_CHECK_INTERVAL_S", 0.1)
    monkeypatch.setattr(connection, "CLOSE_TIMEOUT_S", 0.3)
    async with serving(tmp_path) as served:
        wire = await stuck_client(served, await served.new_token())
        await ask_for_more_than_it_takes(wire)
        await until_no_links(served, 8)
        assert ("link_ended", 4408) in [(event, fields.get("code")) for event, fields in served.log]
        wire.socket.transport.abort()


async def test_a_client_that_asks_and_never_reads_and_then_vanishes_leaves_nothing_behind(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        wire = await stuck_client(served, await served.new_token())
        await ask_for_more_than_it_takes(wire)
        await asyncio.sleep(1)
        assert len(served.server._connections) == 1
        wire.socket.transport.abort()
        await until_no_links(served, 5)


async def test_stopping_does_not_wait_for_a_client_that_takes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(draining, "FINISH_TIMEOUT_S", 0.5)
    monkeypatch.setattr(connection, "CLOSE_TIMEOUT_S", 0.3)
    async with serving(tmp_path) as served:
        wire = await stuck_client(served, await served.new_token())
        await ask_for_more_than_it_takes(wire)
        await asyncio.sleep(0.5)
        async with asyncio.timeout(5):
            await served.server.drain()
        assert served.server._connections == set()
        wire.socket.transport.abort()


async def test_a_revoked_token_closes_its_links_with_4403_within_a_second_and_no_others(served: Served) -> None:
    device = await served.add_device()
    revoked, kept = await served.add_token(device), await served.add_token(device)
    async with (
        greeted(served.url, revoked) as one,
        greeted(served.url, revoked, JSON) as two,
        greeted(served.url, kept) as other,
    ):
        await served.revoke(revoked)
        async with asyncio.timeout(1):
            assert await one.close_code() == 4403
            assert await two.close_code() == 4403
        assert (await other.ask("ping"))["type"] == "done"


async def test_a_revoked_token_closes_with_4403_when_another_process_revokes_it(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        token = await served.new_token()
        async with greeted(served.url, token) as wire:
            with open_accounts(tmp_path / "waybread.sqlite") as others:
                others.revoke([token.partition(".")[0]], 5)
            async with asyncio.timeout(1.5):
                assert await wire.close_code() == 4403


async def test_a_revoked_client_that_does_not_close_is_not_served_any_more(served: Served) -> None:
    token = await served.new_token()
    async with greeted(served.url, token) as wire:
        await wire.ask("open", session="s", kind="agent")
        # It does not read, so it does not see that the daemon closes, and goes on asking.
        wire.socket.transport.pause_reading()
        await served.revoke(token)
        await until(lambda: ("link_ended", 4403) in [(event, fields.get("code")) for event, fields in served.log], 2)
        for count in range(10):
            await wire.send("result", **text_result("s", f"k{count}"))
        await asyncio.sleep(0.3)
        heads = await served.store.look(lambda reader: [reader.head(device.number) for device in reader.devices()])
        assert heads == [1]
        wire.socket.transport.abort()


async def test_stopping_answers_what_is_under_way_then_closes_with_1012(served: Served) -> None:
    async with greeted(served.url, await served.new_token()) as wire:
        await wire.ask("open", session="s", kind="agent")
        numbers = [await wire.send("result", **text_result("s", f"k{count}", "x\n" * 20_000)) for count in range(50)]
        numbers += [await wire.send("sync"), await wire.send("sessions"), await wire.send("entry_text", seq=1)]
        # The first answer shows that the daemon has begun with them.
        first = await wire.hear()
        draining = asyncio.create_task(served.server.drain())
        answers = [first]
        while len(answers) < len(numbers):
            answers.append(await wire.hear())
        busy = [answer for answer in answers if answer["type"] == "error"]
        assert {(answer["code"], answer["retry"]) for answer in busy} <= {("busy", True)}
        assert sorted(answer["re"] for answer in answers) == numbers
        assert await wire.close_code() == 1012
        await draining


async def test_a_look_that_is_under_way_is_answered_before_the_link_is_closed(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    look = served.store.look
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def slow(read: Any) -> Any:
        begun.set()
        await go_on.wait()
        return await look(read)

    async with greeted(served.url, await served.new_token()) as wire:
        monkeypatch.setattr(served.store, "look", slow)
        numbers = [await wire.send("sync"), await wire.send("sessions")]
        await begun.wait()
        draining = asyncio.create_task(served.server.drain())
        await asyncio.sleep(0.1)
        assert (await wire.ask("ping"))["code"] == "busy"
        go_on.set()
        answers = await wire.answers_to(numbers)
        assert [answers[number]["type"] for number in numbers] == ["page", "session_list"]
        assert await wire.close_code() == 1012
        await draining


async def test_while_it_stops_a_new_request_is_busy_and_changes_nothing(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with greeted(served.url, await served.new_token()) as wire:
        await wire.ask("open", session="s", kind="agent")
        monkeypatch.setattr(served.server, "draining", True)
        answer = await wire.ask("result", **text_result("s", "k"))
        assert (answer["code"], answer["retry"]) == ("busy", True)
        monkeypatch.setattr(served.server, "draining", False)
        assert (await wire.ask("result", **text_result("s", "k")))["repeated"] is False


async def test_stopping_closes_links_that_never_said_hello(served: Served) -> None:
    async with linked(served.url) as wire:
        draining = asyncio.create_task(served.server.drain())
        assert await wire.close_code() == 1012
        await draining


async def test_the_memory_for_a_client_that_asks_and_never_reads_is_bounded(served: Served) -> None:
    wire = await stuck_client(served, await served.new_token())
    await ask_for_more_than_it_takes(wire)
    (link,) = served.server._connections
    most = 0
    for _ in range(20):
        await asyncio.sleep(0.05)
        most = max(most, link.outbox.waiting_bytes)
        for count in range(50):
            await asyncio.wait_for(wire.send("describe", padding="x" * count), 1)
    # 4 MiB, and the answers that were under way when it was full: four recalls of 800 KB, 1,024 small ones.
    assert 4_000_000 < most < 12_000_000
    assert link._open_bytes < 1_000_000
    wire.socket.transport.abort()
    await until_no_links(served, 5)


async def test_a_client_that_sends_more_than_is_read_and_vanishes_leaves_nothing_behind(served: Served) -> None:
    wire = await stuck_client(served, await served.new_token())
    await ask_for_more_than_it_takes(wire)
    (link,) = served.server._connections
    await until(link._crowded)
    for _ in range(30):
        await wire.send("ping")
    await asyncio.sleep(0.1)
    wire.socket.transport.abort()
    await until_no_links(served, 5)


async def test_a_half_open_neighbour_does_not_lock_out_the_same_device(served: Served) -> None:
    token = await served.new_token()
    gone = await stuck_client(served, token)
    await ask_for_more_than_it_takes(gone)
    await gone.send("sync", follow=True)
    await asyncio.sleep(0.3)
    async with greeted(served.url, token) as wire:
        async with asyncio.timeout(5):
            assert (await wire.ask("open", session="big", kind="agent"))["created"] is False
            inserted = await wire.ask("result", **text_result("big", "new"))
            assert inserted["type"] == "inserted"
            page = await wire.ask("sync", after=inserted["seq"], epoch=served.store.epoch, follow=True)
            assert page["more"] is False
            await wire.ask("turn", session="big", turn="t")
            assert (await wire.push())["entry"]["kind"] == "turn"
    gone.socket.transport.abort()
    await until_no_links(served, 5)


async def test_the_librarys_log_never_says_what_a_client_sent(served: Served, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(1)
    logging.getLogger("websockets.client").setLevel(logging.CRITICAL)
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    async with linked(served.url + "?token=secret-in-the-address") as wire:
        await wire.say({"type": "hello", "id": 1, "token": "secret.of-the-token", "client": "c"})
        await wire.close_code()
    assert "secret" not in caplog.text


async def test_a_link_is_logged_when_it_opens_and_when_it_closes(served: Served) -> None:
    async with greeted(served.url, await served.new_token()):
        pass
    await until_no_links(served, 5)
    events = [(event, fields["connection"]) for event, fields in served.log if event.startswith("link_")]
    assert events == [("link_opened", 1), ("link_closed", 1)]


async def test_while_it_stops_nobody_links_any_more_and_is_told_when_to_come_back(served: Served) -> None:
    served.server.draining = True
    with pytest.raises(InvalidStatus) as refusal:
        async with linked(served.url):
            pass
    response = refusal.value.response
    assert (response.status_code, response.headers["Retry-After"]) == (503, "5")
    assert (response.body or b"").startswith(b"the daemon is stopping: link again")
    assert served.desk.counts.refusals["stopping"] == 1


async def test_other_settings_are_in_force_for_links_that_are_open_and_for_new_ones(tmp_path: Path) -> None:
    async with serving(tmp_path, viewer_burst_requests=1, viewer_requests_per_s=1) as served:
        token = await served.new_token("viewer")
        async with greeted(served.url, token) as wire:
            assert (await wire.ask("ping"))["type"] == "done"
            assert (await wire.ask("ping"))["code"] == "busy"
            served.server.reconfigure(
                msgspec.structs.replace(
                    served.server.config,
                    viewer_burst_requests=1000,
                    viewer_requests_per_s=100_000,
                    max_connections=2,
                    allowed_origins=("https://home.example",),
                    allowed_hosts=("home.example",),
                    max_frame=8192,
                    max_message=16384,
                    hello_timeout_s=0.2,
                )
            )
            await asyncio.sleep(0.01)
            assert (await wire.ask("ping"))["type"] == "done"
            async with connect(
                served.url, subprotocols=[Subprotocol(MSGPACK)], origin=Origin("https://home.example"), proxy=None
            ) as other:
                welcome = await Wire(other).ask("hello", token=token, client="c")
                assert welcome["limits"] == {"max_frame": 8192, "max_message": 16384, "page_bytes": 262144}
                with pytest.raises(InvalidStatus):
                    async with linked(served.url):
                        pass
                await other.send(b"x" * 8193)
                assert await Wire(other).close_code() == 1009
            async with linked(served.url) as silent:
                assert await silent.close_code() == 4401
            # What a link was told when it opened stays.
            assert (await wire.ask("open", session="s" * 128, kind="agent", padding="x" * 9000))["code"] == "forbidden"


async def test_reconfigured_proxies_are_believed_at_once(tmp_path: Path) -> None:
    async with serving(tmp_path, max_failed_hellos=1) as served:
        async with linked(served.url) as wire:
            await wire.ask("hello", token="a.b", client="c")
        served.server.reconfigure(msgspec.structs.replace(served.server.config, trusted_proxies=("127.0.0.1",)))
        async with connect(
            served.url,
            subprotocols=[Subprotocol(MSGPACK)],
            additional_headers={"X-Forwarded-For": "198.51.100.1"},
            proxy=None,
        ):
            pass
        served.server.reconfigure(msgspec.structs.replace(served.server.config, trusted_proxies=()))
        with pytest.raises(InvalidStatus):
            async with linked(served.url):
                pass


async def test_a_certificate_that_cannot_be_used_is_refused_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"tls_cert .* is not there"):
        async with serving(tmp_path, tls_cert=str(tmp_path / "a"), tls_key=str(tmp_path / "b")):
            pass


async def answer_of(port: int, path: str, *more: str) -> str:
    """The whole answer to a GET; empty where the connection is reset."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write("\r\n".join([f"GET {path} HTTP/1.1", "Host: localhost", *more, "", ""]).encode())
    try:
        return (await reader.read()).decode()
    except ConnectionResetError:
        return ""
    finally:
        writer.close()


async def test_until_the_last_link_is_closed_a_daemon_that_stops_answers_503_and_says_when_to_come_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "CLOSE_TIMEOUT_S", 1.0)
    upgrade = ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"]
    upgrade += ["Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==", f"Sec-WebSocket-Protocol: {MSGPACK}"]
    async with serving(tmp_path) as served:
        wire = await stuck_client(served, await served.new_token())
        await ask_for_more_than_it_takes(wire)
        monkeypatch.setattr(draining, "FINISH_TIMEOUT_S", 0.1)
        stopping = asyncio.create_task(served.server.drain())
        # By now nothing is waited for but the closing of the link.
        await asyncio.sleep(0.5)
        assert not stopping.done()
        ready, link = await answer_of(served.port, "/readyz"), await answer_of(served.port, "/link", *upgrade)
        await stopping
        wire.socket.transport.abort()
    for answer in (ready, link):
        assert answer.startswith("HTTP/1.1 503 ")
        assert "the daemon is stopping" in answer
    assert f"Retry-After: {server.RESTART_S}" in link


async def test_hundreds_of_sockets_that_come_at_once_wait_for_the_daemon_and_none_has_to_try_again(
    served: Served,
) -> None:
    # The daemon runs in this thread, so it accepts none of them meanwhile.
    with contextlib.ExitStack() as crowd:
        for _ in range(300):
            crowd.enter_context(socket.create_connection(("127.0.0.1", served.port), timeout=0.5))
    assert (await answer_of(served.port, "/healthz")).startswith("HTTP/1.1 200 ")


async def test_a_daemon_that_others_reach_unencrypted_says_so_in_its_log(tmp_path: Path) -> None:
    async with serving(tmp_path, host="0.0.0.0", allow_plaintext=True) as served:
        assert [str(fields["why"]).partition(":")[0] for event, fields in served.log if event == "plaintext"] == [
            "links on 0.0.0.0 are not encrypted"
        ]
