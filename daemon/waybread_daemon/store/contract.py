"""What any store promises, on one page. One suite of tests holds every store to it.

**The log.** Each device has one log: `seq` from 1, without gaps. `Store.append` takes the next record of a log in the
event loop and never waits; records become durable in the order in which they were appended, many in one transaction. A
record's `done` is called in the event loop after its transaction is committed and synced, never before.

**A failed commit.** Nothing of its transaction is there. Every record of it, and every record that was appended before
the caller could know, is answered by `done(fault)`; before the first of these calls `on_reset` is called once, in which
the caller drops all state that it built on those records (heads of logs, states of sessions, session numbers).

**Looking.** `Store.look` runs a function in a thread of its own against a `Reader`, which sees one consistent snapshot.
Readers never wait for the writer, the writer never for readers, and no snapshot outlives its call.

**Content.** A file's content is kept once a device, by its hash, however many sessions hold it. Content that only
deleted sessions held is not found any more. Bodies of results and windows of files are kept once each. Large content is
kept in chunks that know their first line and character, so that a window costs the same wherever it is cut from.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

import msgspec

from waybread_daemon.store.sizes import DeviceSizes, FileSizes, OldSession, SessionSizes, Volume
from waybread_protocol.errors import ErrorCode

T = TypeVar("T")

LARGE_BYTES = 256 * 1024
"""Content from this size on is staged: hashed, compressed and written ahead, in pieces, off the event loop."""


class StoreFault(Exception):  # noqa: N818 - a fault is what the caller answers with; errors are on the wire
    """Why nothing was stored: `code` is `storage_full` or `internal`, `sentence` says what to do."""

    def __init__(self, code: ErrorCode, sentence: str) -> None:
        super().__init__(code, sentence)
        self.code = code
        self.sentence = sentence

    def __str__(self) -> str:
        return f"{self.code}: {self.sentence}"


class StoreRefusal(Exception):  # noqa: N818 - the sentence with which a command ends
    """Why a store cannot be opened: a newer schema, a file that is no store, a folder that cannot be written."""


class Cut(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """How a capped body stands in its text: `body[:head_end] + middle + body[tail_start:]`, positions in bytes."""

    head_end: int
    middle: str
    tail_start: int


class Span(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """Which lines of its source a body is: `first` to `last`, counted in the source from 1.

    `base` is the number that the source's first line has in its file (1, or the offset of a window). `numbered`: the
    lines are shown behind their numbers in the file, as a read shows them.
    """

    first: int
    last: int
    base: int
    numbered: bool


class Facts(msgspec.Struct, frozen=True, gc=False, array_like=True, omit_defaults=True):
    """What an entry of the log says, apart from its text's body. The store keeps it and does not look inside.

    The text is `lead`, then nothing, or the body, or the body cut by `cut` (`shape` 0, 1, 2).
    """

    at_ms: int
    turn: str = ""
    lead: str = ""
    shape: int = 0
    cut: Cut | None = None
    span: Span | None = None
    role: str = ""
    tool: str = ""
    call: str = ""
    body: str = ""
    error: bool = False
    stub_of: int = 0
    turns: tuple[str, ...] = ()
    session_kind: str = ""
    title: str = ""
    digest: bytes = b""
    answer: bytes = b""


class Staged(msgspec.Struct, frozen=True):
    """Large content that was written ahead; it is purged when its record fails, or at the next start if no record took it up."""

    content: int


class FileContent(msgspec.Struct, frozen=True):
    """A file's content that a record's session holds from then on.

    `data` is its bytes (below `LARGE_BYTES`), or `Staged`, or None where the store has it already.
    """

    sha256: bytes
    data: bytes | Staged | None


class Opening(msgspec.Struct, frozen=True):
    """The session that a record of kind `opened` makes. `name` is the client's id for it."""

    name: str
    kind: str
    title: str
    directory: str


class Record(msgspec.Struct):
    """One change of a device's log, as it goes into the store.

    The body comes from one of: `body` (UTF-8 text below `LARGE_BYTES`, b"" where there is none), `own` (staged text, or a
    window), `source` (the hash of one of `contents`), or `root` (the number of an earlier result of the session whose
    source it shares). `results` and `current_turn` are the session's after this record.
    """

    device: int
    seq: int
    session: int
    kind: str
    facts: Facts
    results: int
    current_turn: str
    number: int = 0
    key: str = ""
    event: bytes = b""
    args: bytes = b""
    body: bytes = b""
    own: Staged | None = None
    source: bytes = b""
    root: int = 0
    contents: tuple[FileContent, ...] = ()
    opening: Opening | None = None
    turn_begun: str = ""
    turns_ended: tuple[str, ...] = ()

    @property
    def raw_bytes(self) -> int:
        """What it brings with it, as it came; what was written ahead is counted elsewhere."""
        size = len(self.args) + len(self.body)
        for content in self.contents:
            if isinstance(content.data, bytes):
                size += len(content.data)
        return size


