"""Pushes: a follow reads the log from its cursor on, as fast as its client takes it, and keeps no queue of its own."""

from __future__ import annotations

import asyncio
from typing import Protocol

from waybread_daemon.sessions.entries import Entries, fill, rows_after
from waybread_daemon.sessions.live import Live, LiveDevice
from waybread_daemon.store.contract import Reader, StoreFault
from waybread_protocol.messages import Entry

ENTRIES_A_LOOK = 256


class Following(Protocol):
    """The connection that a follow pushes to."""

    @property
    def page_bytes(self) -> int:
        """Where a text is cut."""
        ...

    @property
    def lags(self) -> bool:
        """Whether more waits to be sent to the client than may."""
        ...

    def push(self, entry: Entry) -> None:
        """Sends an entry."""
        ...

    def push_lagged(self, next_seq: int) -> None:
        """Says that the follow ends: the client syncs again from there."""
        ...


class Follow:
    """Pushes the entries after `cursor`, of one session (its number in the store) or of all."""

    def __init__(self, live: Live, device: LiveDevice, following: Following, session: int | None, cursor: int) -> None:
        self._live = live
        self._device = device
        self._following = following
        self._session = session
        self._cursor = cursor
        self._risen = asyncio.Event()
        if device.durable > cursor:
            self._risen.set()
        device.listeners.append(self._rise)
        self._task = asyncio.get_running_loop().create_task(self._run())

    def end(self) -> None:
        """No more pushes."""
        if self._rise in self._device.listeners:
            self._device.listeners.remove(self._rise)
        self._task.cancel()

    def _rise(self, _seq: int) -> None:
        self._risen.set()

    async def _run(self) -> None:
        while True:
            await self._risen.wait()
            self._risen.clear()
            more = True
            while more:
                if self._following.lags:
                    self._following.push_lagged(self._cursor)
                    self.end()
                    return
                more = await self._push_some()

    async def _push_some(self) -> bool:
        cursor, session, device = self._cursor, self._session, self._device.number
        page_bytes = self._following.page_bytes

        def read(reader: Reader) -> tuple[Entries, int]:
            head = reader.head(device)
            return fill(reader, rows_after(reader, device, cursor, session), page_bytes, ENTRIES_A_LOOK), head

        try:
            (entries, more), head = await self._live.store.look(read)
        except StoreFault:
            # The log cannot be read just now: nothing is pushed, and the next commit tries again.
            return False
        for entry in entries:
            self._following.push(entry)
        self._cursor = entries[-1].seq if more else max(cursor, head)
        return more
