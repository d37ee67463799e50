"""The limits of the link, and the field types that carry them.

A string over its `max_length` is `too_large`; any other misfit is `bad_message`.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

PROTOCOL = 1
SUBPROTOCOL_MSGPACK = "waybread.v1.msgpack"
SUBPROTOCOL_JSON = "waybread.v1.json"
PATH = "/link"
FEATURES = ("session_lines",)
"""Additions to version 1, as `welcome` names them: `last_line`, `raw_bytes` and `stored_bytes` of a session row."""

INTEGER_MAX = 2**53 - 1
HELLO_MAX_BYTES = 64 * 1024
HELLO_TIMEOUT_S = 10
MAX_FRAME_BYTES = 1024 * 1024
MAX_MESSAGE_BYTES = 64 * 1024 * 1024
LEAST_MAX_BYTES = 4 * 1024
PAGE_BYTES = 256 * 1024
ENTRY_ARGS_BYTES = 16 * 1024
ARGS_MAX_BYTES = 1024 * 1024
ARGS_MAX_DEPTH = 64
LIMIT_MAX = 1000
REQUEST_MAX_BYTES = 1024 * 1024
"""Of any request but `result` and `message`, which carry text."""
CHANGES_MAX = 10_000
"""Changes of one `result`."""
PAIRING_CODE_BITS = 128
PAIRING_TIMEOUT_S = 300
PAIRING_TRIES_MOST = 5
"""Wrong codes, whosesoever, after which every code that is open is void."""

Integer = Annotated[int, Meta(ge=-INTEGER_MAX, le=INTEGER_MAX)]
Count = Annotated[int, Meta(ge=0, le=INTEGER_MAX)]
RequestId = Annotated[int, Meta(ge=1, le=INTEGER_MAX)]
LimitBytes = Annotated[int, Meta(ge=LEAST_MAX_BYTES, le=INTEGER_MAX)]
Limit = Annotated[int, Meta(ge=1, le=LIMIT_MAX)]
Name = Annotated[str, Meta(min_length=1, max_length=128)]
Label = Annotated[str, Meta(max_length=1024)]
Path = Annotated[str, Meta(max_length=4096)]
Sha256 = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
Kind = Literal["agent", "chat", "opaque"]
Role = Literal["device", "agent", "viewer"]
MessageRole = Literal["user", "assistant", "system", "summary"]


class Struct(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What all structs of the link share: immutable, fields by name, unknown fields passed over."""


def type_of(message: type[Struct] | Struct) -> str:
    """The tag by which a message is known on the wire."""
    return str(message.__struct_config__.tag)
