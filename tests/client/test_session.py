"""A session as a harness uses it: what goes over the wire for each call."""

import hashlib
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from msgspec import UNSET

from tests.client.fake import LIMITS, Side, done, fake_daemon, inserted, link_to, opened, page
from waybread_client import Change, Refused, Session
from waybread_protocol.messages import (
    BaseRequest,
    Carry,
    ChangeBody,
    Compact,
    Compacted,
    Content,
    Delete,
    Error,
    History,
    Message,
    Open,
    ReadBody,
    ReadList,
    Reads,
    Recall,
    Result,
    Show,
    Shown,
    TakeBack,
    TextBody,
    Turn,
    Window,
)


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def needed(re: int, *hashes: str) -> Error:
    return Error(re=re, code="content_needed", message="send it", retry=False, needed=list(hashes))


async def talk(
    script: Callable[[Side], Awaitable[None]], call: Callable[[Session], Awaitable[Any]], **more: Any
) -> Any:
    """What `call` gives where the daemon plays `script` behind the opening of a session."""

    async def whole(side: Side) -> None:
        await side.welcome()
        request = await side.hear_a(Open)
        await side.say(opened(request.id, request.session))
        await script(side)

    limits = more.pop("limits", LIMITS)
    async with fake_daemon(whole, limits) as fake, link_to(fake, **more) as link:
        return await call(await link.open("s", "agent"))


def read_of(request: BaseRequest) -> tuple[Result, ReadBody, Content]:
    assert isinstance(request, Result)
    assert isinstance(request.body, ReadBody)
    return request, request.body, request.body.content


async def test_open_says_what_is_opened() -> None:
    async def script(side: Side) -> None:
        await side.welcome()
        request = await side.hear_a(Open)
        assert (request.session, request.kind, request.title, request.directory) == ("s", "chat", "T", "/home")
        await side.say(opened(request.id))

    async with fake_daemon(script) as fake, link_to(fake) as link:
        session = await link.open("s", "chat", title="T", directory="/home")
        assert (session.session, session.opened.created) == ("s", True)


async def test_an_unchanged_file_is_sent_as_its_hash_alone() -> None:
    content = b"x" * 1000

    async def script(side: Side) -> None:
        request, body, sent = read_of(await side.hear())
        assert (request.session, request.tool, request.args, request.call) == ("s", "Read", {"p": "a"}, "call_7")
        assert (body.path, body.absolute, body.offset, body.limit) == ("a.ts", "/home/a.ts", 5, 10)
        assert (sent.sha256, sent.text, sent.data, sent.window) == (sha256(content), UNSET, UNSET, UNSET)
        await side.say(inserted(request.id, 3, "[#0003 …] Unchanged since #0001, …"))

    async def call(session: Session) -> object:
        return await session.read("a.ts", "/home/a.ts", content, 5, 10, tool="Read", args={"p": "a"}, call="call_7")

    answer = await talk(script, call)
    assert answer.text == "[#0003 …] Unchanged since #0001, …"


@pytest.mark.parametrize("subprotocol", ["waybread.v1.msgpack", "waybread.v1.json"])
@pytest.mark.parametrize("content", [b"\xef\xbb\xbfa\r\n", b"", b"a\xffb\x00", "é😀\u2028".encode()])
async def test_content_follows_under_the_same_key_when_it_is_asked_for(content: bytes, subprotocol: str) -> None:
    async def script(side: Side) -> None:
        first, first_body, offered = read_of(await side.hear())
        assert offered.text is UNSET
        assert len(first.key) == 32
        await side.say(needed(first.id, sha256(content)))
        second, second_body, sent = read_of(await side.hear())
        assert second.key == first.key
        assert second.id != first.id
        assert (second.args, second_body.path, second_body.offset) == (first.args, first_body.path, first_body.offset)
        assert sent.sha256 == sha256(content)
        got = sent.text.encode() if isinstance(sent.text, str) else sent.data
        assert got == content
        await side.say(inserted(second.id))

    answer = await talk(script, lambda session: session.read("a", "/a", content), subprotocol=subprotocol)
    assert answer.result == "#0001"