class ContentFacts(msgspec.Struct, frozen=True, gc=False):
    r"""Content that is kept: its number in the store, its size, its lines by `\n` and its characters.

    `lines` and `chars` are those of the plain text: a byte-order mark counts, bytes that are no UTF-8 count as shown.
    """

    content: int
    size_bytes: int
    lines: int
    chars: int


class Row(msgspec.Struct, frozen=True, gc=False):
    """An entry as it comes out of the store: `session` is the client's id, `session_number` the store's.

    `body` is the text kept with the row, or None where it is elsewhere: in `content`, or with the result `root`.
    """

    seq: int
    session: str
    session_number: int
    kind: str
    number: int
    facts: Facts
    args: bytes
    body: bytes | None
    content: ContentFacts | None
    root: int


class SessionFacts(msgspec.Struct, frozen=True):
    """A session as the store knows it. `number` is the store's, `session` the client's id.

    `base_seq` is the `seq` of its newest compaction (0: none): state from there on is loaded first. `newest_key` is the
    greatest of its keys by code points. `read_only`: opened in an earlier epoch. `raw_bytes` and `stored_bytes`: what it
    stored, as it came and as it lies on the disk.
    """

    number: int
    session: str
    kind: str
    title: str
    directory: str
    gone: bool
    read_only: bool
    results: int
    turn: str
    head: int
    opened_seq: int
    opened_ms: int
    changed_ms: int
    base_seq: int
    newest_key: str
    raw_bytes: int
    stored_bytes: int


