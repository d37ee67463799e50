"""The log as it grows: from a cursor on, through lost connections, `lagged` and `reset`, none twice and none left out."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from waybread_client.errors import LinkClosed, LinkEnded, Refused
from waybread_client.exchange import Hook
from waybread_protocol.errors import ErrorCode
from waybread_protocol.messages import Answer, Entry, Lagged, Page, Push, Pushed

BUFFER_ENTRIES = 1024
BUFFER_CHARS = 4 * 1024 * 1024

AskPage = Callable[[int, str, str, Hook], Awaitable[object]]
"""Sends `sync` with `follow`: the cursor, its epoch, the session, and what takes the answer when it arrives."""


@dataclass(frozen=True, slots=True)
class Reset:
    """The daemon's log is another one than the caller's (a restored backup): what follows begins at its start."""


class Follow(AsyncIterator["Entry | Reset"]):
    """Entries of the log, one by one. `Link.follow` makes it; close it when no more are wanted.

    `cursor` and `epoch` tell how far the caller has come: kept and given to `Link.follow` later, even by another process,
    they go on from there. A `Reset` among the entries says that whatever was built from earlier ones is void. A caller
    that takes entries slowly makes nothing grow: what does not fit into the buffer is fetched again.

    The iteration ends when the link or the follow is closed. It raises `Denied` where the token is no longer valid and
    `Refused` where the daemon refuses to be followed.
    """

    def __init__(
        self, ask_page: AskPage, session: str, cursor: int, epoch: str, stop: Callable[[], Awaitable[None]]
    ) -> None:
        self.session = session
        self.cursor = cursor
        self.epoch = epoch
        self._ask_page = ask_page
        self._stop = stop
        self._page: deque[Entry] = deque()
        self._page_next = cursor
        self._pushed: deque[Push] = deque()
        self._pushed_chars = 0
        self._live = False
        """Whether pushes are of the follow that the last page began."""
        self._news = asyncio.Event()
        self._ended: LinkEnded | None = None

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Entry | Reset:
        while True:
            if self._page:
                entry = self._page.popleft()
                # Behind its last entry a page may have looked at numbers that are not in it.
                self.cursor = entry.seq if self._page else self._page_next
                return entry
            if self._pushed:
                pushed = self._next_pushed()
                if pushed is not None:
                    return pushed
            elif self._ended is not None:
                if isinstance(self._ended, LinkClosed):
                    raise StopAsyncIteration
                raise self._ended
            elif self._live:
                self._news.clear()
                await self._news.wait()
            elif await self._sync():
                return Reset()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Ends the iteration, and with it the daemon's pushes."""
        if self._ended is None:
            self.end(LinkClosed())
            self._pushed.clear()
            self._page.clear()
            await self._stop()

    def _next_pushed(self) -> Entry | None:
        message = self._pushed.popleft()
        if isinstance(message, Lagged):
            self.cursor = max(self.cursor, message.next)
            return None
        entry = message.entry
        self._pushed_chars -= len(entry.text)
        if entry.seq <= self.cursor:
            return None
        self.cursor = entry.seq
        return entry

    async def _sync(self) -> bool:
        """Fetches the next page. Whether the log turned out to be another one."""
        try:
            await self._ask_page(self.cursor, self.epoch, self.session, self.heard)
        except Refused as refused:
            if refused.code != ErrorCode.RESET or (self.cursor == 0 and not self.epoch):
                raise
            self.cursor, self.epoch = 0, ""
            return True
        except LinkEnded as ended:
            self._ended = ended
        return False

    # --- What the link calls -----------------------------------------------------------------------------------------

    def heard(self, answer: Answer) -> None:
        """The page has come. Pushes before it were of an older follow and are in it; those after it go on from it.

        It is kept here and now: a caller that is cancelled while it waits must not lose a page that pushes go on from.
        """
        if not isinstance(answer, Page):
            return
        self.epoch = answer.epoch
        self._page.extend(answer.entries)
        self._page_next = answer.next
        if not answer.entries:
            self.cursor = answer.next
        self._live = not answer.more

    def push(self, message: Push) -> None:
        """An entry, or `lagged`, has come."""
        if not self._live:
            return
        if isinstance(message, Pushed):
            chars = len(message.entry.text)
            if len(self._pushed) >= BUFFER_ENTRIES or (self._pushed and self._pushed_chars + chars > BUFFER_CHARS):
                # The caller is slower than the log: what it has not got is fetched again from its cursor.
                self._live = False
                return
            self._pushed_chars += chars
        else:
            self._live = False
        self._pushed.append(message)
        self._news.set()

    def lose(self) -> None:
        """The connection is gone: what is buffered stays right, and the rest is fetched on the next one."""
        self._live = False
        self._news.set()

    def end(self, ended: LinkEnded) -> None:
        """The link is over. What has come so far is still given."""
        self._ended = ended
        self._live = False
        self._news.set()
