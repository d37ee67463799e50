"""Following the log: none twice, none left out, through lost connections, `lagged`, `reset` and a slow caller."""

import asyncio

import pytest

from tests.client.fake import Side, done, entry, fake_daemon, link_to, page, pushed
from waybread_client import Denied, Follow, LinkError, Refused, Reset
from waybread_client.follow import BUFFER_ENTRIES
from waybread_protocol.errors import CloseCode
from waybread_protocol.messages import Error, Lagged, Page, Ping, Struct, Sync, Unfollow


async def take(follow: Follow, count: int) -> list[int | str]:
    """The next items: an entry's `seq`, or `reset`."""
    taken: list[int | str] = []
    while len(taken) < count:
        item = await asyncio.wait_for(anext(follow), 5)
        taken.append("reset" if isinstance(item, Reset) else item.seq)
    return taken


async def collect(follow: Follow) -> list[object]:
    return [item async for item in follow]


async def unfollowed(side: Side) -> None:
    await side.say(done((await side.hear_a(Unfollow)).id))


async def test_pages_first_then_pushes_and_the_daemon_is_told_of_the_end() -> None:
    async def script(side: Side) -> None:
        await side.welcome()
        first = await side.hear_a(Sync)
        assert (first.after, first.epoch, first.session, first.follow) == (0, "", "s", True)
        await side.say(page(first.id, [1, 2], more=True))
        second = await side.hear_a(Sync)
        assert (second.after, second.epoch) == (2, "e1")
        await side.say(page(second.id, [3], next=6), pushed(7), pushed(9))
        await unfollowed(side)

    async with fake_daemon(script) as fake, link_to(fake) as link:
        async with link.follow("s") as follow:
            assert await take(follow, 3) == [1, 2, 3]
            assert (follow.cursor, follow.epoch) == (6, "e1")
            assert await take(follow, 2) == [7, 9]
            assert follow.cursor == 9
        with pytest.raises(StopAsyncIteration):
            await anext(follow)


async def test_a_caller_goes_on_from_a_cursor_that_it_kept() -> None:
    async def script(side: Side) -> None:
        await side.welcome()
        sync = await side.hear_a(Sync)
        assert (sync.after, sync.epoch) == (41, "e1")
        await side.say(page(sync.id, [42]))

    async with fake_daemon(script) as fake, link_to(fake) as link:
        assert await take(link.follow(after=41, epoch="e1"), 1) == [42]


@pytest.mark.parametrize("lost_after", ["hearing", "the first page", "the page", "one push", "two pushes"])
async def test_a_lost_connection_leaves_out_nothing_and_gives_nothing_twice(lost_after: str) -> None:
    async def script(side: Side) -> None:
        await side.welcome()
        sync = await side.hear_a(Sync)
        if side.number == 2:
            await side.say(page(sync.id, list(range(sync.after + 1, 7))), pushed(7))
            return
        said: dict[str, list[Struct]] = {
            "hearing": [],
            "the first page": [page(sync.id, [1, 2], more=True)],
            "the page": [page(sync.id, [1, 2, 3])],
            "one push": [page(sync.id, [1, 2, 3]), pushed(4)],
            "two pushes": [page(sync.id, [1, 2, 3]), pushed(4), pushed(5)],
        }
        await side.say(*said[lost_after])
        # An aborted connection drops what has not left yet.
        await asyncio.sleep(0.02)
        await side.drop()

    async with fake_daemon(script) as fake, link_to(fake) as link:
        assert await take(link.follow(), 7) == [1, 2, 3, 4, 5, 6, 7]
        assert fake.connections == 2


async def test_lagged_syncs_again_from_its_next() -> None:
    async def script(side: Side) -> None:
        await side.welcome()
        first = await side.hear_a(Sync)
        # What comes behind `lagged` is of no follow.
        await side.say(page(first.id, [1]), pushed(2), Lagged(next=4), pushed(9))
        second = await side.hear_a(Sync)
        assert second.after == 4
        await side.say(page(second.id, [5, 6]), pushed(7))

    async with fake_daemon(script) as fake, link_to(fake) as link:
        assert await take(link.follow(), 5) == [1, 2, 5, 6, 7]