async def test_a_file_too_large_to_send_goes_as_the_window_asked_for() -> None:
    limits = type(LIMITS)(max_frame=4096, max_message=8192, page_bytes=1024)
    content = b"".join(b"line %d\n" % number for number in range(1, 5001))

    async def script(side: Side) -> None:
        first, _, _ = read_of(await side.hear())
        await side.say(needed(first.id, sha256(content)))
        second, _, sent = read_of(await side.hear())
        assert second.key == first.key
        assert sent == Content(window=Window(text="line 4000\nline 4001\n", lines=5000, sha256=sha256(content)))
        await side.say(inserted(second.id))

    await talk(script, lambda session: session.read("a", "/a", content, 4000, 2), limits=limits)


async def test_a_window_too_large_to_send_is_refused_with_the_limit() -> None:
    limits = type(LIMITS)(max_frame=4096, max_message=8192, page_bytes=1024)
    content = b"x" * 10_000

    async def script(side: Side) -> None:
        await side.say(needed((await side.hear()).id, sha256(content)))

    with pytest.raises(Refused, match=r"too_large: .* 8192"):
        await talk(script, lambda session: session.read("a", "/a", content), limits=limits)


async def test_a_read_refused_for_another_reason_is_not_tried_again() -> None:
    async def script(side: Side) -> None:
        await side.say(Error(re=(await side.hear()).id, code="gone", message="deleted", retry=False))

    with pytest.raises(Refused, match="gone: deleted"):
        await talk(script, lambda session: session.read("a", "/a", b"x"))


async def test_a_result_is_sent_with_its_arguments_and_lone_surrogates_become_replacement_characters() -> None:
    async def script(side: Side) -> None:
        request = await side.hear_a(Result)
        assert len(request.key) == 32
        assert (request.tool, request.args, request.call) == ("ba\ufffd", {"\ufffd": ["\ufffd"]}, "c\ufffd")
        assert request.body == TextBody(text="a\ufffd\U0001f600\n", error=True)
        await side.say(inserted(request.id))

    async def call(session: Session) -> object:
        return await session.result("ba\ud800", {"\udc00": ("\ud800",)}, "a\ud800\ud83d\ude00\n", True, call="c\udfff")

    await talk(script, call)


async def test_a_change_sends_before_as_a_hash_and_after_as_it_is() -> None:
    changes = [
        Change("a.ts", "/a.ts", b"old a", b"new a"),
        Change("new.md", "/new.md", None, b"created"),
        Change("old.md", "/old.md", b"deleted", None),
    ]

    async def script(side: Side) -> None:
        first = await side.hear_a(Result)
        assert isinstance(first.body, ChangeBody)
        assert (first.tool, first.body.note) == ("apply_patch", "a note")
        sent = [(change.path, change.absolute, change.before, change.after) for change in first.body.changes]
        assert sent == [
            ("a.ts", "/a.ts", Content(sha256=sha256(b"old a")), Content(text="new a", sha256=sha256(b"new a"))),
            ("new.md", "/new.md", None, Content(text="created", sha256=sha256(b"created"))),
            ("old.md", "/old.md", Content(sha256=sha256(b"deleted")), None),
        ]
        assert len(first.key) == 32
        await side.say(needed(first.id, sha256(b"deleted")))
        second = await side.hear_a(Result)
        assert second.key == first.key
        assert isinstance(second.body, ChangeBody)
        assert [change.before for change in second.body.changes] == [
            Content(sha256=sha256(b"old a")),
            None,
            Content(text="deleted", sha256=sha256(b"deleted")),
        ]
        await side.say(inserted(second.id))

    await talk(script, lambda session: session.change(changes, "a note", tool="apply_patch"))


