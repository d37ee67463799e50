"""What comes in on a link: frames to whole requests, large ones in another thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from typing import NamedTuple, TypeVar, cast

from waybread_daemon.store.contract import LARGE_BYTES
from waybread_protocol.canonical import canonical_args
from waybread_protocol.codec import Codec
from waybread_protocol.errors import CloseCode, FrameError, RequestError
from waybread_protocol.lifting import lift
from waybread_protocol.messages import FromClient, Part, Request, Result
from waybread_protocol.parts import Joiner
from waybread_protocol.weight import check_weight

T = TypeVar("T")


class Taken(NamedTuple):
    """A request that is in order as a message: `args` its arguments in canonical form, `text` its large text, lifted.

    `size` is that of the message in bytes.
    """

    request: Request
    args: bytes
    size: int
    text: bytes | None


class Intake:
    """Frames of one link, in the order in which they came."""

    __slots__ = ("_codec", "_heavy", "_joiner")

    def __init__(self, codec: Codec[FromClient], heavy: Executor, max_message: int) -> None:
        self._codec = codec
        self._heavy = heavy
        self._joiner = Joiner(max_message)

    async def take(self, frame: bytes | str) -> Taken | None:
        """The request that is complete with this frame, None where more parts have to come.

        Raises `FrameError` where the link is to be closed, and `RequestError` for a message that is answered by an error.
        """
        self._codec.check_kind(frame)
        size = len(frame)
        try:
            message, text = await self._decoded(frame)
        except RequestError:
            self._check_nothing_waits()
            raise
        if type(message) is Part:
            pieces = self._joiner.add(message)
            if pieces is None:
                return None
            size = sum(map(len, pieces))
            # They may be 60 MB, and what follows takes its time: no name holds them.
            del frame, message
            message, text = await self._joined(pieces, size)
            if type(message) is Part:
                raise FrameError(CloseCode.UNDECODABLE, "a part holds a part")
        else:
            self._check_nothing_waits()
        request = cast("Request", message)
        return Taken(request, await self._args(request, size), size, text)

    def _check_nothing_waits(self) -> None:
        if self._joiner.waiting:
            raise FrameError(CloseCode.UNDECODABLE, "a message came between the parts of another")

    async def _args(self, request: Request, size: int) -> bytes:
        if type(request) is not Result:
            return b""
        args = request.args
        try:
            if size < LARGE_BYTES:
                return canonical_args(args)
            return await self._heavily(lambda: canonical_args(args))
        except RequestError as fault:
            fault.re = request.id
            raise

    async def _decoded(self, data: bytes | str) -> tuple[FromClient, bytes | None]:
        """The message, and its text beside it where that is large."""
        if len(data) < LARGE_BYTES:
            return self._codec.decode(data), None
        return await self._heavily(lambda: self._decoded_large(data))

    async def _joined(self, pieces: list[bytes], size: int) -> tuple[FromClient, bytes | None]:
        if size < LARGE_BYTES:
            return self._codec.decode(b"".join(pieces)), None

        def joined() -> tuple[FromClient, bytes | None]:
            whole = b"".join(pieces)
            pieces.clear()
            return self._decoded_large(whole)

        return await self._heavily(joined)

    def _decoded_large(self, data: bytes | str) -> tuple[FromClient, bytes | None]:
        check_weight(data, text=self._codec.text)
        lifted = lift(data, text=self._codec.text)
        return (self._codec.decode(data), None) if lifted is None else lifted

    async def _heavily(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._heavy, work)
