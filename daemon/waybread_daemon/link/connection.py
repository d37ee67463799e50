"""One link: frames in, requests to the desk, answers and pushes out."""

from __future__ import annotations

import asyncio
from typing import Any, Protocol

import msgspec
from msgspec import UNSET
from websockets.exceptions import ConnectionClosed

from waybread_daemon.link import opening
from waybread_daemon.link.followers import Follow
from waybread_daemon.link.guard import Bucket
from waybread_daemon.link.intake import Intake, Taken
from waybread_daemon.link.opening import Opening
from waybread_daemon.link.outbox import Outbox
from waybread_daemon.link.sockets import LinkSocket
from waybread_daemon.redaction import client_name
from waybread_daemon.sessions.fitting import smaller, smaller_entry
from waybread_daemon.sessions.job import error_answer
from waybread_daemon.sessions.live import LiveDevice
from waybread_daemon.store.contract import LARGE_BYTES, StoreFault, Token
from waybread_daemon.watching.counts import UNKNOWN
from waybread_protocol.codec import Codec, daemon_codec
from waybread_protocol.errors import CloseCode, ErrorCode, FrameError, RequestError
from waybread_protocol.limits import FEATURES, PROTOCOL, Struct, type_of
from waybread_protocol.loop import LOOP_JSON, PROMPT
from waybread_protocol.messages import (
    ROLES,
    Answer,
    Describe,
    Description,
    Done,
    Entry,
    Error,
    FromClient,
    Hello,
    Inserted,
    Lagged,
    Limits,
    Page,
    Ping,
    Pushed,
    ReadBody,
    Recall,
    Request,
    Result,
    Sync,
    Unfollow,
    Welcome,
)

OPEN_MOST = 1024
"""Requests of one link that may wait for their answers; the next one is read when one of them is answered."""
OPEN_BYTES_MOST = 128 * 1024 * 1024
"""The same, in bytes of their messages."""
UNSENT_BYTES_MOST = 4 * 1024 * 1024
"""Answers and pushes that may wait to be sent before no more requests are read."""
FOLLOW_BYTES_MOST = 1024 * 1024
"""What may wait to be sent before a follower is told that it lags."""
LARGE_ANSWERS_MOST = 4
"""Requests under way whose answers may be as large as a message: a client that never reads holds so many at most."""
CLOSE_TIMEOUT_S = 5
"""So long the closing of a link may take."""

_ANSWER_BYTES = 256
"""More than an answer takes around its text in either codec."""


_LOOP: dict[str, Any] = msgspec.json.decode(LOOP_JSON)["context"]


class Log(opening.Log, Protocol):
    """The part of a structlog logger that the link uses."""

    def debug(self, event: str, **fields: object) -> None:
        """What happens once a request."""
        ...

    def warning(self, event: str, **fields: object) -> None:
        """What an owner should see to."""
        ...


class House(opening.House, Protocol):
    """What the server lends to a connection."""

    limits: Limits
    draining: bool

    @property
    def server_name(self) -> str:
        """Name and version."""
        ...


