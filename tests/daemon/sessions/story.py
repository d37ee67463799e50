"""A session told in short words."""

from __future__ import annotations

import hashlib

from tests.daemon.office import Office, read, text
from waybread_protocol.messages import (
    Carry,
    Compact,
    Compacted,
    Done,
    Inserted,
    TakeBack,
    Turn,
)

LINES = "".join(f"line {number}\n" for number in range(1, 11))
OTHER = "other\n"
SHA = hashlib.sha256(LINES.encode()).hexdigest()


class Story:
    """A session told in short words, with fresh keys."""

    def __init__(self, office: Office, session: str = "s") -> None:
        self.office = office
        self.session = session
        self._keys = 0

    def key(self) -> str:
        self._keys += 1
        return f"key {self._keys:04}"

    async def turn(self, name: str) -> Done:
        return await self.office.ask(Turn(id=1, session=self.session, turn=name), Done)

    async def read(self, name: str = "a", content: str = LINES) -> Inserted:
        return await self.office.insert(
            read(self.key(), content, path=name, absolute=f"/x/{name}", session=self.session)
        )

    async def grep(self, body: str = "hit") -> Inserted:
        return await self.office.insert(text(self.key(), body, self.session, tool="grep"))

    async def take_back(self, *turns: str) -> Done:
        return await self.office.ask(TakeBack(id=1, session=self.session, key=self.key(), turns=list(turns)), Done)

    async def compact(self) -> Compacted:
        return await self.office.ask(Compact(id=1, session=self.session, key=self.key()), Compacted)

    async def carry(self, results: object) -> Done:
        return await self.office.ask(
            Carry(id=1, session=self.session, key=self.key(), results=results),  # type: ignore[arg-type]
            Done,
        )

    async def stub(self, name: str = "a", content: str = LINES) -> str | None:
        """What a read made now names, None where it is full."""
        return (await self.read(name, content)).stub_of