async def test_every_other_call_sends_its_own_request_with_a_fresh_key() -> None:
    heard: list[BaseRequest] = []

    async def script(side: Side) -> None:
        for _ in range(7):
            request = await side.hear()
            heard.append(request)
            if isinstance(request, Recall):
                await side.say(inserted(request.id))
            elif isinstance(request, Compact):
                await side.say(Compacted(re=request.id, seq=1, table="", reads=[], repeated=False))
            else:
                await side.say(done(request.id))

    async def call(session: Session) -> None:
        await session.recall("#0020", 2001, 5, call="c1")
        await session.turn("t1")
        await session.carry("all")
        await session.carry(["#0001", "#000a"])
        await session.take_back(["t1", "t2"])
        assert (await session.compact()).table == ""
        await session.message("user", "hello\ud800")

    await talk(script, call)
    recall, turn, carry_all, carry, take_back, compact, message = heard
    assert isinstance(recall, Recall)
    assert (recall.result, recall.offset, recall.limit, recall.call) == ("#0020", 2001, 5, "c1")
    assert isinstance(turn, Turn)
    assert turn.turn == "t1"
    assert isinstance(carry_all, Carry)
    assert carry_all.results == "all"
    assert isinstance(carry, Carry)
    assert carry.results == ["#0001", "#000a"]
    assert isinstance(take_back, TakeBack)
    assert take_back.turns == ["t1", "t2"]
    assert isinstance(compact, Compact)
    assert isinstance(message, Message)
    assert (message.role, message.text) == ("user", "hello\ufffd")
    keys = [recall.key, carry_all.key, carry.key, take_back.key, compact.key, message.key]
    assert keys == sorted(set(keys))


async def test_a_caller_may_give_the_key_to_try_again_by_itself() -> None:
    async def script(side: Side) -> None:
        for _ in range(7):
            request = await side.hear()
            assert getattr(request, "key", "") == "my-key"
            if isinstance(request, (Result, Recall)):
                await side.say(inserted(request.id, repeated=True))
            elif isinstance(request, Compact):
                await side.say(Compacted(re=request.id, seq=1, table="", reads=[], repeated=True))
            else:
                await side.say(done(request.id))

    async def call(session: Session) -> None:
        assert (await session.read("a", "/a", b"x", key="my-key")).repeated
        assert (await session.result("bash", {}, "x", key="my-key")).repeated
        assert (await session.change([Change("a", "/a", b"x", b"y")], key="my-key")).repeated
        assert (await session.recall("1", key="my-key")).repeated
        await session.carry("none", key="my-key")
        await session.take_back(["t"], key="my-key")
        assert (await session.compact(key="my-key")).repeated

    await talk(script, call)


def shown(re: int, text: str, lines: int, next_char: int | None = None) -> Shown:
    return Shown(re=re, result="#0001", tool="bash", text=text, first=1, last=1, lines=lines, next_char=next_char)


async def test_show_all_joins_pieces_and_windows_to_the_whole_body() -> None:
    asked: list[tuple[int, int, int]] = []

    async def script(side: Side) -> None:
        for text, next_char in (("ab", 2), ("cd\n", None), ("ef", 2), ("gh", None)):
            request = await side.hear_a(Show)
            asked.append((request.offset, request.limit, request.from_char))
            await side.say(shown(request.id, text, 2500, next_char))

    assert await talk(script, lambda session: session.show_all("#0001")) == "abcd\nefgh"
    assert asked == [(1, 2000, 0), (1, 2000, 2), (2001, 2000, 0), (2001, 2000, 2)]


@pytest.mark.parametrize("lines", [0, 1, 2000])
async def test_show_all_asks_once_for_a_body_of_one_window(lines: int) -> None:
    async def script(side: Side) -> None:
        await side.say(shown((await side.hear_a(Show)).id, "x" * lines, lines))

    assert await talk(script, lambda session: session.show_all("1")) == "x" * lines


async def test_looks_reads_history_and_delete() -> None:
    async def script(side: Side) -> None:
        show = await side.hear_a(Show)
        assert (show.result, show.offset, show.limit, show.from_char) == ("#0009", 2, 3, 4)
        await side.say(shown(show.id, "text", 1))
        await side.say(ReadList(re=(await side.hear_a(Reads)).id, reads=[]))
        history = await side.hear_a(History)
        assert (history.before, history.limit) == (50, 10)
        await side.say(page(history.id, [48, 49]))
        await side.say(done((await side.hear_a(Delete)).id))

    async def call(session: Session) -> None:
        assert (await session.show("#0009", 2, 3, 4)).text == "text"
        assert await session.reads() == []
        assert [entry.seq for entry in (await session.history(50, 10)).entries] == [48, 49]
        await session.delete()

    await talk(script, call)
