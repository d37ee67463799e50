"""Large texts are lifted out of a message without becoming a string: their UTF-8 is all that is wanted of them.

A string of 60 MB with one emoji takes four times its bytes, and making it holds the interpreter for a tenth of a second.
So a large message is decoded around its one large text, and the text is checked, and in JSON unescaped, in pieces.
Whatever is unusual about a message goes the ordinary way, which finds the fault and words it.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec import UNSET, Meta, UnsetType

from waybread_protocol.limits import Integer, Label, MessageRole, Name, Path, RequestId, Sha256, Struct
from waybread_protocol.loop import CONTEXT
from waybread_protocol.messages import Content, Message, ReadBody, Request, Result, TextBody

LIFTED_BYTES = 256 * 1024
"""Texts from this size on are lifted."""
_PIECE_BYTES = 256 * 1024


class Lifted(NamedTuple):
    """A request whose one large text is empty in it and stands beside it as UTF-8."""

    request: Request
    text: bytes


class _Result(Struct, frozen=True, kw_only=True):
    type: str
    id: RequestId
    session: Name
    key: Name
    tool: Label
    args: dict[str, Any] = {}
    body: msgspec.Raw
    call: Label = ""


class _Message(Struct, frozen=True, kw_only=True):
    type: str
    id: RequestId
    session: Name
    key: Name
    role: MessageRole
    text: msgspec.Raw


class _Kind(Struct, frozen=True, kw_only=True):
    kind: str


class _TextBody(Struct, frozen=True, kw_only=True):
    text: msgspec.Raw
    error: bool = False


class _Content(Struct, frozen=True, kw_only=True):
    text: msgspec.Raw
    sha256: Sha256 | UnsetType = UNSET
    data: Annotated[bytes, Meta(max_length=0)] | UnsetType = msgspec.field(default=UNSET, name="bytes")
    window: dict[str, msgspec.Raw] | UnsetType = UNSET


class _ReadBody(Struct, frozen=True, kw_only=True):
    path: Path
    absolute: Path
    offset: Integer = 1
    limit: Integer = CONTEXT.read.window_lines
    content: _Content


class _Type(Struct, frozen=True, kw_only=True):
    type: str


class _Format(NamedTuple):
    """How one subprotocol is read around a large text."""

    decode: Callable[..., Any]
    large_text: Callable[[msgspec.Raw], bytes | None]


def lift(data: bytes | str, *, text: bool) -> Lifted | None:
    """The request in a message with its one large text lifted out. `text`: it is JSON, as a string or (joined) as bytes.

    None where there is no such text, or anything about the message is not in order.
    """
    if isinstance(data, str):
        data = data.encode("utf-8", "surrogatepass")
    form = _JSON if text else _MSGPACK
    try:
        kind = form.decode(data, type=_Type).type
        if kind == "result":
            return _lift_result(form, form.decode(data, type=_Result))
        if kind == "message":
            message = form.decode(data, type=_Message)
            lifted = form.large_text(message.text)
            if lifted is None:
                return None
            empty = Message(id=message.id, session=message.session, key=message.key, role=message.role, text="")
            return Lifted(empty, lifted)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None
    return None


def _lift_result(form: _Format, result: _Result) -> Lifted | None:
    kind = form.decode(result.body, type=_Kind).kind
    body: TextBody | ReadBody
    if kind == "text":
        raw = form.decode(result.body, type=_TextBody)
        text = form.large_text(raw.text)
        body = TextBody(text="", error=raw.error)
    elif kind == "read":
        read = form.decode(result.body, type=_ReadBody)
        if read.content.data is not UNSET or read.content.window is not UNSET:
            return None
        text = form.large_text(read.content.text)
        content = Content(text="", sha256=read.content.sha256)
        body = ReadBody(path=read.path, absolute=read.absolute, offset=read.offset, limit=read.limit, content=content)
    else:
        return None
    if text is None:
        return None
    request = Result(
        id=result.id,
        session=result.session,
        key=result.key,
        tool=result.tool,
        args=result.args,
        body=body,
        call=result.call,
    )
    return Lifted(request, text)


_STR_HEADS = {0xDA: 3, 0xDB: 5}
"""First byte of a string that can be large, and how many bytes stand before its text."""


def _large_text(raw: msgspec.Raw) -> bytes | None:
    view = memoryview(raw)
    head = _STR_HEADS.get(view[0]) if len(view) >= LIFTED_BYTES else None
    if head is None:
        return None
    text = view[head:]
    return bytes(text) if _is_utf8(text) else None


_TOKENS = re.compile(rb"(?:[^\\]+|\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u(?![dD][89abAB])....|\\[^u])*", re.DOTALL)
"""Whole characters and escapes of a JSON string: a surrogate stands only with its other half."""


def _large_json_text(raw: msgspec.Raw) -> bytes | None:
    view = memoryview(raw)
    if len(view) < LIFTED_BYTES or view[0] != ord('"'):
        return None
    inner = bytes(view[1:-1])
    if b"\\" not in inner:
        return inner if _is_utf8(memoryview(inner)) else None
    pieces: list[bytes] = []
    at, size = 0, len(inner)
    while at < size:
        tokens = _TOKENS.match(inner, at, at + _PIECE_BYTES)
        end = at if tokens is None else tokens.end()
        while at < end < size and inner[end] & 0xC0 == 0x80:
            end -= 1
        if end == at:
            return None
        pieces.append(msgspec.json.decode(b'"%b"' % inner[at:end], type=str).encode())
        at = end
    return b"".join(pieces)


_JSON = _Format(msgspec.json.decode, _large_json_text)
_MSGPACK = _Format(msgspec.msgpack.decode, _large_text)


def _is_utf8(text: memoryview) -> bool:
    """Checked in pieces, between which other threads get their turn."""
    at, size = 0, len(text)
    while at < size:
        last = at + _PIECE_BYTES >= size
        try:
            _, used = codecs.utf_8_decode(text[at : at + _PIECE_BYTES], "strict", last)
        except UnicodeDecodeError:
            return False
        at += used
    return True
