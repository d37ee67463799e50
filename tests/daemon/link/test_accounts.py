"""Tokens, and the watch that hears of those that were revoked."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

import pytest

from tests.daemon.waiting import until
from waybread_daemon.link import accounts
from waybread_daemon.link.accounts import FreshToken, Watch, make_device_id, make_token, token_id, valid_token
from waybread_daemon.store.contract import Reader, Store, StoreFault
from waybread_daemon.store.sqlite import SqliteStore, open_accounts
from waybread_protocol.errors import ErrorCode

T = TypeVar("T")


@asynccontextmanager
async def a_store(folder: Path) -> AsyncGenerator[SqliteStore, None]:
    store = SqliteStore.open(folder / "waybread.sqlite", clock_ms=lambda: 1)
    await store.start()
    try:
        yield store
    finally:
        await store.close()


async def added(store: SqliteStore, role: str = "device") -> FreshToken:
    device = await store.add_device(make_device_id(), "phone", 1)
    fresh = make_token()
    await store.add_token(fresh.token, device.number, role, fresh.secret_hash, 1)
    return fresh


def test_a_token_is_a_public_id_and_a_secret_of_256_bits_of_which_only_the_hash_is_kept() -> None:
    fresh = make_token()
    public, _, secret = fresh.text.partition(".")
    assert public == fresh.token == token_id(fresh.text)
    assert len(bytes.fromhex(public)) == 8
    assert len(secret) == 43
    assert fresh.secret_hash == hashlib.sha256(secret.encode()).digest()


def test_no_two_tokens_or_device_ids_are_alike() -> None:
    assert len({make_token().text for _ in range(200)}) == 200
    assert len({make_device_id() for _ in range(200)}) == 200


async def test_only_the_whole_token_is_valid(tmp_path: Path) -> None:
    async with a_store(tmp_path) as store:
        fresh = await added(store, "viewer")
        found = await store.look(lambda reader: valid_token(reader, fresh.text))
        assert found is not None
        assert (found.token, found.role, found.device.name) == (fresh.token, "viewer", "phone")
        wrong = [
            fresh.text[:-1],
            fresh.text + "x",
            fresh.token,
            fresh.token + ".",
            "",
            ".",
            "." + fresh.text,
            "x" * 70_000,
        ]
        wrong.append(make_token().text)
        assert await store.look(lambda reader: [valid_token(reader, text) for text in wrong]) == [None] * len(wrong)


async def test_a_revoked_token_is_not_valid(tmp_path: Path) -> None:
    async with a_store(tmp_path) as store:
        fresh, other = await added(store), await added(store)
        await store.revoke([fresh.token], 5)
        assert await store.look(lambda reader: valid_token(reader, fresh.text)) is None
        assert await store.look(lambda reader: valid_token(reader, other.text)) is not None


class Held:
    """A connection as the watch sees it."""

    def __init__(self, token: str) -> None:
        self.token = token


@asynccontextmanager
async def watching(store: Store, holders: list[Held], told: list[str]) -> AsyncGenerator[None, None]:
    task = asyncio.create_task(Watch(store, lambda: holders, told.append).run())
    try:
        yield
        assert not task.done()
    finally:
        task.cancel()


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accounts, "WATCH_INTERVAL_S", 0.02)


async def test_the_watch_tells_of_a_held_token_that_is_revoked_and_of_no_other(tmp_path: Path) -> None:
    async with a_store(tmp_path) as store:
        one, two, unheld = await added(store), await added(store), await added(store)
        told: list[str] = []
        async with watching(store, [Held(one.token), Held(two.token), Held("")], told):
            await asyncio.sleep(0.1)
            assert told == []
            await store.revoke([unheld.token], 5)
            await store.revoke([two.token], 5)
            await until(lambda: told != [])
            await asyncio.sleep(0.1)
        assert set(told) == {two.token}


async def test_the_watch_hears_of_what_another_process_revokes(tmp_path: Path) -> None:
    async with a_store(tmp_path) as store:
        fresh = await added(store)
        told: list[str] = []
        async with watching(store, [Held(fresh.token)], told):
            await asyncio.sleep(0.05)
            with open_accounts(tmp_path / "waybread.sqlite") as others:
                others.revoke([fresh.token], 5)
            await until(lambda: told == [fresh.token])


async def test_an_id_that_is_no_token_is_not_taken_for_a_revoked_one(tmp_path: Path) -> None:
    async with a_store(tmp_path) as store:
        fresh = await added(store)
        told: list[str] = []
        async with watching(store, [Held("0123456789abcdef"), Held(fresh.token)], told):
            await store.revoke([fresh.token], 5)
            await until(lambda: told != [])
        assert told == [fresh.token]


async def test_a_token_that_is_held_while_the_watch_looks_is_not_missed(tmp_path: Path) -> None:
    """The worst moment: revoked after it was found valid, and noticed before the connection counts as a link."""
    async with a_store(tmp_path) as store:
        fresh, other = await added(store), await added(store)
        holders = [Held(other.token)]
        looks = 0

        class Slow:
            async def look(self, read: Callable[[Reader], T]) -> T:
                nonlocal looks
                looks += 1
                if looks == 2:
                    # The first look saw the version before; the connection takes hold, and is revoked at once.
                    holders.append(Held(fresh.token))
                    await store.revoke([fresh.token], 5)
                return await store.look(read)

        told: list[str] = []
        async with watching(cast("Store", Slow()), holders, told):
            await until(lambda: told == [fresh.token])


async def test_the_watch_outlives_a_store_that_cannot_be_read(tmp_path: Path) -> None:
    async with a_store(tmp_path) as store:
        fresh = await added(store)
        broken = 3

        class Flaky:
            def look(self, read: Callable[[Reader], Any]) -> Awaitable[Any]:
                nonlocal broken
                if broken:
                    broken -= 1
                    raise StoreFault(ErrorCode.INTERNAL, "the disk does not answer")
                return store.look(read)

        told: list[str] = []
        async with watching(cast("Store", Flaky()), [Held(fresh.token)], told):
            await store.revoke([fresh.token], 5)
            await until(lambda: told == [fresh.token])
        assert broken == 0
