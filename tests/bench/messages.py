"""Requests as they go over the link, encoded before anything is measured."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

from tests.bench.texts import ToolResult, log_text
from waybread_protocol.limits import MAX_FRAME_BYTES
from waybread_protocol.parts import frames

encode = msgspec.msgpack.encode

MESSAGE_BYTES = 4096
_POOL = 64


class Messages:
    """Makes the requests of one session, each with a key above the one before, as a client makes them."""

    def __init__(self, session: str, prefix: str = "") -> None:
        self.session = session
        self._prefix = prefix
        self._made = 0

    def opening(self, kind: str = "agent") -> bytes:
        """Opens the session."""
        return encode({"type": "open", "id": self._next(), "session": self.session, "kind": kind})

    def result(self, tool: str, args: dict[str, Any], body: dict[str, Any]) -> bytes:
        """A tool's result."""
        number = self._next()
        request = {
            "type": "result",
            "id": number,
            "session": self.session,
            "key": self._key(number),
            "tool": tool,
            "args": args,
            "body": body,
        }
        return encode(request)

    def text(self, text: str) -> bytes:
        """What a command printed."""
        return self.result("bash", {"command": "make check"}, {"kind": "text", "text": text})

    def real(self, result: ToolResult) -> bytes:
        """A result of a real session."""
        return self.result(result.tool, result.args, {"kind": "text", "text": result.text})

    def read(self, path: str, content: dict[str, Any]) -> bytes:
        """A read of a file."""
        body = {"kind": "read", "path": path, "absolute": f"/{path}", "content": content}
        return self.result("read", {"path": path}, body)

    def change(self, path: str, before: dict[str, Any], after: dict[str, Any]) -> bytes:
        """An edit of a file."""
        change = {"path": path, "absolute": f"/{path}", "before": before, "after": after}
        return self.result("edit", {"path": path}, {"kind": "change", "changes": [change]})

    def recall(self, result: str, offset: int) -> bytes:
        """A recall of 2,000 lines."""
        number = self._next()
        request = {
            "type": "recall",
            "id": number,
            "session": self.session,
            "key": self._key(number),
            "result": result,
            "offset": offset,
        }
        return encode(request)

    def many(self, count: int, size_bytes: int = MESSAGE_BYTES) -> list[bytes]:
        """Results of that size, their texts in turn out of a pool."""
        pool = [log_text(size_bytes, seed) for seed in range(_POOL)]
        return [self.text(pool[number % _POOL]) for number in range(count)]

    def _next(self) -> int:
        self._made += 1
        return self._made

    def _key(self, number: int) -> str:
        return f"{self._prefix}{number:024x}"


def hello(token: str) -> bytes:
    """The first message of a link."""
    return encode({"type": "hello", "id": 1, "token": token, "client": "waybread-bench 1"})


def ping(number: int = 1) -> bytes:
    """A request that touches no session and no store."""
    return encode({"type": "ping", "id": number})


def by_hash(content: bytes) -> dict[str, str]:
    """Content that the daemon has already."""
    return {"sha256": hashlib.sha256(content).hexdigest()}


def in_parts(message: bytes) -> list[bytes]:
    """A message as frames that the daemon takes."""
    return frames(message, MAX_FRAME_BYTES, text=False)


def alone(messages: list[bytes]) -> list[list[bytes]]:
    """Messages that are one frame each."""
    return [[message] for message in messages]