async def test_reset_is_told_and_starts_over_from_the_beginning() -> None:
    async def script(side: Side) -> None:
        await side.welcome(epoch=f"e{side.number}")
        sync = await side.hear_a(Sync)
        if side.number == 1:
            await side.say(page(sync.id, [1, 2, 3]), pushed(4))
            await asyncio.sleep(0.02)
            await side.drop()
            return
        assert (sync.after, sync.epoch) == (4, "e1")
        await side.say(Error(re=sync.id, code="reset", message="another log", retry=False))
        sync = await side.hear_a(Sync)
        assert (sync.after, sync.epoch) == (0, "")
        await side.say(page(sync.id, [1, 2], epoch="e2"), pushed(3))

    async with fake_daemon(script) as fake, link_to(fake) as link:
        follow = link.follow()
        assert await take(follow, 8) == [1, 2, 3, 4, "reset", 1, 2, 3]
        assert (follow.cursor, follow.epoch) == (3, "e2")


async def test_a_reset_of_the_very_beginning_does_not_go_round_for_ever() -> None:
    async def script(side: Side) -> None:
        await side.welcome()
        await side.say(Error(re=(await side.hear_a(Sync)).id, code="reset", message="odd", retry=False))

    async with fake_daemon(script) as fake, link_to(fake) as link:
        with pytest.raises(Refused, match="reset"):
            await anext(link.follow())


async def test_a_refused_follow_raises() -> None:
    async def script(side: Side) -> None:
        await side.welcome()
        await side.say(Error(re=(await side.hear_a(Sync)).id, code="unknown_session", message="s?", retry=False))

    async with fake_daemon(script) as fake, link_to(fake) as link:
        with pytest.raises(Refused, match="unknown_session"):
            await anext(link.follow("s"))


async def test_pushes_before_the_page_are_of_an_older_follow() -> None:
    async def script(side: Side) -> None:
        await side.welcome()
        sync = await side.hear_a(Sync)
        # The old follow was ahead of this page; what lies between comes behind it once more.
        await side.say(pushed(12), page(sync.id, [10]), pushed(11), pushed(12), pushed(12), pushed(13))

    async with fake_daemon(script) as fake, link_to(fake) as link:
        assert await take(link.follow(after=9, epoch="e1"), 4) == [10, 11, 12, 13]


async def test_a_slow_caller_makes_no_buffer_grow_and_misses_nothing() -> None:
    total = BUFFER_ENTRIES + 500
    answered = asyncio.Event()

    async def script(side: Side) -> None:
        await side.welcome()
        sync = await side.hear_a(Sync)
        await side.say(page(sync.id, [1]), *(pushed(seq) for seq in range(2, total + 1)))
        await side.say(done((await side.hear_a(Ping)).id))
        answered.set()
        sync = await side.hear_a(Sync)
        assert sync.after == BUFFER_ENTRIES + 1
        await side.say(page(sync.id, list(range(sync.after + 1, total + 1))), pushed(total + 1))

    async with fake_daemon(script) as fake, link_to(fake) as link:
        follow = link.follow()
        assert await take(follow, 1) == [1]
        await link.ping()
        await answered.wait()
        assert await take(follow, total) == list(range(2, total + 2))


async def test_the_buffer_is_bounded_in_characters_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("waybread_client.follow.BUFFER_CHARS", 100)

    async def script(side: Side) -> None:
        await side.welcome()
        sync = await side.hear_a(Sync)
        await side.say(page(sync.id, [1]), pushed(2, "x" * 60), pushed(3, "x" * 60), pushed(4))
        await side.say(done((await side.hear_a(Ping)).id))
        sync = await side.hear_a(Sync)
        assert sync.after == 2
        # One entry goes through however long it is.
        await side.say(page(sync.id, [3, 4]), pushed(5, "x" * 500))

    async with fake_daemon(script) as fake, link_to(fake) as link:
        follow = link.follow()
        assert await take(follow, 1) == [1]
        await link.ping()
        assert await take(follow, 4) == [2, 3, 4, 5]


