"""Sync and follow: nothing twice, nothing left out, in order."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.daemon.served import Served
from tests.daemon.wire import CODECS, Map, Wire, greeted, text_result
from waybread_daemon.link import connection


async def opened(wire: Wire, *sessions: str) -> None:
    for session in sessions:
        await wire.ask("open", session=session, kind="agent")


async def nothing_more(wire: Wire) -> None:
    """No push is on its way: what a ping is answered behind would have come."""
    await asyncio.sleep(0.05)
    await wire.ask("ping")
    assert wire.pushed == []


@pytest.mark.parametrize("codec", CODECS)
async def test_a_follow_pushes_what_comes_after_the_page(served: Served, codec: str) -> None:
    token = await served.new_token()
    async with greeted(served.url, token) as wire, greeted(served.url, token, codec) as follower:
        await opened(wire, "s")
        page = await follower.ask("sync", follow=True)
        assert [entry["seq"] for entry in page["entries"]] == [1]
        assert (page["next"], page["head"], page["more"], page["epoch"]) == (1, 1, False, served.store.epoch)
        await wire.ask("result", **text_result("s", "k", "out", args={"a": 1.0}, call="c1"))
        push = await follower.push()
        assert push["type"] == "entry"
        entry = push["entry"]
        assert entry.pop("at_ms") > 0
        assert entry == {
            "seq": 2,
            "session": "s",
            "kind": "result",
            "turn": "",
            "role": "",
            "result": "#0001",
            "tool": "bash",
            "call": "c1",
            "args": {"a": 1},
            "args_chars": 7,
            "body": "text",
            "error": False,
            "capped": False,
            "text": "[#0001]\nout",
            "text_chars": 11,
            "stub_of": None,
            "turns": [],
            "session_kind": "",
            "title": "",
        }


async def test_pages_and_pushes_join_without_a_gap_while_others_insert(served: Served) -> None:
    token = await served.new_token()
    async with (
        greeted(served.url, token) as one,
        greeted(served.url, token) as two,
        greeted(served.url, token) as follower,
    ):
        await opened(one, "a", "b")

        async def insert(wire: Wire, session: str) -> None:
            numbers = [
                await wire.send("result", **text_result(session, f"{session}{count}", "x" * 2000))
                for count in range(400)
            ]
            await wire.answers_to(numbers)

        inserting = asyncio.gather(insert(one, "a"), insert(two, "b"))
        seen: list[int] = []
        page: Map = {"next": 0, "more": True}
        while page["more"]:
            page = await follower.ask("sync", after=page["next"], epoch=served.store.epoch, follow=True)
            seen += [entry["seq"] for entry in page["entries"]]
            await asyncio.sleep(0.01)
        seen += [push["entry"]["seq"] for push in await follower.pushes(802 - len(seen))]
        await inserting
        await nothing_more(follower)
        assert seen == list(range(1, 803))


async def test_only_the_page_on_whose_more_is_false_begins_the_follow(served: Served) -> None:
    token = await served.new_token()
    async with greeted(served.url, token) as wire, greeted(served.url, token, max_message=4096) as follower:
        await opened(wire, "a", "b", "c")
        await wire.ask("result", **text_result("a", "k", "x" * 3000))
        await wire.ask("result", **text_result("a", "l", "x" * 3000))
        page = await follower.ask("sync", follow=True)
        assert page["more"]
        await wire.ask("turn", session="a", turn="t")
        await nothing_more(follower)
        while page["more"]:
            page = await follower.ask("sync", after=page["next"], epoch=served.store.epoch, follow=True)
        assert page["next"] == 6
        await wire.ask("turn", session="a", turn="u")
        assert (await follower.push())["entry"]["turn"] == "u"


async def test_a_follow_of_a_session_pushes_that_session_alone_to_its_deletion(served: Served) -> None:
    token = await served.new_token()
    async with greeted(served.url, token) as wire, greeted(served.url, token) as follower:
        await opened(wire, "mine", "other")
        page = await follower.ask("sync", session="mine", follow=True)
        assert [(entry["seq"], entry["session"]) for entry in page["entries"]] == [(1, "mine")]
        assert (page["next"], page["head"]) == (2, 2)
        await wire.ask("turn", session="other", turn="t")
        await wire.ask("turn", session="mine", turn="t")
        await wire.ask("carry", session="mine", key="c", results="all")
        await wire.ask("delete", session="other")
        await wire.ask("delete", session="mine")
        pushes = await follower.pushes(2)
        assert [(push["entry"]["seq"], push["entry"]["kind"]) for push in pushes] == [(4, "turn"), (7, "deleted")]
        await nothing_more(follower)
        assert (await follower.ask("sync", session="mine"))["code"] == "gone"
        assert (await follower.ask("sync", session="never"))["code"] == "unknown_session"


async def test_of_a_deleted_session_only_its_deletion_is_left_in_pages(served: Served) -> None:
    async with greeted(served.url, await served.new_token()) as wire:
        await opened(wire, "a", "b")
        await wire.ask("result", **text_result("a", "k"))
        await wire.ask("turn", session="b", turn="t")
        assert (await wire.ask("delete", session="a"))["seq"] == 5
        page = await wire.ask("sync")
        assert [(entry["seq"], entry["kind"]) for entry in page["entries"]] == [
            (2, "opened"),
            (4, "turn"),
            (5, "deleted"),
        ]
        assert page["entries"][2]["session"] == "a"
        assert (await wire.ask("entry_text", seq=3))["code"] == "unknown_result"


async def test_a_deletion_is_pushed_to_a_follower_of_all(served: Served) -> None:
    token = await served.new_token()
    async with greeted(served.url, token) as wire, greeted(served.url, token) as follower:
        await follower.ask("sync", follow=True)
        await opened(wire, "a")
        await wire.ask("delete", session="a")
        kinds = [push["entry"]["kind"] for push in await follower.pushes(1)]
        # The opening may be gone before it could be pushed: of a deleted session only the deletion is left.
        if kinds == ["opened"]:
            kinds = [push["entry"]["kind"] for push in await follower.pushes(1)]
        assert kinds == ["deleted"]


async def test_a_follow_of_all_is_not_told_of_another_device(served: Served) -> None:
    async with (
        greeted(served.url, await served.new_token()) as other,
        greeted(served.url, await served.new_token()) as follower,
    ):
        await follower.ask("sync", follow=True)
        await opened(other, "s")
        await nothing_more(follower)


async def test_unfollow_ends_the_pushes_and_may_be_asked_twice(served: Served) -> None:
    token = await served.new_token()
    async with greeted(served.url, token) as wire, greeted(served.url, token) as follower:
        await follower.ask("sync", follow=True)
        await opened(wire, "a")
        assert (await follower.push())["entry"]["kind"] == "opened"
        for _ in range(2):
            assert (await follower.ask("unfollow"))["type"] == "done"
        await wire.ask("turn", session="a", turn="t")
        await nothing_more(follower)


async def test_unfollow_behind_a_sync_that_is_under_way_ends_its_follow(served: Served) -> None:
    token = await served.new_token()
    async with greeted(served.url, token) as wire, greeted(served.url, token) as follower:
        await opened(wire, "a")
        numbers = [await follower.send("sync", follow=True), await follower.send("unfollow")]
        await follower.answers_to(numbers)
        await wire.ask("turn", session="a", turn="t")
        await nothing_more(follower)


async def test_a_new_follow_replaces_the_old_one_also_without_waiting(served: Served) -> None:
    token = await served.new_token()
    async with greeted(served.url, token) as wire, greeted(served.url, token) as follower:
        await opened(wire, "a", "b")
        await follower.ask("sync", follow=True)
        await follower.ask("sync", session="a", after=2, epoch=served.store.epoch, follow=True)
        await wire.ask("turn", session="b", turn="not told")
        await wire.ask("turn", session="a", turn="told")
        assert (await follower.push())["entry"]["turn"] == "told"
        numbers = [
            await follower.send("sync", session=session, after=2, epoch=served.store.epoch, follow=True)
            for session in ("a", "", "b")
        ]
        await follower.answers_to(numbers)
        follower.pushed.clear()
        await wire.ask("turn", session="a", turn="not told either")
        await wire.ask("turn", session="b", turn="told, too")
        assert (await follower.push())["entry"]["turn"] == "told, too"
        await nothing_more(follower)


async def test_cursors_beyond_the_end_or_of_another_epoch_are_reset(served: Served) -> None:
    async with greeted(served.url, await served.new_token()) as wire:
        await opened(wire, "a")
        epoch = served.store.epoch
        assert (await wire.ask("sync", after=2, epoch=epoch))["code"] == "reset"
        assert (await wire.ask("sync", after=1, epoch="another"))["code"] == "reset"
        assert (await wire.ask("sync", after=1))["code"] == "bad_message"
        assert (await wire.ask("sync", after=0, epoch="another"))["type"] == "page"
        page = await wire.ask("sync", after=1, epoch=epoch)
        assert (page["entries"], page["next"], page["more"]) == ([], 1, False)


async def test_a_sync_with_an_error_begins_no_follow(served: Served) -> None:
    token = await served.new_token()
    async with greeted(served.url, token) as wire, greeted(served.url, token) as follower:
        await follower.ask("sync", after=9, epoch=served.store.epoch, follow=True)
        await opened(wire, "a")
        await nothing_more(follower)


async def test_a_follower_that_does_not_read_is_told_that_it_lags_and_goes_on_from_there(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "FOLLOW_BYTES_MOST", 200_000)
    token = await served.new_token()
    async with greeted(served.url, token) as wire, greeted(served.url, token) as follower:
        await opened(wire, "a")
        await follower.ask("sync", follow=True)
        follower.socket.transport.pause_reading()
        held = next(link for link in served.server._connections if link._follow is not None)
        for count in range(400):
            await wire.ask("result", **text_result("a", f"k{count}", f"{'x' * 99}\n" * 390))
            assert held.outbox.waiting_bytes < 200_000 + 2 * 300_000
        follower.socket.transport.resume_reading()
        seen: list[int] = []
        push = await follower.push()
        while push["type"] == "entry":
            seen.append(push["entry"]["seq"])
            push = await follower.push()
        assert push["type"] == "lagged"
        assert seen == list(range(2, push["next"] + 1))
        assert len(seen) < 400
        await nothing_more(follower)
        page: Map = {"next": push["next"], "more": True}
        while page["more"]:
            page = await follower.ask("sync", after=page["next"], epoch=served.store.epoch, follow=True)
            seen += [entry["seq"] for entry in page["entries"]]
        assert seen == list(range(2, 402))
        await wire.ask("turn", session="a", turn="t")
        assert (await follower.push())["entry"]["kind"] == "turn"


async def test_a_text_larger_than_a_page_is_pushed_cut_and_the_rest_is_had_by_entry_text(served: Served) -> None:
    token = await served.new_token()
    text = "é€😀" * 50_000
    async with greeted(served.url, token) as wire, greeted(served.url, token) as follower:
        await opened(wire, "a")
        await follower.ask("sync", follow=True)
        await wire.ask("message", session="a", key="k", role="user", text=text)
        entry = (await follower.push())["entry"]
        assert (entry["text_chars"], entry["role"]) == (150_000, "user")
        assert 262_136 <= len(entry["text"].encode()) <= 262_144
        joined: str = entry["text"]
        next_char: int | None = len(joined)
        while next_char is not None:
            piece = await follower.ask("entry_text", seq=entry["seq"], from_char=next_char)
            assert len(piece["text"].encode()) <= 262_144
            joined, next_char = joined + piece["text"], piece["next_char"]
        assert joined == text


@pytest.mark.parametrize(
    "wrong",
    [
        {"after": 1, "epoch": "another"},
        {"after": 1},
        {"after": 99_999, "epoch": "right"},
        {"session": "never opened"},
        {"session": "deleted"},
        {"after": -1},
    ],
)
async def test_a_sync_that_is_answered_by_an_error_leaves_the_follow_as_it_is(
    served: Served, wrong: dict[str, Any]
) -> None:
    token = await served.new_token()
    async with greeted(served.url, token) as wire, greeted(served.url, token) as follower:
        await opened(wire, "a", "deleted")
        await wire.ask("delete", session="deleted")
        await follower.ask("sync", follow=True)
        fields = {**wrong, "epoch": served.store.epoch} if wrong.get("epoch") == "right" else wrong
        assert (await follower.ask("sync", **fields, follow=True))["type"] == "error"
        await wire.ask("turn", session="a", turn="told")
        assert (await follower.push())["entry"]["turn"] == "told"
