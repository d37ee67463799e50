"""The names that requests are made of: those of a neighbour's things, and others of the same length that name nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Map = dict[str, Any]

MARK = "quicksilver"
"""Stands in every text of the neighbour's and in nothing else."""


@dataclass(frozen=True)
class Words:
    """One set of names. Two sets differ in letters and digits only, so answers that tell nothing have one length."""

    session: str
    turn: str
    key: str
    call: str
    path: str
    result: str
    seq: int
    content: bytes

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.content).hexdigest()

    @property
    def large(self) -> bytes:
        """Content that a store keeps in pieces of its own."""
        return self.content * 30_000

    @property
    def large_sha256(self) -> str:
        return hashlib.sha256(self.large).hexdigest()


OWNED = Words("s-owned", "t-owned", "k-owned", "c-owned", "/p/owned", "#0007", 17, f"{MARK} 1\n{MARK} 2\n".encode())
"""What the neighbour has."""
NEVER = Words("s-never", "t-never", "k-never", "c-never", "/p/never", "#0c07", 97, b"nothing at a 1\nnothing at a 2\n")
"""What nobody has."""
MINE = Words("s-mines", "t-mines", "k-mines", "c-mines", "/p/mines", "#0001", 2, b"mine\n")
"""What the one who looks has."""


def read(words: Words, content: Map, **fields: object) -> Map:
    return {"kind": "read", "path": words.path, "absolute": words.path, "content": content, **fields}


def bodies(words: Words) -> dict[str, Map]:
    """Bodies that name something: a content by its hash in every place where one may stand, and what would be a stub."""
    by_hash, large = {"sha256": words.sha256}, {"sha256": words.large_sha256}
    window = {"window": {"text": "one\n", "lines": 2, "sha256": words.sha256}}
    one_file = {"path": words.path, "absolute": words.path}
    return {
        "read by hash": read(MINE, by_hash),
        "read of the same path by hash": read(words, by_hash),
        "read by the hash of large content": read(MINE, large),
        "read of a part by hash": read(words, by_hash, offset=2, limit=1),
        "read past the end by hash": read(words, by_hash, offset=50),
        "read of a window": read(words, window, offset=1, limit=1),
        "read of declared text that differs": read(words, {"text": "other\n", **by_hash}),
        "change from a hash": {
            "kind": "change",
            "changes": [{**one_file, "before": by_hash, "after": {"text": "x\n"}}],
        },
        "change to a hash": {"kind": "change", "changes": [{**one_file, "before": {"text": "x\n"}, "after": by_hash}]},
        "deletion by hash": {"kind": "change", "changes": [{**one_file, "before": by_hash, "after": None}]},
        "text": {"kind": "text", "text": f"see {words.session} {words.result}"},
    }


VALUES: dict[str, Callable[[Words], dict[str, Any]]] = {
    "session": lambda words: {"": words.session},
    "turn": lambda words: {"": words.turn},
    "turns": lambda words: {"": [words.turn]},
    "key": lambda words: {"": words.key},
    "call": lambda words: {"": words.call},
    "result": lambda words: {"": words.result},
    "results": lambda words: {"": [words.result]},
    "seq": lambda words: {"": words.seq},
    "after": lambda words: {"": words.seq},
    "before": lambda words: {"": words.seq},
    "body": bodies,
}
"""Every field of a request that can name something that a device has, and its values by a set of words."""

NAMES_NOTHING = frozenset({
    "id", "token", "code", "name", "client", "max_frame", "max_message", "kind", "title", "directory", "tool", "args",
    "role", "text", "offset", "limit", "from_char", "epoch", "follow",
})  # fmt: skip
"""Every other field. (`epoch` is the store's, the same for all; `token` says who one is.)"""

BASE: dict[str, Map] = {
    "hello": {"token": "wrong", "client": "again"},
    "describe": {},
    "ping": {},
    "open": {"session": MINE.session, "kind": "chat"},
    "turn": {"session": MINE.session, "turn": "t-fresh"},
    "carry": {"session": MINE.session, "key": "k-carry", "results": "all"},
    "result": {"session": MINE.session, "key": "k-fresh", "tool": "grep", "body": {"kind": "text", "text": "out"}},
    "recall": {"session": MINE.session, "key": "k-again", "result": MINE.result},
    "take_back": {"session": MINE.session, "key": "k-taken", "turns": [MINE.turn]},
    "compact": {"session": MINE.session, "key": "k-table"},
    "message": {"session": MINE.session, "key": "k-words", "role": "user", "text": "hello"},
    "show": {"session": MINE.session, "result": MINE.result},
    "reads": {"session": MINE.session},
    "sessions": {},
    "sync": {"follow": False},
    "history": {"session": MINE.session},
    "entry_text": {"seq": 1},
    "unfollow": {},
    "delete": {"session": MINE.session},
}
"""A request of each type about one's own things, in which one field at a time is given a neighbour's."""