async def test_a_cancelled_wait_loses_nothing() -> None:
    go_on = asyncio.Event()

    async def script(side: Side) -> None:
        await side.welcome()
        sync = await side.hear_a(Sync)
        await go_on.wait()
        await side.say(page(sync.id, [1, 2]), pushed(3))
        sync = await side.hear_a(Sync)
        assert sync.after == 0
        await side.say(page(sync.id, [1, 2, 3]))
        await asyncio.sleep(0.05)
        await side.say(pushed(4))

    async with fake_daemon(script) as fake, link_to(fake) as link:
        follow = link.follow()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(anext(follow), 0.02)
        go_on.set()
        assert await take(follow, 3) == [1, 2, 3]
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(anext(follow), 0.01)
        assert await take(follow, 1) == [4]


async def test_a_page_that_came_as_its_caller_was_cancelled_is_kept() -> None:
    follow = Follow(_never, "", 0, "", _nothing)
    follow.heard(Page(re=1, epoch="e1", entries=[entry(1)], next=1, head=1, more=False))
    follow.push(pushed(2))
    assert await take(follow, 2) == [1, 2]


async def _never(*_: object) -> None:
    raise AssertionError("the page is there: nobody needs to ask")


async def _nothing() -> None:
    return


async def test_a_page_without_entries_moves_the_cursor() -> None:
    async def script(side: Side) -> None:
        await side.welcome()
        sync = await side.hear_a(Sync)
        await side.say(page(sync.id, [], next=30, more=True))
        sync = await side.hear_a(Sync)
        assert sync.after == 30
        await side.say(page(sync.id, [31]))

    async with fake_daemon(script) as fake, link_to(fake) as link:
        assert await take(link.follow(), 1) == [31]


async def test_a_push_that_cannot_be_read_is_fetched_again_and_not_left_out() -> None:
    async def script(side: Side) -> None:
        await side.welcome()
        sync = await side.hear_a(Sync)
        if side.number == 1:
            await side.say(page(sync.id, [1]))
            await side.say_raw({"type": "entry", "entry": {"seq": "two"}})
            await side.socket.wait_closed()
            assert side.socket.close_code == CloseCode.UNDECODABLE
        else:
            assert sync.after == 1
            await side.say(page(sync.id, [2]))

    async with fake_daemon(script) as fake, link_to(fake) as link:
        assert await take(link.follow(), 2) == [1, 2]


async def test_entries_of_a_newer_kind_and_with_newer_fields_are_given() -> None:
    async def script(side: Side) -> None:
        await side.welcome()
        sync = await side.hear_a(Sync)
        newer = {"seq": 1, "session": "s", "at_ms": 5, "kind": "newer", "more": {"x": 1}}
        await side.say_raw(
            {"type": "page", "re": sync.id, "epoch": "e", "entries": [newer], "next": 1, "head": 1, "more": False}
        )

    async with fake_daemon(script) as fake, link_to(fake) as link:
        item = await anext(link.follow())
        assert not isinstance(item, Reset)
        assert (item.kind, item.text, item.turns) == ("newer", "", [])


async def test_a_link_has_one_follow_at_a_time() -> None:
    async def script(side: Side) -> None:
        await side.welcome()
        await unfollowed(side)

    async with fake_daemon(script) as fake, link_to(fake) as link:
        follow = link.follow()
        with pytest.raises(LinkError, match="follows already"):
            link.follow()
        await follow.close()
        await follow.close()
        link.follow("another")


async def test_the_iteration_ends_with_the_link_and_raises_where_the_token_was_revoked() -> None:
    async def script(side: Side) -> None:
        await side.welcome()
        sync = await side.hear_a(Sync)
        await side.say(page(sync.id, [1]), pushed(2))
        if side.number == 1:
            await side.socket.close(CloseCode.REVOKED)

    async with fake_daemon(script) as fake:
        async with link_to(fake) as link:
            follow = link.follow()
            assert await take(follow, 2) == [1, 2]
            with pytest.raises(Denied, match="revoked"):
                await anext(follow)
        async with link_to(fake) as link:
            follow = link.follow()
            assert await take(follow, 2) == [1, 2]
            rest = asyncio.create_task(collect(follow))
            await asyncio.sleep(0.01)
            await link.close()
            assert await rest == []
