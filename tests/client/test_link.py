"""The link: one that holds, over connections that do not."""

import asyncio
import logging

import pytest
from websockets.asyncio.server import ServerConnection, serve

from tests.client.fake import (
    LIMITS,
    TOKEN,
    Side,
    Waits,
    done,
    entry,
    fake_daemon,
    inserted,
    link_to,
    opened,
)
from waybread_client import AnswerError, Backoff, Denied, Link, LinkClosed, LinkEnded, LinkError, Refused
from waybread_protocol.errors import CloseCode, ErrorCode
from waybread_protocol.messages import (
    BaseRequest,
    Description,
    EntryText,
    Error,
    Open,
    Ping,
    Result,
    SessionList,
    TextPiece,
)

# --- Opening and closing ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("subprotocol", ["waybread.v1.msgpack", "waybread.v1.json"])
async def test_hello_says_token_client_and_limits_and_welcome_is_kept(subprotocol: str) -> None:
    seen: list[Side] = []

    async def script(side: Side) -> None:
        await side.welcome(head=7)
        seen.append(side)
        await side.say(done((await side.hear_a(Ping)).id))

    async with fake_daemon(script) as fake, link_to(fake, subprotocol=subprotocol, max_message=5_000_000) as link:
        await link.ping()
        assert link.is_connected
        assert (link.welcome.device, link.welcome.role, link.welcome.head) == ("d1", "device", 7)
    hello = seen[0].hello
    assert (hello.token, hello.client, hello.max_frame, hello.max_message) == (
        TOKEN,
        "waybread-client 1",
        1_048_576,
        5_000_000,
    )
    assert seen[0].socket.subprotocol == subprotocol
    request = seen[0].socket.request
    assert request is not None
    assert request.path == "/link"
    assert TOKEN not in str(request.headers)


async def test_the_token_is_shown_nowhere(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")

    async def script(side: Side) -> None:
        await side.welcome()

    async with fake_daemon(script) as fake, link_to(fake) as link:
        assert TOKEN not in repr(link) + repr(link.peer)
    # The library prints headers and messages at the level DEBUG, whatever the application's own level is.
    ours = [record for record in caplog.records if record.name.startswith("waybread_client")]
    assert [record for record in ours if record.levelno < logging.INFO] == []


async def test_a_wrong_token_ends_the_link_at_once() -> None:
    waits = Waits()

    async def script(side: Side) -> None:
        hello = side.codec.decode(await side.socket.recv())
        assert isinstance(hello, BaseRequest)
        answer = Error(re=hello.id, code="unauthenticated", message="no such token", retry=False)
        await side.socket.send(side.codec.encode(answer))
        await side.socket.close(CloseCode.UNAUTHENTICATED)

    async with fake_daemon(script) as fake:
        link = link_to(fake, waits=waits)
        with pytest.raises(Denied, match="no such token") as denied:
            await link.connect()
        assert denied.value.code == 4401
        with pytest.raises(Denied):
            await link.connect()
        assert (fake.connections, waits.waits_s) == (1, [])
        await link.close()


async def test_a_revoked_token_ends_waiting_and_later_requests_without_another_try() -> None:
    waits = Waits()

    async def script(side: Side) -> None:
        await side.welcome()
        await side.hear()
        await side.socket.close(CloseCode.REVOKED, "revoked by an operator")

    async with fake_daemon(script) as fake, link_to(fake, waits=waits) as link:
        with pytest.raises(Denied, match="revoked by an operator") as denied:
            await link.ping()
        assert denied.value.code == 4403
        with pytest.raises(Denied):
            await link.ping()
        assert (fake.connections, waits.waits_s) == (1, [])
        assert "revoked" in link.fault


async def test_close_ends_waiting_and_later_requests() -> None:
    async def script(side: Side) -> None:
        await side.welcome()

    async with fake_daemon(script) as fake, link_to(fake) as link:
        waiting = asyncio.create_task(link.ping())
        await asyncio.sleep(0.01)
        await link.close()
        with pytest.raises(LinkClosed):
            await waiting
        with pytest.raises(LinkClosed):
            await link.ping()
        with pytest.raises(LinkClosed):
            await link.connect()
        await link.close()


async def test_requests_before_connect_are_refused_with_a_sentence() -> None:
    with pytest.raises(LinkError, match="call `connect` first"):
        await Link("ws://localhost:1", TOKEN).ping()


def test_an_address_that_is_no_link_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="begins with ws://"):
        Link("http://localhost:8787", TOKEN)


