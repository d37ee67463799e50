"""A store of version 1 as an earlier release left it: its schema as released, its rows as it wrote them."""

from __future__ import annotations

import hashlib
import random
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import msgspec
import zstandard

from waybread_daemon.store.contract import Facts
from waybread_daemon.store.sqlite.schema import APPLICATION_ID, migrations

_ROW = 96
_pack = zstandard.ZstdCompressor(level=3, write_checksum=False).compress
_noise = random.Random(4).randbytes

SMALL = b"a small file\n" * 40
LARGE = _noise(700_000)
TEXT = b"a long answer of a tool\n" * 20_000
BODY = b"line of a body\n" * 100
SHORT = b"short"
ARGS = b'{"command":"make"}'


class Takes(NamedTuple):
    """Raw and stored bytes of a session's rows, and of the files that it holds."""

    raw_bytes: int = 0
    stored_bytes: int = 0
    files_raw_bytes: int = 0
    files_stored_bytes: int = 0


class Version1:
    """Writes it, and counts in its own way what is in it. `takes` is by session, `files` the device's, each once."""

    def __init__(self, path: Path) -> None:
        path.touch(0o600)
        self.takes: dict[str, Takes] = {}
        self.files = Takes()
        self._db: Any = apsw.Connection(str(path))
        self._db.execute("PRAGMA journal_mode = WAL")
        with self._db:
            self._db.execute(migrations()[0])
            self._db.execute(f"PRAGMA user_version = 1; PRAGMA application_id = {APPLICATION_ID}")
            self._db.execute("INSERT INTO device VALUES (1, 'dev', 'phone', 1), (2, 'idle', 'tablet', 2)")
            self._db.execute("INSERT INTO token VALUES ('tok', 1, 'device', x'00', 1, 0, 0)")
            self._fill()
        self._db.close()

    def _fill(self) -> None:
        small = self._content(1, SMALL, [_pack(SMALL)], hashed=True)
        chunks = [LARGE[at : at + 131_072] for at in range(0, len(LARGE), 131_072)]
        large = self._content(2, LARGE, [_pack(chunk) for chunk in chunks], hashed=True)
        text = self._content(3, TEXT, [_pack(TEXT[:131_072]), _pack(TEXT[131_072:])], hashed=False)
        # Written ahead and taken up by no record: nobody's.
        self._content(4, LARGE, [_pack(chunk) for chunk in chunks], hashed=True, state=0)
        self._session(1, "a", 6, 4, newest_key="schlüssel")
        self._session(2, "b", 9, 1, base_seq=9)
        self._session(3, "gone", 11, 1, state=1)
        self._session(4, "purged", 12, 0, state=2)
        own = [
            self._entry(1, 1, "opened"),
            self._entry(2, 1, "result", 1, ARGS, BODY, key="key-1"),
            self._entry(3, 1, "result", 2, ARGS, SHORT, key="key-2"),
            self._entry(4, 1, "result", 3, content=1, key="key-3"),
            self._entry(5, 1, "result", 4, content=2, key="key-4"),
            self._entry(6, 1, "message", content=3, key="schlüssel"),
        ]
        self._hold(1, 1, 2, 3)
        self.takes["a"] = Takes(
            sum(raw for raw, _ in own) + len(TEXT),
            sum(stored for _, stored in own) + text,
            len(SMALL) + len(LARGE),
            small + large,
        )
        own = [self._entry(7, 2, "opened"), self._entry(8, 2, "result", 1, content=1), self._entry(9, 2, "compacted")]
        self._hold(2, 1)
        self.takes["b"] = Takes(0, sum(stored for _, stored in own), len(SMALL), small)
        own = [self._entry(10, 3, "result", 1, ARGS, BODY), self._entry(11, 3, "deleted")]
        self.takes["gone"] = Takes(len(ARGS) + len(BODY), sum(stored for _, stored in own))
        self._entry(12, 4, "deleted")
        self.takes["purged"] = Takes()
        self.files = Takes(0, 0, len(SMALL) + len(LARGE), small + large)

    def _content(self, number: int, data: bytes, packed: list[bytes], *, hashed: bool, state: int = 1) -> int:
        whole = packed[0] if len(packed) == 1 else None
        self._db.execute(
            "INSERT INTO content VALUES (?, 1, ?, ?, ?, ?, ?, ?, ?)",
            (
                number,
                hashlib.sha256(data).digest() if hashed else None,
                state,
                len(data),
                data.count(b"\n"),
                len(data),
                b"" if whole else bytes(24 * len(packed)),
                whole,
            ),
        )
        for place, chunk in enumerate([] if whole else packed):
            self._db.execute("INSERT INTO chunk VALUES (?, ?)", (number << 20 | place, chunk))
        return sum(map(len, packed)) + _ROW

    def _session(
        self, number: int, name: str, head: int, results: int, state: int = 0, base_seq: int = 0, newest_key: str = ""
    ) -> None:
        self._db.execute(
            "INSERT INTO session VALUES (?, 1, ?, 'agent', '', '', 'epoch', ?, ?, '', ?, 1, 1, ?, ?, ?)",
            (number, name, state, results, head, head, base_seq, newest_key),
        )

    def _entry(
        self,
        seq: int,
        session: int,
        kind: str,
        number: int | None = None,
        args: bytes = b"",
        body: bytes = b"",
        content: int | None = None,
        key: str = "",
    ) -> tuple[int, int]:
        facts, event = msgspec.msgpack.encode(Facts(seq)), kind.encode()
        payload = args + body
        packed = _pack(payload) if len(payload) >= 64 else payload
        encoding = int(len(payload) >= 64)
        entry = 1 << 40 | seq
        self._db.execute(
            "INSERT INTO entry VALUES (?, ?, ?, ?, NULL, ?, ?, ?, ?, ?)",
            (entry, session, kind, number, content, facts, len(args), encoding, packed),
        )
        self._db.execute("INSERT INTO event VALUES (?, ?, ?)", (session, entry, event))
        if key:
            self._db.execute("INSERT INTO entry_key VALUES (?, ?, ?)", (session, key, entry))
        return len(payload), len(packed) + len(facts) + len(event) + len(key) + _ROW

    def _hold(self, session: int, *contents: int) -> None:
        for content in contents:
            self._db.execute("INSERT INTO holding VALUES (?, ?)", (content, session))