class EventRow(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """What the state of a session is folded from."""

    seq: int
    event: bytes


class TurnFacts(msgspec.Struct, frozen=True):
    """A turn that was begun, and whether it was taken back."""

    seq: int
    taken_back: bool


class Device(msgspec.Struct, frozen=True):
    """A device: `number` is the store's, `device` its public id."""

    number: int
    device: str
    name: str
    made_ms: int


class Token(msgspec.Struct, frozen=True):
    """A token of a device. Only a hash of its secret is kept.

    `name` tells it from others of its device: what the client that has it calls itself. Empty where nobody has said.
    """

    token: str
    device: Device
    role: str
    secret_hash: bytes
    made_ms: int
    seen_ms: int
    revoked_ms: int
    name: str


class Reader(Protocol):
    """One consistent snapshot, in the thread that `look` gave. Nothing of it may be kept after the call."""

    def head(self, device: int) -> int:
        """The last `seq` of the device's log, 0 where it is empty."""
        ...

    def session(self, device: int, session: str) -> SessionFacts | None:
        """The session of that id, deleted ones too; None where it was never opened."""
        ...

    def sessions(self, device: int, before: int, limit: int) -> list[SessionFacts]:
        """Sessions that are there, last changed first, with `head` below `before` if that is not 0."""
        ...

    def events(self, session: int, from_seq: int = 0) -> list[EventRow]:
        """Events of a session in order, those with `seq` from `from_seq` on; entries without an event are left out."""
        ...

    def turn(self, session: int, turn: str) -> TurnFacts | None:
        """The turn of that name, None where none was begun."""
        ...

    def keyed(self, session: int, key: str) -> Row | None:
        """The entry that a key stands for."""
        ...

    def result(self, session: int, number: int) -> Row | None:
        """The result of that number."""
        ...

    def entry(self, device: int, seq: int) -> Row | None:
        """The entry of that `seq`; None where there is none, or its session was deleted."""
        ...

    def rows(self, device: int, after: int, session: int | None, limit: int) -> list[Row]:
        """At most `limit` entries with `seq` above `after`, ascending, of one session or of all.

        Of a deleted session only its `deleted` entry is there. `carry` is no entry.
        """
        ...

    def rows_before(self, session: int, before: int, limit: int) -> list[Row]:
        """At most `limit` entries of a session with `seq` below `before` (0: from the end), descending."""
        ...

    def content(self, device: int, sha256: bytes) -> ContentFacts | None:
        """A file's content by its hash, where a session that is not deleted holds it."""
        ...

    def lines(self, content: ContentFacts, first: int, last: int) -> bytes:
        """Lines `first` to `last` exactly, endings included; `last` beyond the end is the end."""
        ...

    def piece(self, content: ContentFacts, first: int, last: int, from_char: int, max_bytes: int) -> tuple[bytes, bool]:
        """Of those lines, from character `from_char` on, as many whole characters as fit; whether more follow.

        For content that is UTF-8. A giant line is not read from its beginning.
        """
        ...

    def part(self, content: ContentFacts, start: int, end: int) -> bytes:
        """Bytes `start` to `end` of it, as a slice gives them."""
        ...

    def whole(self, content: ContentFacts) -> bytes:
        """All of it."""
        ...

    def token(self, token: str) -> Token | None:
        """A token by its public id, revoked ones and those of deleted devices too."""
        ...

    def tokens(self) -> list[Token]:
        """All tokens but those of deleted devices, by device and time."""
        ...

    def devices(self) -> list[Device]:
        """All devices but deleted ones, in the order in which they were made."""
        ...

    def accounts_version(self) -> int:
        """Changes whenever devices or tokens change, by whichever process."""
        ...

    def sizes(self) -> list[DeviceSizes]:
        """What each device's sessions take, in the order of `devices`."""
        ...

    def largest_sessions(self, limit: int) -> list[SessionSizes]:
        """The sessions of all devices that take most on the disk, the largest first."""
        ...

    def old_sessions(self, before_ms: int) -> list[OldSession]:
        """Sessions that last changed before that time, as far as their device's log tells.

        A log is in order even where a clock was not: a session is no older than what stands before its last entry.
        """
        ...

    def files(self) -> FileSizes:
        """What the store's files take."""
        ...


Done = Callable[[StoreFault | None], None]


class Store(Protocol):
    """A store. All methods are called in the event loop, and none of them makes it wait."""

    epoch: str
    """Changes when the store is restored from a backup."""
    on_reset: Callable[[], None]
    """Called in the loop when a commit failed, before the records' `done`."""

    def append(self, record: Record, done: Done) -> None:
        """Takes a record: see the laws at the top of the page."""
        ...

    def new_session(self) -> int:
        """A number for a session about to be opened. Numbers of openings that failed may be given again."""
        ...

    def settled(self) -> Awaitable[None]:
        """Waits until all that was appended before is durable or has failed. Never raises."""
        ...

    def stage(
        self, device: int, sha256: bytes, data: bytes, *, text: bool, allow: Callable[[int], None] | None = None
    ) -> Awaitable[Staged]:
        """Writes large content ahead, in pieces, so that other records go between them.

        `text`: a body or a window, kept apart and found by no hash. `allow` is called with the stored size of each piece
        before that is written; what it raises ends the staging and is raised here. Raises `StoreFault`. What was written
        of content whose staging failed is dropped.
        """
        ...

    def drop(self, staged: Staged) -> None:
        """Lets go of content that was written ahead and that no record will take up."""
        ...

    def delete(self, record: Record, done: Done) -> None:
        """Appends the `deleted` record of a session; from its commit on the session is gone for every reader.

        What it stored is purged afterwards in small steps between other records, after a restart too.
        """
        ...

    def look(self, read: Callable[[Reader], T]) -> Awaitable[T]:
        """Runs `read` against a snapshot in another thread. Raises what it raises, and `StoreFault`."""
        ...

    def add_device(self, device: str, name: str, at_ms: int) -> Awaitable[Device]:
        """Makes a device."""
        ...

    def add_token(
        self, token: str, device: int, role: str, secret_hash: bytes, at_ms: int, name: str = ""
    ) -> Awaitable[None]:
        """Makes a token of a device. `name` is what its client calls itself."""
        ...

    def rename_device(self, device: int, name: str) -> Awaitable[None]:
        """Gives a device another name."""
        ...

    def revoke(self, tokens: list[str], at_ms: int) -> Awaitable[None]:
        """Revokes tokens. Those revoked already keep their time."""
        ...

    def delete_device(self, device: int, at_ms: int) -> Awaitable[int]:
        """Deletes a device: its tokens are revoked, its sessions are gone and will be purged with its whole log.

        Gives how many sessions it had. Its number and its public id are never given again. The caller appends nothing more to its log from this call on.
        Raises `StoreFault`; nothing is changed then.
        """
        ...

    def seen(self, token: str, at_ms: int) -> Awaitable[None]:
        """Notes when a token was last used. Not a change of accounts."""
        ...

    def probe(self) -> Awaitable[None]:
        """Writes something that nobody reads, durably. Raises `StoreFault` while the store takes no writes."""
        ...

    def beat(self) -> Awaitable[None]:
        """Done when the thread that writes has come to it: it hangs where that hangs. Writes nothing; raises `StoreFault`."""
        ...

    def used_bytes(self, device: int) -> int:
        """What a device takes on the disk, deleted sessions that are not yet purged too. Costs nothing.

        It counts what is durable, from before the `done` of its record.
        """
        ...

    def volume(self) -> Awaitable[Volume]:
        """Looks at the file system that holds the store. Raises `StoreFault`."""
        ...

    def purged(self, *, skip_grace: bool = False) -> Awaitable[None]:
        """Waits until nothing deleted is left to purge, and the files are cut to what is left.

        `skip_grace`: content that nobody holds need not wait a minute for a record that may be on its way; one that is,
        fails and succeeds when it is sent again. Raises `StoreFault` where the disk does not let it be done now.
        """
        ...

    async def close(self) -> None:
        """Makes durable what was appended, then lets go of everything."""
        ...