@pytest.mark.parametrize(
    "url, address",
    [
        ("ws://host:1", "ws://host:1/link"),
        ("wss://host/", "wss://host/link"),
        ("wss://host/home/link", "wss://host/home/link"),
    ],
)
def test_the_path_is_added_unless_the_url_has_one(url: str, address: str) -> None:
    assert Link(url, TOKEN).peer.address == address


async def test_without_a_daemon_connect_tries_with_jitter_until_its_time_is_up() -> None:
    waits = Waits()
    async with await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
    nobody = Link(f"ws://127.0.0.1:{port}", TOKEN, backoff=Backoff(random=lambda: 0.5), sleep=waits)
    with pytest.raises(LinkError, match=rf"no link within 0.2 s: no connection to ws://127.0.0.1:{port}/link"):
        await nobody.connect(timeout_s=0.2)
    assert waits.waits_s[:8] == [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 15.0]


async def test_an_address_where_no_link_lives_is_told_at_once() -> None:
    waits = Waits()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 7\r\nConnection: close\r\n\r\nnothing")
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        link = Link(f"ws://127.0.0.1:{port}/x", TOKEN, sleep=waits)
        with pytest.raises(LinkEnded, match=r"HTTP 404\. nothing"):
            await link.connect()
    assert waits.waits_s == []


async def test_a_server_of_another_subprotocol_is_told_at_once() -> None:
    async def play(socket: ServerConnection) -> None:
        await socket.wait_closed()

    async with serve(play, "127.0.0.1", 0) as server:
        link = Link(f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}", TOKEN, sleep=Waits())
        with pytest.raises(LinkEnded, match="did not take the subprotocol"):
            await link.connect()


async def test_a_fault_of_the_client_itself_reaches_who_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: object) -> None:
        raise ZeroDivisionError("a fault")

    monkeypatch.setattr("waybread_client.link.open_wire", broken)
    link = Link("ws://127.0.0.1:1", TOKEN)
    with pytest.raises(LinkEnded, match="a fault of the client: ZeroDivisionError"):
        await link.connect()
    await link.close()


# --- Requests --------------------------------------------------------------------------------------------------------


async def test_requests_are_sent_without_waiting_and_answers_may_overtake_one_another() -> None:
    async def script(side: Side) -> None:
        await side.welcome()
        heard = [await side.hear_a(Open) for _ in range(3)]
        assert [request.session for request in heard] == ["a", "b", "c"]
        await side.say(*(opened(request.id, request.session) for request in reversed(heard)))

    async with fake_daemon(script) as fake, link_to(fake) as link:
        sessions = await asyncio.gather(*(link.open(name, "agent") for name in ("a", "b", "c")))
        assert [session.session for session in sessions] == ["a", "b", "c"]


async def test_an_error_answer_raises_with_all_that_it_says() -> None:
    async def script(side: Side) -> None:
        await side.welcome()
        request = await side.hear()
        await side.say(Error(re=request.id, code="content_needed", message="send it", retry=False, needed=["a" * 64]))
        request = await side.hear()
        await side.say(Error(re=request.id, code="a_newer_code", message="odd", retry=True))

    async with fake_daemon(script) as fake, link_to(fake) as link:
        with pytest.raises(Refused) as refused:
            await link.ping()
        assert (refused.value.code, refused.value.message) == ("content_needed", "send it")
        assert (refused.value.retry, refused.value.needed) == (False, ("a" * 64,))
        with pytest.raises(Refused, match="a_newer_code: odd"):
            await link.ping()


async def test_busy_is_tried_again_with_jitter_and_other_errors_are_not() -> None:
    waits = Waits()
    ids: list[int] = []

    async def script(side: Side) -> None:
        await side.welcome()
        for _ in range(2):
            ids.append((await side.hear()).id)
            await side.say(Error(re=ids[-1], code="busy", message="later", retry=True))
        ids.append((await side.hear()).id)
        await side.say(done(ids[-1]))
        request = await side.hear()
        await side.say(Error(re=request.id, code="storage_full", message="full", retry=True))

    async with fake_daemon(script) as fake, link_to(fake, waits=waits) as link:
        await link.ping()
        assert (len(ids), waits.waits_s) == (3, [0.25, 0.5])
        with pytest.raises(Refused, match="storage_full"):
            await link.ping()
        assert waits.waits_s == [0.25, 0.5]


async def test_busy_for_ever_is_told_after_eight_tries() -> None:
    waits = Waits()
    heard: list[int] = []

    async def script(side: Side) -> None:
        await side.welcome()
        while True:
            heard.append((await side.hear()).id)
            await side.say(Error(re=heard[-1], code="busy", message="later", retry=True))

    async with fake_daemon(script) as fake, link_to(fake, waits=waits) as link:
        with pytest.raises(Refused, match="busy: later"):
            await link.ping()
    assert (len(heard), len(waits.waits_s)) == (8, 7)


