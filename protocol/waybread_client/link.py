"""The link to a daemon: one connection after another, so that who uses it sees one that holds.

Laws:

- Nothing is sent before `welcome`, and everything of one direction in the order in which it was asked for.
- After a new connection the unanswered requests go first, with their keys, so that nothing is done twice or left out.
- Between two tries lies a random wait whose bound doubles up to 30 s; it shrinks only after a connection that held.
- A token that is refused (4401) or revoked (4403) ends the link: it tries no more.
- No queue grows without bound: not what waits to be sent, not what is pushed.
"""

from __future__ import annotations

import asyncio
import itertools
import ssl as tls
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self, TypeVar

import msgspec

from waybread_client.backoff import CAP_S, Backoff
from waybread_client.errors import AnswerError, Denied, LinkClosed, LinkEnded, LinkError, Lost, Refused, too_large
from waybread_client.exchange import Exchange, Hook
from waybread_client.follow import Follow
from waybread_client.keys import Keys
from waybread_client.session import Session
from waybread_client.wire import Peer, Wire, open_wire
from waybread_protocol.codec import client_codec
from waybread_protocol.errors import CloseCode, ErrorCode, RequestError
from waybread_protocol.limits import MAX_FRAME_BYTES, MAX_MESSAGE_BYTES, SUBPROTOCOL_MSGPACK, Kind
from waybread_protocol.messages import (
    Answer,
    BaseAnswer,
    BaseRequest,
    Describe,
    Description,
    Done,
    Entry,
    EntryText,
    Error,
    Lagged,
    Open,
    Opened,
    Page,
    Ping,
    Push,
    Pushed,
    SessionList,
    Sessions,
    Sync,
    TextPiece,
    Unfollow,
    Welcome,
)

A = TypeVar("A", bound=BaseAnswer)

BUSY_TRIES = 8
"""How often a request is sent in all while the daemon answers `busy`."""


