"""Tokens: who a connection is, and what happens to it when its token is revoked."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import secrets
from collections.abc import Callable, Iterable
from typing import NamedTuple, Protocol

from waybread_daemon.store.contract import Reader, Store, Token

SECRET_BYTES = 32
ID_BYTES = 8
WATCH_INTERVAL_S = 0.25
"""How often the watch looks whether another process changed the accounts: a look costs some microseconds."""


class FreshToken(NamedTuple):
    """A token just made: `text` is shown once, only the hash of its secret is kept."""

    token: str
    secret_hash: bytes
    text: str


def make_token() -> FreshToken:
    """`id.secret`, the secret of 256 random bits."""
    token, secret = secrets.token_hex(ID_BYTES), secrets.token_urlsafe(SECRET_BYTES)
    return FreshToken(token, _hash(secret), f"{token}.{secret}")


def make_device_id() -> str:
    """A public id for a device."""
    return secrets.token_hex(ID_BYTES)


def token_id(text: str) -> str:
    """The public id in a token's text."""
    return text.partition(".")[0]


def valid_token(reader: Reader, text: str) -> Token | None:
    """The token that `text` is, None where there is no such token, its secret is wrong, or it is revoked.

    The secret is compared in constant time, and an unknown id takes the same way.
    """
    token, _, secret = text.partition(".")
    found = reader.token(token) if token and len(token) <= 64 else None
    wanted = found.secret_hash if found is not None else _hash("")
    right = hmac.compare_digest(_hash(secret), wanted)
    if found is None or not right or found.revoked_ms:
        return None
    return found


def _hash(secret: str) -> bytes:
    """A secret of 256 random bits needs no slow hash: there is nothing to guess."""
    return hashlib.sha256(secret.encode()).digest()


class Holder(Protocol):
    """A connection as the watch sees it."""

    @property
    def token(self) -> str:
        """The public id of its token, held from before it is looked up; empty without one."""
        ...


class Watch:
    """Notices within `WATCH_INTERVAL_S` that tokens were revoked, by this process or another."""

    def __init__(self, store: Store, holders: Callable[[], Iterable[Holder]], revoked: Callable[[str], None]) -> None:
        self._store = store
        self._holders = holders
        self._revoked = revoked

    async def run(self) -> None:
        """Runs until it is cancelled. A store that cannot be read just now is asked again."""
        seen = -1
        while True:
            await asyncio.sleep(WATCH_INTERVAL_S)
            if not self._held():
                continue
            try:
                seen = await self._look(seen)
            except Exception:  # noqa: BLE001, S112  # whatever it is, the next look tells, and the watch must not end
                continue

    def _held(self) -> set[str]:
        return {holder.token for holder in self._holders() if holder.token}

    async def _look(self, seen: int) -> int:
        version = await self._store.look(lambda reader: reader.accounts_version())
        if version == seen:
            return seen
        # Whoever takes hold of a token after this line looks it up in accounts that are no older.
        held = self._held()

        def revoked_of(reader: Reader) -> list[str]:
            return [token for token in held if (found := reader.token(token)) is not None and found.revoked_ms]

        for token in await self._store.look(revoked_of):
            self._revoked(token)
        return version