async def test_an_answer_that_cannot_be_understood_fails_its_own_request_only() -> None:
    async def script(side: Side) -> None:
        await side.welcome()
        first, second, third, fourth = [await side.hear() for _ in range(4)]
        await side.say_raw({"type": "done", "re": first.id, "seq": "seven"})
        await side.say_raw({"type": "newer_answer", "re": second.id})
        await side.say_raw({"type": "newer_push", "field": 1})
        await side.say(inserted(third.id))
        await side.say_raw({"type": "done", "re": fourth.id, "seq": 3, "newer_field": [1]})

    async with fake_daemon(script) as fake, link_to(fake) as link:
        ends = await asyncio.gather(*(link.ping() for _ in range(4)), return_exceptions=True)
        assert [type(end) for end in ends] == [AnswerError, AnswerError, AnswerError, type(None)]
        assert "Inserted, not Done" in str(ends[2])
        assert fake.connections == 1


async def test_a_request_that_the_daemon_would_not_take_is_not_sent() -> None:
    limits = type(LIMITS)(max_frame=4096, max_message=8192, page_bytes=1024)

    async def script(side: Side) -> None:
        await side.welcome()
        await side.say(opened((await side.hear_a(Open)).id))
        await side.say(done((await side.hear_a(Ping)).id))

    async with fake_daemon(script, limits) as fake, link_to(fake) as link:
        session = await link.open("s", "agent")
        with pytest.raises(Refused, match="the daemon's limit is 8192") as refused:
            await session.result("bash", {}, "x" * 9000)
        assert refused.value.code == ErrorCode.TOO_LARGE
        deep: list[object] = []
        for _ in range(100_000):
            deep = [deep]
        with pytest.raises(Refused, match="nested too deep"):
            await session.result("bash", {"deep": deep}, "x")
        with pytest.raises(Refused, match="bad_message"):
            await session.result("bash", {"huge": 2**70}, "x")
        await link.ping()


async def test_who_is_cancelled_is_forgotten_and_the_late_answer_passed_over() -> None:
    go_on = asyncio.Event()

    async def script(side: Side) -> None:
        await side.welcome()
        first = await side.hear()
        await go_on.wait()
        await side.say(done(first.id), done((await side.hear()).id))

    async with fake_daemon(script) as fake, link_to(fake) as link:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(link.ping(), 0.02)
        go_on.set()
        await link.ping()


@pytest.mark.parametrize("subprotocol", ["waybread.v1.msgpack", "waybread.v1.json"])
async def test_large_messages_go_in_parts_both_ways(subprotocol: str) -> None:
    limits = type(LIMITS)(max_frame=4096, max_message=1024 * 1024, page_bytes=1024)
    text = "[#0001]\n" + "é\u2028😀\n" * 20_000
    seen: list[Side] = []

    async def script(side: Side) -> None:
        seen.append(side)
        await side.welcome()
        await side.say(opened((await side.hear_a(Open)).id))
        result = await side.hear_a(Result)
        await side.say(inserted(result.id, text=getattr(result.body, "text", "")))

    async with fake_daemon(script, limits) as fake, link_to(fake, subprotocol=subprotocol, max_frame=4096) as link:
        session = await link.open("s", "agent")
        answer = await session.result("bash", {}, text)
        assert answer.text == text
    assert len(seen[0].frames_heard) > 50
    assert max(seen[0].frames_heard) <= 4096


async def test_describe_sessions_and_the_rest_of_a_long_entry() -> None:
    whole = "0123456789"

    async def script(side: Side) -> None:
        await side.welcome()
        await side.say(Description(re=(await side.hear()).id, loop={"ids": {"digits": 4}}, prompt="…"))
        await side.say(SessionList(re=(await side.hear()).id, sessions=[], more=False))
        for from_char, to_char in ((4, 7), (7, 10)):
            request = await side.hear_a(EntryText)
            assert (request.seq, request.from_char) == (5, from_char)
            next_char = to_char if to_char < 10 else None
            await side.say(
                TextPiece(re=request.id, seq=5, from_char=from_char, text=whole[from_char:to_char], next_char=next_char)
            )

    async with fake_daemon(script) as fake, link_to(fake) as link:
        assert (await link.describe()).loop == {"ids": {"digits": 4}}
        assert (await link.sessions()).sessions == []
        assert await link.text_of(entry(5, "0123", 10)) == whole
        assert await link.text_of(entry(6, "short")) == "short"
