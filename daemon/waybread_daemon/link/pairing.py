"""Pairing: a one-time code that the owner shows, and the device and token that one client gets for it.

A code lives in memory, as a hash, for five minutes: a daemon that starts again knows none. Whoever offers one holds the
`Offer` and waits for its `paired`; whoever says a code in `hello` takes it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import NamedTuple

from waybread_daemon.hygiene.bracket import one_line
from waybread_daemon.link.accounts import make_device_id, make_token, token_id
from waybread_daemon.link.codes import hash_of, make_code, same
from waybread_daemon.store.contract import Device, Reader, Store
from waybread_protocol.limits import PAIRING_TIMEOUT_S, PAIRING_TRIES_MOST, Role

NAME_CHARS = 128
"""Of the name of a device or a token."""
UNNAMED = "unnamed"
"""What a device is called of which nobody has said it."""

_EXPIRED = (
    f"nobody took the code within {PAIRING_TIMEOUT_S // 60} minutes, so it is void: make a new one with `waybread pair`"
)
_GUESSED = (
    f"{PAIRING_TRIES_MOST} wrong codes were tried, so every open code is void: make a new one with `waybread pair`, and look "
    "who else reaches the daemon"
)
_REVOKED = (
    "the device was revoked while its code was open, so the code is void: where it shall link again, make a new one with "
    "`waybread pair --device ID`"
)
_DEVICE_GONE = "the device was deleted while its code was open: pair it as a new one with `waybread pair NAME`"


class PairingVoid(Exception):  # noqa: N818  # no fault of the program: a code that nobody can take any more
    """Why a code cannot be taken any more, or was never given: a sentence for the owner."""


class Made(NamedTuple):
    """What a code became. `token` is its whole text: it is told once, to the client."""

    device: Device
    role: Role
    token: str
    name: str
    """Of the token: what its client calls itself."""


class Offer:
    """A code that is open. `code` is shown to the owner and kept nowhere else.

    `paired` becomes what was made of it, raises `PairingVoid` where the code is void, or is cancelled when the offer is
    withdrawn.
    """

    __slots__ = (
        "_device_made",
        "code",
        "device",
        "expires_ms",
        "name",
        "paired",
        "role",
        "secret_hash",
        "timer",
        "until",
    )

    def __init__(self, name: str, role: Role, device: str, expires_ms: int) -> None:
        self.code = make_code()
        self.secret_hash = hash_of(self.code)
        self.name = name
        self.role: Role = role
        self.device = device
        self.expires_ms = expires_ms
        loop = asyncio.get_running_loop()
        self.until = loop.time() + PAIRING_TIMEOUT_S
        self.paired: asyncio.Future[Made] = loop.create_future()
        self.timer: asyncio.TimerHandle | None = None
        self._device_made: Device | None = None

    async def make(self, store: Store, name: str, now_ms: int) -> Made | None:
        """Makes the device and its token, both durable. None where the offer's own device is gone.

        Raises `StoreFault`. What an earlier try has made is not made again.
        """
        device = await self._found(store) if self.device else self._device_made
        if device is None:
            if self.device:
                return None
            device = await store.add_device(make_device_id(), self.name or good_name(name) or UNNAMED, now_ms)
            self._device_made = device
        # A device that exists keeps its name, so one that the owner gave is the token's.
        of_token = (self.device and self.name) or good_name(name)
        fresh = make_token()
        await store.add_token(fresh.token, device.number, self.role, fresh.secret_hash, now_ms, of_token)
        return Made(device, self.role, fresh.text, of_token)

    async def _found(self, store: Store) -> Device | None:
        def look(reader: Reader) -> Device | None:
            return next((device for device in reader.devices() if device.device == self.device), None)

        return await store.look(look)


class Pairing:
    """The codes that are open."""

    def __init__(self, store: Store, now_ms: Callable[[], int]) -> None:
        self._store = store
        self._now_ms = now_ms
        self._open: list[Offer] = []
        self._taking: set[Offer] = set()
        self._ended: dict[bytes, float] = {}
        """Codes that were good, until when they would have been: to say one again is no guess."""
        self._wrong = 0

    def offer(self, name: str, role: Role, device: str) -> Offer:
        """Opens a code for a new device called `name`, or, where `device` is a device's id, for a further token of it, which is
        called so then.

        Without a `name` it is called as its client says.
        """
        if not self._open and not self._taking:
            self._wrong = 0
        offer = Offer(name, role, device, self._now_ms() + PAIRING_TIMEOUT_S * 1000)
        self._reopen(offer)
        return offer

    def withdraw(self, offer: Offer) -> None:
        """Whoever offered it waits no more: the code is void. A code that was taken stays taken."""
        self._close(offer)
        offer.paired.cancel()

    def revoke(self, device: str) -> None:
        """The device with that id is revoked: no code that was offered for it gives it a token any more."""
        for offer in [*self._open, *self._taking]:
            if offer.device == device:
                self._void(offer, _REVOKED)

    def knows(self, code: str) -> bool:
        """Whether the code is open; it stays so. A wrong one counts as a try."""
        return self._match(code) is not None

    async def take(self, code: str, name: str) -> Made | None:
        """What the code's device gets, once it is durable; None where the code is wrong, used or old.

        `name` is what the client calls itself. Of two that come with one code, one gets it. Raises `StoreFault`; the
        code is good again then.
        """
        offer = self._match(code)
        if offer is None:
            return None
        self._close(offer)
        self._taking.add(offer)
        try:
            made = await offer.make(self._store, name, self._now_ms())
        except BaseException:
            if not offer.paired.done():
                self._reopen(offer)
            raise
        finally:
            self._taking.discard(offer)
        if made is None:
            self._void(offer, _DEVICE_GONE)
            return None
        if offer.paired.done():
            # Withdrawn meanwhile: nobody is told the token, and nobody may use it.
            await self._store.revoke([token_id(made.token)], self._now_ms())
            return None
        offer.paired.set_result(made)
        return made

    def _reopen(self, offer: Offer) -> None:
        self._open.append(offer)
        self._ended.pop(offer.secret_hash, None)
        offer.timer = asyncio.get_running_loop().call_at(offer.until, self._void, offer, _EXPIRED)

    def _match(self, code: str) -> Offer | None:
        asked, found = hash_of(code), None
        # All are compared, whichever it is.
        for offer in self._open:
            if same(offer.secret_hash, asked):
                found = offer
        if found is None and self._open and not self._has_ended(asked):
            self._wrong += 1
            if self._wrong >= PAIRING_TRIES_MOST:
                for offer in list(self._open):
                    self._void(offer, _GUESSED)
        return found

    def _void(self, offer: Offer, why: str) -> None:
        self._close(offer)
        if not offer.paired.done():
            offer.paired.set_exception(PairingVoid(why))
            # Whoever offered it may be gone already, and then nobody asks.
            offer.paired.exception()

    def _has_ended(self, asked: bytes) -> bool:
        """Whether that was a code in the last minutes: a phone whose answer was lost says it again."""
        return self._ended.get(asked, 0) > asyncio.get_running_loop().time()

    def _close(self, offer: Offer) -> None:
        if offer in self._open:
            self._open.remove(offer)
            now = asyncio.get_running_loop().time()
            self._ended = {ended: until for ended, until in self._ended.items() if until > now}
            # As long again as it was good: whoever says it late had it all the same.
            self._ended[offer.secret_hash] = offer.until + PAIRING_TIMEOUT_S
        if offer.timer is not None:
            offer.timer.cancel()


def good_name(name: str) -> str:
    """A name out of what a client calls itself: one line of what can be shown, not too long; empty where nothing is left."""
    shown = "".join(character for character in one_line(name) if character.isprintable())
    return shown[:NAME_CHARS].strip()