class Link:
    """A link that holds. `async with Link(url, token) as link` connects and closes; or call `connect` and `close`.

    `url` is the daemon's, `ws://host:port` or `wss://host`; a path is only needed where a proxy adds one. `token` was
    given when the device was added. `backoff` and `sleep` are given by tests. Raises `ValueError` for an address that
    is none.
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        client: str = "",
        subprotocol: str = SUBPROTOCOL_MSGPACK,
        max_frame: int = MAX_FRAME_BYTES,
        max_message: int = MAX_MESSAGE_BYTES,
        ssl: tls.SSLContext | None = None,
        proxy: str | None = None,
        keys: Keys | None = None,
        backoff: Backoff | None = None,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self.peer = Peer(
            url=url,
            token=token,
            client=client or Peer.client,
            subprotocol=subprotocol,
            max_frame=max_frame,
            max_message=max_message,
            ssl=ssl,
            proxy=proxy,
        )
        self.keys = Keys() if keys is None else keys
        self.fault = ""
        """Why there is no connection at the moment, for a person; empty while there is one."""
        self._backoff = Backoff() if backoff is None else backoff
        self._sleep = sleep
        self._encode = client_codec(subprotocol).encode
        self._ids = itertools.count(1)
        self._exchange = Exchange()
        self._welcome: Welcome | None = None
        self._settled = asyncio.Event()
        self._wire: Wire | None = None
        self._follow: Follow | None = None
        self._ended: LinkEnded | None = None
        self._task: asyncio.Task[None] | None = None

    def __repr__(self) -> str:
        return f"Link({self.peer.url!r})"

    async def __aenter__(self) -> Self:
        await self.connect()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    # --- Opening and closing -----------------------------------------------------------------------------------------

    async def connect(self, timeout_s: float | None = None) -> Welcome:
        """Connects and says hello, trying again until it succeeds, and answers the daemon's welcome.

        Raises `Denied` for a wrong token, `LinkEnded` where the address is of no link, and `LinkError` where there was no
        connection within `timeout_s`.
        """
        if self._task is None and self._ended is None:
            self._task = asyncio.create_task(self._run())
        try:
            async with asyncio.timeout(timeout_s):
                await self._settled.wait()
        except TimeoutError:
            fault = self.fault or "the daemon did not answer"
            await self.close()
            raise LinkError(f"there was no link within {timeout_s} s: {fault}") from None
        if self._ended is not None:
            raise self._ended
        return self.welcome

    async def close(self) -> None:
        """Closes the connection for good. What still waits for an answer gets `LinkClosed`."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        self._end(LinkClosed())

    @property
    def welcome(self) -> Welcome:
        """The daemon's last welcome: its name for this device, the role, the log's epoch and head, the limits."""
        if self._welcome is None:
            raise LinkError("the link is not open yet: call `connect` first")
        return self._welcome

    @property
    def is_connected(self) -> bool:
        """Whether there is a connection at the moment. Requests may be made all the same: they wait for one."""
        return self._wire is not None

    # --- Requests ----------------------------------------------------------------------------------------------------

    def next_id(self) -> int:
        """The number of a request that is about to be made."""
        return next(self._ids)

    def fits(self, request: BaseRequest) -> bool:
        """Whether the daemon takes a message of this size."""
        return len(self._encoded(request)) <= self.welcome.limits.max_message

    async def ask(self, request: BaseRequest, answer: type[A], hook: Hook | None = None) -> A:
        """Sends a request and gives its answer, however many connections that takes.

        Requests go out in the order of the calls. While the daemon answers `busy` it is asked again, a bounded number of
        times; a request that was asked meanwhile may then overtake this one. `hook` sees each answer when it arrives.

        Raises `Refused` where the daemon answers `error`, `AnswerError` where it answers what nobody asked for, `LinkEnded`.
        """
        encoded = self._encoded(request)
        if len(encoded) > self.welcome.limits.max_message:
            raise too_large(len(encoded), self.welcome.limits.max_message)
        wait = self._backoff.fresh()
        for tries_left in reversed(range(BUSY_TRIES)):
            said = await self._exchange.ask(request.id, encoded, hook)
            if isinstance(said, answer):
                return said
            if not isinstance(said, Error):
                raise AnswerError(f"the daemon answered a request with {type(said).__name__}, not {answer.__name__}")
            if said.code != ErrorCode.BUSY or not said.retry or tries_left == 0:
                raise Refused(said.code, said.message, retry=said.retry, needed=tuple(said.needed))
            await self._sleep(wait.next_s())
        raise AssertionError("the last try returns or raises")

    async def open(self, session: str, kind: Kind, *, title: str = "", directory: str = "") -> Session:
        """Opens a session, or finds the one of that name. Raises `Refused` (`key_conflict`: it is of another kind)."""
        request = Open(id=self.next_id(), session=session, kind=kind, title=title, directory=directory)
        return Session(self, await self.ask(request, Opened))

    async def sessions(self, *, before: int = 0, limit: int = 200) -> SessionList:
        """The device's sessions, last changed first; `before` is the `head` of the last one of the page before."""
        return await self.ask(Sessions(id=self.next_id(), before=before, limit=limit), SessionList)

    async def describe(self) -> Description:
        """The numbers and texts in force, and what a model is to be told."""
        return await self.ask(Describe(id=self.next_id()), Description)

    async def ping(self) -> None:
        """Asks whether the daemon answers."""
        await self.ask(Ping(id=self.next_id()), Done)

    async def text_of(self, entry: Entry) -> str:
        """An entry's whole text: that of a long one stands in the log only in part, and the rest is fetched."""
        pieces, chars = [entry.text], len(entry.text)
        while chars < entry.text_chars:
            piece = await self.ask(EntryText(id=self.next_id(), seq=entry.seq, from_char=chars), TextPiece)
            pieces.append(piece.text)
            if piece.next_char is None:
                break
            chars = piece.next_char
        return "".join(pieces)

    # --- Following ---------------------------------------------------------------------------------------------------

    def follow(self, session: str = "", *, after: int = 0, epoch: str = "") -> Follow:
        """The log of one session, or of all, from the entry behind `after` on: those that are there, then as they come.

        `after` and `epoch` are the `cursor` and `epoch` of an earlier `Follow`. A link has one at a time: raises
        `LinkError` where another is still open.
        """
        if self._follow is not None:
            raise LinkError("this link follows already: close that one first, or open a second link")
        follow = Follow(self._ask_page, session, after, epoch, self._unfollow)
        self._follow = follow
        if self._ended is not None:
            follow.end(self._ended)
        return follow

    def _ask_page(self, after: int, epoch: str, session: str, hook: Hook) -> Awaitable[Page]:
        request = Sync(id=self.next_id(), after=after, epoch=epoch, session=session, follow=True)
        return self.ask(request, Page, hook)

    async def _unfollow(self) -> None:
        self._follow = None
        # Without a connection there is nothing to end: the daemon forgets a follow with its connection.
        if self._wire is not None:
            try:
                await self.ask(Unfollow(id=self.next_id()), Done)
            except LinkEnded:
                return

    # --- The connections ---------------------------------------------------------------------------------------------

    async def _run(self) -> None:
        now = asyncio.get_running_loop().time
        try:
            while True:
                began_s = now()
                try:
                    wire = await open_wire(self.peer, self.next_id())
                    await self._serve(wire)
                except Lost as lost:
                    self.fault = str(lost)
                except LinkEnded as ended:
                    # An address that was a link once is one again when what stands before the daemon is back.
                    if self._welcome is None or isinstance(ended, Denied):
                        raise
                    self.fault = str(ended)
                if now() - began_s >= CAP_S:
                    # A daemon that takes a connection only to drop it is left alone for longer and longer.
                    self._backoff.reset()
                await self._sleep(self._backoff.next_s())
        except LinkEnded as ended:
            self._end(ended)
        except Exception as fault:
            # Whoever waits has to hear of it; the task itself tells asyncio.
            self._end(LinkEnded(f"the link ended by a fault of the client: {fault!r}"))
            raise

    async def _serve(self, wire: Wire) -> None:
        """Sends and receives until the connection ends, and raises why."""
        self._welcome = wire.welcome
        self._wire = wire
        self.fault = ""
        self._exchange.begin_again(wire.welcome.limits.max_message)
        self._settled.set()
        tasks = [asyncio.create_task(self._send(wire)), asyncio.create_task(self._receive(wire))]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._wire = None
            if self._follow is not None:
                self._follow.lose()
            for task in tasks:
                task.cancel()
            ends = await asyncio.gather(*tasks, return_exceptions=True)
            await wire.close()
        # Where both ended, what was received tells more: the daemon's close code.
        for end in reversed(ends):
            if isinstance(end, Exception):
                raise end

    async def _send(self, wire: Wire) -> None:
        while True:
            await wire.send(await self._exchange.next_to_send())

    async def _receive(self, wire: Wire) -> None:
        while True:
            try:
                message = await wire.receive()
            except RequestError as misfit:
                if misfit.re:
                    self._exchange.misunderstand(misfit.re, misfit.sentence)
                elif misfit.code != ErrorCode.UNKNOWN_TYPE:
                    # A push that cannot be read may be an entry: better to fetch it again than to leave it out.
                    await wire.close(CloseCode.UNDECODABLE, misfit.sentence)
                    raise Lost(f"the daemon pushed what cannot be understood: {misfit.sentence}") from None
                continue
            self._hear(message)

    def _hear(self, message: Answer | Push) -> None:
        if not isinstance(message, (Pushed, Lagged)):
            self._exchange.hear(message)
        elif self._follow is not None:
            self._follow.push(message)

    def _end(self, ended: LinkEnded) -> None:
        if self._ended is not None:
            return
        self._ended = ended
        self.fault = str(ended)
        self._exchange.end(ended)
        if self._follow is not None:
            self._follow.end(ended)
        self._settled.set()

    def _encoded(self, request: BaseRequest) -> bytes:
        """Raises `Refused` for what no message can hold; the daemon would say the same."""
        try:
            return self._encode(request)
        except RecursionError:
            raise Refused(ErrorCode.TOO_LARGE, "`args` is nested too deep: send it flatter") from None
        except (OverflowError, TypeError, ValueError, msgspec.MsgspecError) as fault:
            raise Refused(ErrorCode.BAD_MESSAGE, f"the request holds what no message can: {fault}") from None
