"""Devices and tokens."""

import asyncio

import pytest

from tests.daemon.store.stores import Log, Place
from waybread_daemon.store.contract import Device, Reader, Store, StoreFault, Token


async def test_a_device_and_its_tokens_come_back_as_they_were_made(store: Store) -> None:
    phone = await store.add_device("dev-1", "phone", 10)
    await store.add_token("tok-b", phone.number, "viewer", b"hash-b", 30, "Anna's phone")
    await store.add_token("tok-a", phone.number, "device", b"hash-a", 20)
    tablet = await store.add_device("dev-2", "tablet", 11)
    first = Token("tok-a", phone, "device", b"hash-a", 20, 0, 0, "")
    second = Token("tok-b", phone, "viewer", b"hash-b", 30, 0, 0, "Anna's phone")

    def look(reader: Reader) -> None:
        assert reader.devices() == [phone, tablet]
        assert reader.tokens() == [first, second]
        assert reader.token("tok-a") == first
        assert reader.token("tok-c") is None

    await store.look(look)
    assert phone == Device(phone.number, "dev-1", "phone", 10)


async def test_a_device_has_another_name_after_it_was_renamed(store: Store) -> None:
    device = await store.add_device("dev", "phone", 1)
    await store.rename_device(device.number, "old phone")
    assert [d.name for d in await store.look(lambda reader: reader.devices())] == ["old phone"]


async def test_tokens_keep_the_time_at_which_they_were_revoked_first(store: Store) -> None:
    device = await store.add_device("dev", "phone", 1)
    for token in ("a", "b", "c"):
        await store.add_token(token, device.number, "device", b"", 1)
    await store.revoke(["a"], 100)
    await store.revoke(["a", "b", "unknown"], 200)
    tokens = await store.look(lambda reader: reader.tokens())
    assert [(token.token, token.revoked_ms) for token in tokens] == [("a", 100), ("b", 200), ("c", 0)]


async def test_the_version_changes_with_every_change_and_not_with_a_use(store: Store) -> None:
    async def version() -> int:
        return await store.look(lambda reader: reader.accounts_version())

    versions = [await version()]
    device = await store.add_device("dev", "phone", 1)
    versions.append(await version())
    await store.add_token("a", device.number, "device", b"", 1)
    versions.append(await version())
    await store.rename_device(device.number, "x")
    versions.append(await version())
    await store.revoke(["a"], 2)
    versions.append(await version())
    assert len(set(versions)) == 5
    await store.seen("a", 3)
    assert await version() == versions[-1]


async def test_the_last_use_of_a_token_is_kept_however_many_come_at_once(store: Store) -> None:
    device = await store.add_device("dev", "phone", 1)
    for token in ("a", "b"):
        await store.add_token(token, device.number, "device", b"", 1)
    await asyncio.gather(*(store.seen(token, at_ms) for at_ms in range(500) for token in ("a", "b")))
    tokens = await store.look(lambda reader: reader.tokens())
    assert [token.seen_ms for token in tokens] == [499, 499]


async def test_a_use_noted_just_before_the_close_is_kept(place: Place) -> None:
    store = await place.open()
    device = await store.add_device("dev", "phone", 1)
    await store.add_token("a", device.number, "device", b"", 1)
    waits = [store.seen("a", at_ms) for at_ms in (5, 6)]
    await store.close()
    await asyncio.gather(*waits)
    store = await place.open()
    assert [token.seen_ms for token in await store.look(lambda reader: reader.tokens())] == [6]
    await store.close()


async def test_a_device_id_given_twice_is_refused_and_changes_nothing(store: Store, log: Log) -> None:
    await store.add_device("dev", "phone", 1)
    with pytest.raises(StoreFault):
        await store.add_device("dev", "other", 2)
    assert [d.name for d in await store.look(lambda reader: reader.devices())] == ["phone"]
    await log.session()
