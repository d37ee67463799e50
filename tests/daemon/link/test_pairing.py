"""Codes that are offered, taken, withdrawn, guessed and forgotten, with a real store."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from waybread_daemon.link import pairing as module
from waybread_daemon.link.accounts import token_id, valid_token
from waybread_daemon.link.pairing import Made, Offer, Pairing, PairingVoid, good_name
from waybread_daemon.store.contract import StoreFault
from waybread_daemon.store.sqlite import SqliteStore
from waybread_protocol.errors import ErrorCode


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[SqliteStore]:
    store = SqliteStore.open(tmp_path / "waybread.sqlite", clock_ms=lambda: 1)
    await store.start()
    yield store
    await store.close()


@pytest.fixture
def pairing(store: SqliteStore) -> Pairing:
    return Pairing(store, lambda: 5_000)


async def taken(pairing: Pairing, offer: Offer, name: str = "my phone") -> Made:
    made = await pairing.take(offer.code, name)
    assert made is not None
    return made


async def void(offer: Offer) -> str:
    with pytest.raises(PairingVoid) as told:
        await asyncio.wait_for(asyncio.shield(offer.paired), 1)
    return str(told.value)


async def names(store: SqliteStore) -> list[str]:
    return await store.look(lambda reader: [device.name for device in reader.devices()])


async def test_a_code_makes_a_device_and_a_token_of_the_offers_role_and_whoever_offered_it_is_told(
    store: SqliteStore, pairing: Pairing
) -> None:
    offer = pairing.offer("", "agent", "")
    assert offer.expires_ms == 305_000
    made = await taken(pairing, offer)
    assert (made.device.name, made.role) == ("my phone", "agent")
    assert await offer.paired is made
    found = await store.look(lambda reader: valid_token(reader, made.token))
    assert found is not None
    assert (found.device, found.role, found.made_ms) == (made.device, "agent", 5_000)


async def test_the_owners_name_wins_over_the_phones(store: SqliteStore, pairing: Pairing) -> None:
    await taken(pairing, pairing.offer("Anna's phone", "device", ""), "iPhone 99")
    await taken(pairing, pairing.offer("", "device", ""), "iPhone 99")
    await taken(pairing, pairing.offer("", "device", ""), "")
    assert await names(store) == ["Anna's phone", "iPhone 99", "unnamed"]


@pytest.mark.parametrize(
    "said, name",
    [
        ("my phone", "my phone"),
        ("  my phone ", "my phone"),
        ("a\nb\x1b[31m", "a\\nb\\x1b[31m"),
        ("x" * 1000, "x" * 128),
        ("\u202eevil", "evil"),
        (" \u200b ", ""),
    ],
)
def test_what_a_client_calls_itself_becomes_one_line_that_can_be_shown(said: str, name: str) -> None:
    assert good_name(said) == name


async def test_an_offer_for_a_device_makes_a_further_token_of_it_and_no_device(
    store: SqliteStore, pairing: Pairing
) -> None:
    first = await taken(pairing, pairing.offer("tablet", "device", ""))
    second = await taken(pairing, pairing.offer("", "viewer", first.device.device), "another name")
    assert second.device == first.device
    assert await names(store) == ["tablet"]
    roles = await store.look(lambda reader: [token.role for token in reader.tokens()])
    assert sorted(roles) == ["device", "viewer"]


async def test_each_token_of_a_device_is_called_as_its_phone_calls_itself_or_as_the_owner_says(
    store: SqliteStore, pairing: Pairing
) -> None:
    first = await taken(pairing, pairing.offer("tablet", "device", ""), "Anna's\ntablet")
    device = first.device.device
    made = [
        first,
        await taken(pairing, pairing.offer("", "viewer", device), "Ben's phone"),
        await taken(pairing, pairing.offer("Carla's phone", "viewer", device), "iPhone"),
        await taken(pairing, pairing.offer("", "viewer", device), ""),
    ]
    assert [one.name for one in made] == ["Anna's\\ntablet", "Ben's phone", "Carla's phone", ""]
    kept = await store.look(lambda reader: {token.token: token.name for token in reader.tokens()})
    assert kept == {token_id(one.token): one.name for one in made}
    assert await names(store) == ["tablet"]


async def test_an_offer_for_a_device_that_is_gone_is_void(store: SqliteStore, pairing: Pairing) -> None:
    offer = pairing.offer("", "device", "0123456789abcdef")
    assert await pairing.take(offer.code, "phone") is None
    assert "the device was deleted while its code was open" in await void(offer)
    assert await names(store) == []


async def test_a_used_code_is_a_wrong_one(pairing: Pairing) -> None:
    offer = pairing.offer("", "device", "")
    await taken(pairing, offer)
    assert await pairing.take(offer.code, "phone") is None


async def test_of_two_that_come_with_one_code_exactly_one_gets_it(store: SqliteStore, pairing: Pairing) -> None:
    offer = pairing.offer("", "device", "")
    answers = await asyncio.gather(*(pairing.take(offer.code, f"phone {number}") for number in range(5)))
    assert sum(made is not None for made in answers) == 1
    assert len(await names(store)) == 1


async def test_five_wrong_codes_make_every_open_code_void_and_whoever_waits_hears_it(pairing: Pairing) -> None:
    offers = [pairing.offer("", "device", "") for _ in range(3)]
    for _ in range(4):
        assert await pairing.take("0000-0000", "thief") is None
    assert not any(offer.paired.done() for offer in offers)
    assert await pairing.take("1111-1111", "thief") is None
    for offer in offers:
        assert "5 wrong codes were tried" in await void(offer)
        assert await pairing.take(offer.code, "phone") is None
    await taken(pairing, pairing.offer("", "device", ""))


async def test_wrong_codes_count_only_while_one_is_open(pairing: Pairing) -> None:
    for _ in range(20):
        assert await pairing.take("0000-0000", "thief") is None
    offer = pairing.offer("", "device", "")
    for _ in range(4):
        assert not pairing.knows("0000-0000")
    assert pairing.knows(offer.code)
    await taken(pairing, offer)
    later = pairing.offer("", "device", "")
    for _ in range(4):
        assert not pairing.knows("0000-0000")
    await taken(pairing, later)


async def test_to_say_a_code_again_that_was_good_counts_as_no_guess(pairing: Pairing) -> None:
    used, withdrawn, other = (pairing.offer("", "device", "") for _ in range(3))
    await taken(pairing, used)
    pairing.withdraw(withdrawn)
    for _ in range(10):
        assert await pairing.take(used.code, "phone") is None
        assert not pairing.knows(withdrawn.code)
    await taken(pairing, other)


async def test_the_codes_of_a_device_are_void_when_it_is_revoked_and_no_others(pairing: Pairing) -> None:
    made = await taken(pairing, pairing.offer("tablet", "device", ""))
    offer, other = pairing.offer("", "device", made.device.device), pairing.offer("", "device", "")
    pairing.revoke(made.device.device)
    assert "the device was revoked while its code was open" in await void(offer)
    assert await pairing.take(offer.code, "tablet") is None
    await taken(pairing, other)


async def test_a_code_that_is_being_taken_while_its_device_is_revoked_gives_no_token_that_works(
    store: SqliteStore,
) -> None:
    balky: Any = Balky(store)
    balky.refused = set()
    pairing = Pairing(balky, lambda: 1)
    made = await taken(pairing, pairing.offer("tablet", "device", ""))
    balky.go_on.clear()
    offer = pairing.offer("", "device", made.device.device)
    taking = asyncio.create_task(pairing.take(offer.code, "tablet"))
    await asyncio.sleep(0.01)
    pairing.revoke(made.device.device)
    balky.go_on.set()
    assert await taking is None
    assert "revoked" in await void(offer)
    live = await store.look(lambda reader: [token.token for token in reader.tokens() if not token.revoked_ms])
    assert live == [made.token.partition(".")[0]]


async def test_a_code_is_void_after_its_time(pairing: Pairing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PAIRING_TIMEOUT_S", 0.05)
    offer = pairing.offer("", "device", "")
    assert "nobody took the code within 5 minutes" in await void(offer)
    assert await pairing.take(offer.code, "phone") is None


async def test_a_withdrawn_code_is_void(pairing: Pairing) -> None:
    offer = pairing.offer("", "device", "")
    pairing.withdraw(offer)
    pairing.withdraw(offer)
    assert offer.paired.cancelled()
    assert await pairing.take(offer.code, "phone") is None


async def test_to_withdraw_what_was_taken_changes_nothing(pairing: Pairing) -> None:
    offer = pairing.offer("", "device", "")
    made = await taken(pairing, offer)
    pairing.withdraw(offer)
    assert offer.paired.result() is made


class Balky:
    """A store that refuses what it is told to."""

    def __init__(self, store: SqliteStore) -> None:
        self._store = store
        self.refused = {"add_device", "add_token"}
        self.go_on = asyncio.Event()
        self.go_on.set()

    def __getattr__(self, name: str) -> Any:
        if name not in ("add_device", "add_token"):
            return getattr(self._store, name)

        async def call(*arguments: Any) -> Any:
            await self.go_on.wait()
            if name in self.refused:
                raise StoreFault(ErrorCode.STORAGE_FULL, "the disk is full")
            return await getattr(self._store, name)(*arguments)

        return call


async def test_where_the_store_refuses_the_code_stays_good_and_no_device_is_made_twice(store: SqliteStore) -> None:
    balky: Any = Balky(store)
    pairing = Pairing(balky, lambda: 1)
    offer = pairing.offer("", "device", "")
    for refused, devices in (({"add_device"}, 0), ({"add_token"}, 1), ({"add_token"}, 1)):
        balky.refused = refused
        with pytest.raises(StoreFault):
            await pairing.take(offer.code, "phone")
        assert len(await names(store)) == devices
        assert not offer.paired.done()
    balky.refused = set()
    await taken(pairing, offer)
    assert await names(store) == ["phone"]


async def test_a_code_that_is_withdrawn_while_it_is_taken_gives_no_token_that_works(store: SqliteStore) -> None:
    balky: Any = Balky(store)
    balky.refused = set()
    balky.go_on.clear()
    pairing = Pairing(balky, lambda: 1)
    offer = pairing.offer("", "device", "")
    taking = asyncio.create_task(pairing.take(offer.code, "phone"))
    await asyncio.sleep(0.01)
    pairing.withdraw(offer)
    balky.go_on.set()
    assert await taking is None
    (token,) = await store.look(lambda reader: reader.tokens())
    assert token.revoked_ms


async def test_a_code_that_is_void_by_time_while_the_store_refuses_does_not_come_back(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PAIRING_TIMEOUT_S", 0.05)
    balky: Any = Balky(store)
    balky.go_on.clear()
    pairing = Pairing(balky, lambda: 1)
    offer = pairing.offer("", "device", "")
    taking = asyncio.create_task(pairing.take(offer.code, "phone"))
    await asyncio.sleep(0.1)
    balky.go_on.set()
    with pytest.raises(StoreFault):
        await taking
    assert "nobody took the code" in await void(offer)


async def test_a_void_offer_that_nobody_waits_for_is_no_fault_of_the_loop(pairing: Pairing) -> None:
    faults: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: faults.append(context))
    offer = pairing.offer("", "device", "")
    for _ in range(5):
        pairing.knows("wrong")
    with contextlib.suppress(PairingVoid):
        offer.paired.result()
    del offer
    await asyncio.sleep(0)
    assert faults == []


async def test_no_code_and_no_token_is_shown_by_what_prints_an_offer(pairing: Pairing) -> None:
    offer = pairing.offer("", "device", "")
    assert offer.code not in repr(offer) + repr(vars(pairing))
