"""A device never gets a byte of another's, nor an answer that would differ if the other had nothing.

Twins ask: two new devices with the same past, of which one names things that a neighbour has, and the other things that
nobody has. What they are answered is the same but for the names. The requests and their fields are taken from the table
of requests, so a new one cannot be left out.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import NamedTuple

import pytest
from websockets.asyncio.client import connect
from websockets.typing import Subprotocol

from tests.daemon.wire import CODECS, MSGPACK, Wire, greeted, linked
from tests.limits.watched import Account, assert_no_fault, new_account
from tests.neighbours.houses import all_that_it_sees, frame_of, log_of, looking, neighbour, renamed
from tests.neighbours.words import BASE, MARK, NAMES_NOTHING, NEVER, OWNED, VALUES, Map, Words, read
from tests.running import Daemon, running
from waybread_protocol.messages import REQUESTS

ROLES = ("device", "agent", "viewer")


def fields_of(type_: str) -> list[str]:
    return ["id", *(name for name in REQUESTS[type_].__struct_fields__ if name != "id")]


PLACES = [(type_, name) for type_ in REQUESTS for name in fields_of(type_) if name in VALUES]


class Street(NamedTuple):
    """A daemon, and the neighbour in it with its log as it was at first."""

    daemon: Daemon
    owner: Account
    log: list[Map]


@pytest.fixture
async def street(tmp_path: Path) -> AsyncGenerator[Street]:
    with running(tmp_path / "data") as daemon:
        owner = await neighbour(daemon)
        yield Street(daemon, owner, await log_of(daemon, owner))
        assert_no_fault(daemon)


def test_every_request_and_every_field_of_one_is_tried_or_names_nothing() -> None:
    assert set(BASE) == set(REQUESTS)
    assert {name for type_ in REQUESTS for name in fields_of(type_)} == set(VALUES) | NAMES_NOTHING


async def test_the_neighbour_has_all_that_is_named(street: Street) -> None:
    async with greeted(street.daemon.url, street.owner.token) as wire:
        assert (await wire.ask("show", session=OWNED.session, result=OWNED.result))["result"] == OWNED.result
        assert MARK in (await wire.ask("entry_text", seq=OWNED.seq))["text"]
        by_hash = {"session": OWNED.session, "key": "new", "tool": "read"}
        for sha256 in (OWNED.sha256, OWNED.large_sha256):
            asked = {**by_hash, "key": sha256, "body": read(OWNED, {"sha256": sha256})}
            assert (await wire.ask("result", **asked))["type"] == "inserted"


async def probe(wire: Wire, type_: str, changed: Map) -> list[bytes]:
    """What a request is answered, and what its sender sees of itself afterwards."""
    answer = await wire.ask(type_, **{**BASE[type_], **changed})
    seen = [] if type_ == "hello" else await all_that_it_sees(wire)
    frames = [frame_of(wire, {**answer, "re": 0}), *seen]
    assert not any(MARK.encode() in frame for frame in frames), (type_, changed)
    assert wire.pushed == []
    return frames


@pytest.mark.parametrize("codec", CODECS)
async def test_a_request_with_a_neighbours_name_in_any_field_is_answered_as_one_with_a_name_of_nothing(
    street: Street, codec: str
) -> None:
    tried = 0
    for type_, name in PLACES:
        for variant in VALUES[name](OWNED):
            for role in ROLES:
                frames: list[list[bytes]] = []
                for words in (OWNED, NEVER):
                    async with looking(street.daemon, codec, role) as wire:
                        changed: Map = {name: VALUES[name](words)[variant]}
                        if name == "after":
                            # The epoch is the store's and no secret.
                            changed["epoch"] = (await wire.ask("sync"))["epoch"]
                        frames.append(await probe(wire, type_, changed))
                assert [renamed(frame) for frame in frames[0]] == [renamed(frame) for frame in frames[1]], (
                    type_,
                    name,
                    variant,
                    role,
                )
                tried += 1
    assert tried == 3 * sum(len(VALUES[name](OWNED)) for _, name in PLACES)
    assert await log_of(street.daemon, street.owner) == street.log


async def everything(wire: Wire, words: Words) -> list[bytes]:
    """A session of all requests whose every name is one of these words, and what each is answered."""
    frames: list[bytes] = []

    async def ask(type_: str, **fields: object) -> None:
        frames.append(frame_of(wire, {**await wire.ask(type_, **fields), "re": 0}))

    session = {"session": words.session}
    one_read = read(words, {"sha256": words.sha256})
    await ask("sync", follow=True)
    await ask("show", **session, result="1")
    await ask("open", **session, kind="agent")
    await ask("turn", **session, turn=words.turn)
    await ask("result", **session, key=words.key, tool="read", call=words.call, body=one_read)
    await ask(
        "result", **session, key=words.key, tool="grep", args={"p": words.path}, body={"kind": "text", "text": "1"}
    )
    await ask("recall", **session, key="recalled", result=words.result)
    await ask("show", **session, result=words.result)
    await ask("carry", **session, key="carried", results="all")
    await ask("result", **session, key="large", tool="read", body=read(words, {"sha256": words.large_sha256}))
    await ask("compact", **session, key="compacted")
    await ask("message", **session, key="said", role="user", text="hello")
    await ask("take_back", **session, key="taken", turns=[words.turn])
    await ask("reads", **session)
    await ask("history", **session)
    await ask("sessions")
    await ask("entry_text", seq=words.seq)
    pushed = [await wire.push() for _ in range(7)]
    await ask("delete", **session)
    pushed.append(await wire.push())
    await ask("open", **session, kind="agent")
    await ask("unfollow")
    assert [push["entry"]["seq"] for push in pushed] == [1, 2, 3, 4, 6, 7, 8, 9]
    assert wire.pushed == []
    return frames + [frame_of(wire, push) for push in pushed]


@pytest.mark.parametrize("codec", CODECS)
async def test_a_device_whose_names_are_all_a_neighbours_lives_as_one_whose_names_are_its_own(
    street: Street, codec: str
) -> None:
    lives: list[list[bytes]] = []
    for words in (OWNED, NEVER):
        account = new_account(street.daemon.data)
        async with greeted(street.daemon.url, account.token, codec) as wire:
            lives.append([renamed(frame) for frame in await everything(wire, words)])
    assert lives[0] == lives[1]
    assert len(lives[0]) > 25
    assert not any(MARK.encode() in frame for frame in lives[0])
    # The neighbour's session of that name is still there, and nothing was added to it or taken from it.
    assert await log_of(street.daemon, street.owner) == street.log


@pytest.mark.parametrize("codec", CODECS)
async def test_a_follower_is_pushed_nothing_of_a_neighbour_while_both_work(street: Street, codec: str) -> None:
    account = new_account(street.daemon.data)
    async with (
        greeted(street.daemon.url, account.token, codec) as wire,
        greeted(street.daemon.url, street.owner.token, codec) as owner,
    ):
        await wire.ask("sync", follow=True)
        await wire.ask("open", session=OWNED.session, kind="agent")

        async def work(worker: Wire, mark: str) -> list[Map]:
            body = {"kind": "text", "text": mark}
            return [
                await worker.ask("result", session=OWNED.session, key=f"w{n}", tool="bash", body=body)
                for n in range(50)
            ]

        answers, _ = await asyncio.gather(work(wire, "mine"), work(owner, MARK))
        assert [answer["result"] for answer in answers] == [f"#{number:04x}" for number in range(1, 51)]
        pushed = await wire.pushes(51)
        assert [push["entry"]["seq"] for push in pushed] == list(range(1, 52))
        assert {push["entry"]["text"] for push in pushed[1:]} == {f"[#{number:04x}]\nmine" for number in range(1, 51)}
        # The answer to a later request has come, and no push before it.
        await wire.ask("ping")
        assert wire.pushed == []


async def test_a_token_opens_one_device_and_its_id_alone_or_with_anothers_secret_opens_none(street: Street) -> None:
    one, other = new_account(street.daemon.data), street.owner
    mixed = f"{other.token.partition('.')[0]}.{one.token.partition('.')[2]}"
    nobodys = f"{'0' * 16}.{one.token.partition('.')[2]}"
    said: list[Map] = []
    for token in (mixed, nobodys):
        async with linked(street.daemon.url) as wire:
            said.append(await wire.ask("hello", token=token, client="mixed"))
            assert await wire.close_code() == 4401
    assert said[0] == said[1]
    assert said[0]["code"] == "unauthenticated"


async def test_a_token_in_the_address_or_in_a_header_opens_nothing_and_is_not_logged(street: Street) -> None:
    token = street.owner.token
    address = f"{street.daemon.url}?token={token}&access_token={token}"
    async with connect(
        address,
        subprotocols=[Subprotocol(MSGPACK)],
        additional_headers={"Authorization": f"Bearer {token}", "Cookie": f"token={token}"},
        proxy=None,
    ) as socket:
        wire = Wire(socket)
        assert (await wire.ask("hello", token="", client="address"))["code"] == "unauthenticated"
        assert await wire.close_code() == 4401
    assert token not in street.daemon.log.read_text(encoding="utf-8")
    assert token.partition(".")[2] not in street.daemon.log.read_text(encoding="utf-8")
