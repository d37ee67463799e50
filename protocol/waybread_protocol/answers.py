"""Every message that the daemon sends: answers, one for each request, and pushes."""

from __future__ import annotations

from typing import Any

from waybread_protocol.limits import Count, Kind, Role, Struct


class BaseAnswer(Struct, tag_field="type", frozen=True, kw_only=True):
    """An answer: `re` is the `id` of its request."""

    re: Count


class Limits(Struct, frozen=True, kw_only=True):
    """What the daemon takes in one frame and one message, and the size of a page, in bytes."""

    max_frame: Count
    max_message: Count
    page_bytes: Count


class Welcome(BaseAnswer, tag="welcome", frozen=True, kw_only=True):
    """The link is open."""

    protocol: Count
    server: str
    device: str
    name: str
    role: Role
    epoch: str
    head: Count
    limits: Limits
    features: list[str]


class Paired(BaseAnswer, tag="paired", frozen=True, kw_only=True):
    """A one-time code was right: the client says hello again with the token."""

    device: str
    role: Role
    token: str


class Description(BaseAnswer, tag="description", frozen=True, kw_only=True):
    """The numbers and texts in force, and what a model is told."""

    loop: dict[str, Any]
    prompt: str


class Done(BaseAnswer, tag="done", frozen=True, kw_only=True):
    """It is done, and durable where it changed anything: `seq` is its place in the log, else 0."""

    seq: Count = 0
    repeated: bool = False


class Opened(BaseAnswer, tag="opened", frozen=True, kw_only=True):
    """The session: `results` the last number given, `turn` the current one (empty: unnamed)."""

    seq: Count
    session: str
    kind: Kind
    created: bool
    results: Count
    turn: str


class Inserted(BaseAnswer, tag="inserted", frozen=True, kw_only=True):
    """`text` goes to the model, bracket first."""

    seq: Count
    result: str
    text: str
    stub_of: str | None
    capped: bool
    repeated: bool


class ReadRow(Struct, frozen=True, kw_only=True):
    """A full read. `first` and `last` are 0 for an empty file."""

    path: str
    absolute: str
    first: Count
    last: Count
    lines: Count
    sha256: str
    result: str
    in_request: bool
    changed: bool


class Compacted(BaseAnswer, tag="compacted", frozen=True, kw_only=True):
    """`table` goes behind the summary (empty without reads); `reads` are its rows."""

    seq: Count
    table: str
    reads: list[ReadRow]
    repeated: bool


class Shown(BaseAnswer, tag="shown", frozen=True, kw_only=True):
    """An exact piece of a stored body, endings included; `next_char` where the piece goes on.

    `seq` is the place of the result's entry in the log, 0 where the daemon does not tell it.
    """

    result: str
    tool: str
    text: str
    first: Count
    last: Count
    lines: Count
    next_char: Count | None
    seq: Count = 0


class ReadList(BaseAnswer, tag="read_list", frozen=True, kw_only=True):
    """The newest full read of each file not taken back, oldest first."""

    reads: list[ReadRow]


class SessionRow(Struct, frozen=True, kw_only=True):
    """One session of the device: `results` the last number given, `head` the `seq` of its last change.

    `last_line`, `raw_bytes` and `stored_bytes` are told by daemons with the feature `session_lines`.
    """

    session: str
    kind: Kind
    title: str
    directory: str
    results: Count
    head: Count
    opened_ms: Count
    changed_ms: Count
    last_line: str = ""
    raw_bytes: Count = 0
    stored_bytes: Count = 0


class SessionList(BaseAnswer, tag="session_list", frozen=True, kw_only=True):
    """Sessions, last changed first; `more` where there are older ones."""

    sessions: list[SessionRow]
    more: bool


class Entry(Struct, frozen=True, kw_only=True):
    """One change of the log. Fields that do not apply have their empty value.

    `kind` is `opened`, `turn`, `message`, `result`, `recall`, `taken_back`, `compacted` or `deleted`, and `body` is
    `text`, `read` or `change`; both are open, so that a client can pass over one that it does not know.
    """

    seq: Count
    session: str
    at_ms: Count
    kind: str
    turn: str = ""
    role: str = ""
    result: str = ""
    tool: str = ""
    call: str = ""
    args: dict[str, Any] = {}
    args_chars: Count = 0
    body: str = ""
    error: bool = False
    capped: bool = False
    text: str = ""
    text_chars: Count = 0
    stub_of: str | None = None
    turns: list[str] = []
    session_kind: str = ""
    title: str = ""


class Page(BaseAnswer, tag="page", frozen=True, kw_only=True):
    """Entries of the log: `next` is the cursor to go on with, `head` the log's end when the page was made."""

    epoch: str
    entries: list[Entry]
    next: Count
    head: Count
    more: bool


class TextPiece(BaseAnswer, tag="text_piece", frozen=True, kw_only=True):
    """A piece of an entry's text; `next_char` where it goes on."""

    seq: Count
    from_char: Count
    text: str
    next_char: Count | None


class Error(BaseAnswer, tag="error", frozen=True, kw_only=True):
    """The request failed and changed nothing. `needed` are the hashes that `content_needed` asks for."""

    code: str
    message: str
    retry: bool
    needed: list[str] = []


class Pushed(Struct, tag_field="type", tag="entry", frozen=True, kw_only=True):
    """A later entry of what this connection follows."""

    entry: Entry


class Lagged(Struct, tag_field="type", tag="lagged", frozen=True, kw_only=True):
    """The follow has ended because the client took too long: it syncs again from `next`."""

    next: Count
