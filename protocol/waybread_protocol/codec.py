"""Bytes to messages and back, in MessagePack or JSON. Nothing here waits or does any I/O."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any, Generic, TypeVar, get_args

import msgspec

from waybread_protocol.errors import CloseCode, ErrorCode, FrameError, RequestError
from waybread_protocol.frames import Head, json_head, msgpack_head
from waybread_protocol.limits import INTEGER_MAX, SUBPROTOCOL_JSON, SUBPROTOCOL_MSGPACK, Struct, type_of
from waybread_protocol.messages import FromClient, FromDaemon

T = TypeVar("T")

_OVER = re.compile(r"Expected `(?:str|bytes|array)` of length <= (\d+) - at `(.*)`")
_SAID_CHARS = 300
"""A decoder's words quote the value at fault, however long it is: so much of them is repeated."""


class Codec(Generic[T]):
    """One subprotocol, decoding messages of the union `expected`.

    `text` says whether its messages are text frames. Encoding gives bytes in both subprotocols. `number` is the field
    that tells which request a message is about: `id` in a request, `re` in an answer.
    """

    def __init__(self, subprotocol: str, expected: Any, *, number: str = "id") -> None:
        self.subprotocol = subprotocol
        self.text = subprotocol == SUBPROTOCOL_JSON
        self._number = number
        self._types = frozenset(type_of(member) for member in get_args(expected))
        self._head: Callable[[bytes, str], Head]
        self._decode: Callable[[Any], T]
        self.encode: Callable[[Struct], bytes]
        if self.text:
            self._decode = msgspec.json.Decoder(expected).decode
            self.encode = msgspec.json.Encoder().encode
            self._head = json_head
        elif subprotocol == SUBPROTOCOL_MSGPACK:
            self._decode = msgspec.msgpack.Decoder(expected).decode
            self.encode = msgspec.msgpack.Encoder().encode
            self._head = msgpack_head
        else:
            raise ValueError(f"unknown subprotocol {subprotocol!r}: it is {SUBPROTOCOL_MSGPACK} or {SUBPROTOCOL_JSON}")

    def decode(self, frame: bytes | str) -> T:
        """The message in a whole frame, or in the joined bytes of parts.

        Raises `FrameError` (the link is to be closed) where the frame is of the other kind or holds no message, and
        `RequestError` (the link goes on) where it holds one that does not fit the contract.
        """
        try:
            return self._decode(frame)
        except (msgspec.DecodeError, RecursionError, ValueError) as fault:
            raise self._explain(frame, fault) from None

    def check_kind(self, frame: bytes | str) -> None:
        """A binary frame is for MessagePack, a text frame for JSON. Raises `FrameError`."""
        if isinstance(frame, str) != self.text:
            kind = "text" if self.text else "binary"
            raise FrameError(CloseCode.UNDECODABLE, f"{self.subprotocol} takes {kind} messages only")

    def _explain(self, frame: bytes | str, fault: Exception) -> FrameError | RequestError:
        data = frame.encode("utf-8", "surrogatepass") if isinstance(frame, str) else frame
        try:
            head = self._head(data, self._number)
        except FrameError as undecodable:
            return undecodable
        # A boolean is an integer to Python, and none on the wire.
        re_ = head.number if type(head.number) is int and 1 <= head.number <= INTEGER_MAX else 0
        if isinstance(fault, RecursionError):
            return RequestError(ErrorCode.TOO_LARGE, "the message is nested too deep: send it flatter", re=re_)
        if not isinstance(fault, msgspec.ValidationError):
            sentence = head.fault or "a string in the message is not valid Unicode: send U+FFFD in its place"
            return RequestError(ErrorCode.BAD_MESSAGE, sentence, re=re_)
        said = str(fault)
        over = _OVER.fullmatch(said)
        if over is not None:
            limit, where = over.groups()
            name = where.removeprefix("$.") or "message"
            return RequestError(ErrorCode.TOO_LARGE, f"`{name}` is longer than its limit of {limit}", re=re_)
        if isinstance(head.type, str) and head.type not in self._types:
            return RequestError(ErrorCode.UNKNOWN_TYPE, f"there is no message of type {head.type[:64]!r}", re=re_)
        return RequestError(
            ErrorCode.BAD_MESSAGE, f"the message does not fit the contract: {said[:_SAID_CHARS]}", re=re_
        )


@functools.cache
def daemon_codec(subprotocol: str) -> Codec[FromClient]:
    """The daemon's side: decodes what clients send."""
    return Codec(subprotocol, FromClient)


@functools.cache
def client_codec(subprotocol: str) -> Codec[FromDaemon]:
    """The client's side: decodes what the daemon sends."""
    return Codec(subprotocol, FromDaemon, number="re")