class Connection:
    """A link from its opening handshake to its end. It is the caller of its requests and the follower of its follow."""

    def __init__(self, socket: LinkSocket, house: House, log: Log) -> None:
        self.socket = socket
        self.token = ""
        self.role = ""
        """Empty until it has said hello."""
        self.page_bytes = house.limits.page_bytes
        self._house = house
        self._counts = house.desk.counts
        self._log = log
        self._codec: Codec[FromClient] = daemon_codec(str(socket.subprotocol))
        self._intake = Intake(self._codec, house.desk.heavy, house.limits.max_message)
        self._room: asyncio.Future[None] | None = None
        self.outbox = Outbox(socket, self._counts, text=self._codec.text, eased=self._ease)
        self._max_message = house.limits.max_message
        self._device: LiveDevice | None = None
        self._allowed: frozenset[str] = frozenset()
        self._bucket: Bucket | None = None
        self._open: dict[int, int] = {}
        self._open_bytes = 0
        self._large: set[int] = set()
        self._follow: Follow | None = None
        self._follow_asked = 0
        self._follow_settled = 0
        """The newest of those asked for that was answered, or ended before it was."""
        self._ended = False

    async def run(self) -> None:
        """Serves the link until it closes."""
        try:
            if await self._hello():
                await self._receive()
        except FrameError as fault:
            self._log.info("link_broken", code=fault.code.value, why=fault.sentence)
            await self.outbox.flushed()
            await self.close(fault.code, fault.sentence[:120])
        except ConnectionClosed:
            pass
        finally:
            self._end_follow()
            self.outbox.close()

    @property
    def open_requests(self) -> int:
        """How many requests wait for their answers."""
        return len(self._open)

    @property
    def ending(self) -> bool:
        """Whether it is being closed already."""
        return self._ended

    async def close(self, code: CloseCode, reason: str) -> None:
        """Takes no more requests and ends the link, whether or not the client has a part in it."""
        self._ended = True
        try:
            async with asyncio.timeout(CLOSE_TIMEOUT_S):
                await self.socket.close(code, reason)
        except TimeoutError:
            # The library waits for room in its write buffer first, and a client that takes nothing makes none.
            self.socket.transport.abort()

    # --- Hello -------------------------------------------------------------------------------------------------------

    async def _hello(self) -> bool:
        """Whether the client said who it is, in time, and is welcome."""
        greeting = await Opening(self, self._house, self._codec, self._log, self.outbox.flushed).greet()
        if greeting is None:
            return False
        await self._welcome(*greeting)
        return True

    async def _welcome(self, hello: Hello, token: Token) -> None:
        house, live = self._house, self._house.desk.live
        device = live.device(token.device.number)
        try:
            await live.load_head(device)
        except StoreFault as fault:
            raise _try_later() from fault
        self._device = device
        self.role = token.role
        self._allowed = ROLES[token.role]
        if token.role == "viewer":
            self._bucket = house.guard.bucket(token.token)
        self._max_message = hello.max_message
        self.outbox.max_frame = hello.max_frame
        # The whole of a page has to fit the client's message: text may grow sixfold in JSON.
        self.page_bytes = min(house.limits.page_bytes, max(hello.max_message // 8, 256))
        self._log.info(
            "link_opened",
            device=token.device.device,
            role=token.role,
            client=client_name(hello.client),
            subprotocol=self._codec.subprotocol,
        )
        self.answer(
            Welcome(
                re=hello.id,
                protocol=PROTOCOL,
                server=house.server_name,
                device=token.device.device,
                name=token.device.name,
                role=token.role,  # type: ignore[arg-type]  # a token has one of the roles
                epoch=live.store.epoch,
                head=device.durable,
                limits=msgspec.structs.replace(house.limits, page_bytes=self.page_bytes),
                features=list(FEATURES),
            )
        )
        # Nobody waits for this note: where the disk is full, too, a link may look.
        live.store.seen(token.token, house.desk.now_ms())

    # --- Requests ----------------------------------------------------------------------------------------------------

    async def _receive(self) -> None:
        while not self._ended:
            while self._crowded():
                self._room = asyncio.get_running_loop().create_future()
                await self._room
            if self._bucket is not None and (pause_s := self._house.guard.pause_s(self._bucket)):
                await asyncio.sleep(pause_s)
            # No name holds a frame while the next one is awaited: it may be large.
            await self._take(await self.socket.recv())

    def _ease(self) -> None:
        if self._room is not None and not self._room.done():
            self._room.set_result(None)

    def _crowded(self) -> bool:
        return (
            len(self._open) >= OPEN_MOST
            or len(self._large) >= LARGE_ANSWERS_MOST
            or self._open_bytes > OPEN_BYTES_MOST
            or self.outbox.waiting_bytes > UNSENT_BYTES_MOST
        )

    async def _take(self, frame: bytes | str) -> None:
        if self._ended:
            return
        self.received(frame)
        try:
            taken = await self._intake.take(frame)
        except RequestError as fault:
            self._counts.requests[UNKNOWN] += 1
            self._refuse(fault.re, self._too_often() or fault)
            return
        if taken is not None:
            self._accept(taken)

    def _too_often(self) -> RequestError | None:
        """Counts a message of a viewer, whatever it is."""
        if self._bucket is not None and (why := self._house.guard.allows(self._bucket)):
            return RequestError(ErrorCode.BUSY, why)
        return None

    def received(self, frame: bytes | str) -> None:
        """Counts a frame."""
        size = len(frame) if isinstance(frame, bytes) or frame.isascii() else len(frame.encode())
        self._counts.received_bytes += size

    def _accept(self, taken: Taken) -> None:
        """Checks what is left of the message, then the role; what is about its session is the desk's."""
        request = taken.request
        request_id, kind = request.id, type_of(request)
        self._counts.requests[kind] += 1
        try:
            if self._bucket is not None and (often := self._too_often()):
                raise often
            if request_id in self._open:
                raise RequestError(
                    ErrorCode.BAD_MESSAGE, f"the id {request_id} is in use by a request that still waits: take another"
                )
            if isinstance(request, Hello):
                raise RequestError(ErrorCode.BAD_MESSAGE, "hello was said already: a link takes one")
            if kind not in self._allowed:
                raise RequestError(ErrorCode.FORBIDDEN, f"the role of this link may not send {kind!r}")
            if self._house.draining:
                raise RequestError(ErrorCode.BUSY, "the daemon is shutting down: link again and send the request again")
        except RequestError as fault:
            self._refuse(request_id, fault)
            return
        self._open[request_id] = taken.size
        self._open_bytes += taken.size
        if _may_answer_large(request):
            self._large.add(request_id)
        self._log.debug("request", id=request_id, type=kind, bytes=taken.size)
        self._act(request, taken)

    def _act(self, request: Request, taken: Taken) -> None:
        device = self._device
        if device is None:
            raise RuntimeError("a request was accepted before hello")
        match request:
            case Ping():
                self.answer(Done(re=request.id))
            case Describe():
                self.answer(Description(re=request.id, loop=_LOOP, prompt=PROMPT))
            case Unfollow():
                self._follow_settled = self._follow_asked
                self._end_follow()
                self.answer(Done(re=request.id))
            case Sync():
                self._sync(device, request)
            case _:
                self._house.desk.submit(device, request, taken.args, self, text=taken.text)

    def _sync(self, device: LiveDevice, request: Sync) -> None:
        self._follow_asked += request.follow
        asked = self._follow_asked

        def made(page: Page, session: int | None) -> None:
            sent = self._send(page)
            # Only an answer changes what is followed, and of several the one that was asked for last.
            if request.follow and asked > self._follow_settled and not self._closed and isinstance(sent, Page):
                self._follow_settled = asked
                self._end_follow()
                if not sent.more:
                    self._follow = Follow(self._house.desk.live, device, self, session, page.head)

        self._house.desk.sync(device, request, self, made)

    @property
    def _closed(self) -> bool:
        return self.socket.close_code is not None

    def _end_follow(self) -> None:
        if self._follow is not None:
            self._follow.end()
            self._follow = None

    # --- Answers and pushes ------------------------------------------------------------------------------------------

    def fits(self, text: str) -> bool:
        """Whether an answer with this text is within the client's `max_message`."""
        most = self._max_message - _ANSWER_BYTES
        growth = 6 if self._codec.text else 4
        if len(text) * growth <= most:
            return True
        return len(self._codec.encode(_Text(text=text))) <= most

    def answer(self, answer: Answer) -> None:
        """Sends the one answer to a request."""
        self._send(answer)

    def _send(self, answer: Answer) -> Answer:
        """Sends the answer, or what the client can take of it, or that it is too large. Returns what is sent."""
        if isinstance(answer, Inserted) and len(answer.text) >= LARGE_BYTES:
            # A text of 60 MB takes a tenth of a second to encode: others are answered meanwhile.
            encoding = asyncio.get_running_loop().run_in_executor(self._house.desk.heavy, self._codec.encode, answer)
            # It is cancelled where the daemon stops without waiting for it.
            encoding.add_done_callback(lambda encoded: encoded.cancelled() or self._put(answer, encoded.result()))
            return answer
        data = self._codec.encode(answer)
        while len(data) > self._max_message and (less := smaller(answer)) is not None:
            answer, data = less, self._codec.encode(less)
        return self._put(answer, data)

    def _put(self, answer: Answer, data: bytes) -> Answer:
        size = self._open.pop(answer.re, 0)
        self._open_bytes -= size
        self._large.discard(answer.re)
        if len(data) > self._max_message:
            fault = RequestError(
                ErrorCode.TOO_LARGE,
                f"the answer has {len(data)} bytes and the `max_message` of this link is {self._max_message}: ask for less",
            )
            answer = error_answer(answer.re, fault)
            data = self._codec.encode(answer)
        if isinstance(answer, Error):
            self._counts.errors[answer.code] += 1
        self.outbox.put(data)
        self._ease()
        return answer

    def _refuse(self, re: int, fault: RequestError) -> None:
        """Answers a message that never became an open request: the id may be another's, which goes on waiting."""
        self._log.debug("refused", id=re, code=fault.code)
        self._counts.errors[fault.code] += 1
        self.outbox.put(self._codec.encode(error_answer(re, fault)))

    @property
    def lags(self) -> bool:
        """Whether more waits to be sent than a follower may leave."""
        return self.outbox.waiting_bytes > FOLLOW_BYTES_MOST

    def push(self, entry: Entry) -> None:
        """Sends an entry to the follower, as much of it as the client takes."""
        if self._follow is None:
            return
        data = self._codec.encode(Pushed(entry=entry))
        while len(data) > self._max_message and (less := smaller_entry(entry)) is not None:
            entry, data = less, self._codec.encode(Pushed(entry=less))
        if len(data) > self._max_message:
            # Not even its names fit: `sync` says so.
            self._end_follow()
            self.push_lagged(entry.seq - 1)
            return
        self.outbox.put(data)

    def push_lagged(self, next_seq: int) -> None:
        """Says that the follow ends."""
        self.outbox.put(self._codec.encode(Lagged(next=next_seq)))


def _try_later() -> FrameError:
    return FrameError(CloseCode.TRY_LATER, "the store cannot be read just now: try again later")


def _may_answer_large(request: Request) -> bool:
    """Whether the answer may be much larger than the request: it shows what is stored."""
    if isinstance(request, Recall):
        return True
    body = request.body if isinstance(request, Result) else None
    if not isinstance(body, ReadBody):
        return False
    content = body.content
    return content.text is UNSET and content.data is UNSET and content.window is UNSET


class _Text(Struct, frozen=True, kw_only=True):
    text: str
