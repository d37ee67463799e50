"""Every message that a client sends, one struct each, in the order in which they are spoken.

A struct is the contract: its fields, types, defaults and limits are what the JSON Schema, the documentation and the
decoder are made of.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from msgspec import UNSET, Meta, UnsetType, field

from waybread_protocol.limits import (
    MAX_FRAME_BYTES,
    MAX_MESSAGE_BYTES,
    Count,
    Integer,
    Kind,
    Label,
    Limit,
    LimitBytes,
    MessageRole,
    Name,
    Path,
    RequestId,
    Sha256,
    Struct,
)
from waybread_protocol.loop import CONTEXT

# --- What requests are made of ---------------------------------------------------------------------------------------


class Window(Struct, frozen=True, kw_only=True):
    """The part of a large file that a read asks for: `text` of the range, the file's length in lines, its full hash."""

    text: str
    lines: Count
    sha256: Sha256

    def __post_init__(self) -> None:
        _check_sha256(self.sha256)


class Content(Struct, frozen=True, kw_only=True):
    """A file's content: one of `text`, `bytes`, `sha256` alone, or (a read only) `window`."""

    text: str | UnsetType = UNSET
    data: bytes | UnsetType = field(default=UNSET, name="bytes")
    sha256: Sha256 | UnsetType = UNSET
    window: Window | UnsetType = UNSET

    def __post_init__(self) -> None:
        given = (self.text is not UNSET) + (self.data is not UNSET) + (self.window is not UNSET)
        if self.sha256 is not UNSET:
            _check_sha256(self.sha256)
            if self.window is not UNSET:
                raise ValueError("content has its `sha256` inside `window`, not beside it")
        elif given == 0:
            raise ValueError("content needs one of `text`, `bytes`, `sha256`, `window`")
        if given > 1:
            raise ValueError("content takes only one of `text`, `bytes`, `window`")


class FileChange(Struct, frozen=True, kw_only=True):
    """One file's change: `before` null means created, `after` null deleted."""

    path: Path
    absolute: Path
    before: Content | None
    after: Content | None

    def __post_init__(self) -> None:
        if self.before is None and self.after is None:
            raise ValueError("a change needs `before` or `after`: both are null")
        for content in (self.before, self.after):
            if content is not None and content.window is not UNSET:
                raise ValueError("`window` is for a read: a change takes `text`, `bytes` or `sha256`")


class TextBody(Struct, tag_field="kind", tag="text", frozen=True, kw_only=True):
    """What any other tool answered."""

    text: str
    error: bool = False


class ReadBody(Struct, tag_field="kind", tag="read", frozen=True, kw_only=True):
    """A file read: `path` as the call gave it, `absolute` resolved."""

    path: Path
    absolute: Path
    offset: Integer = 1
    limit: Integer = CONTEXT.read.window_lines
    content: Content


class ChangeBody(Struct, tag_field="kind", tag="change", frozen=True, kw_only=True):
    """An edit, a write or a patch: its changes in the patch's order, and a note that the tool adds."""

    changes: Annotated[list[FileChange], Meta(min_length=1)]
    note: str = ""


Body = TextBody | ReadBody | ChangeBody


# --- Requests --------------------------------------------------------------------------------------------------------


class BaseRequest(Struct, tag_field="type", frozen=True, kw_only=True):
    """Every client message but `part`: `id` is the client's number for it, free again once it is answered."""

    answer: ClassVar[str]
    looks: ClassVar[bool] = False
    """Whether it only looks, so that a viewer may send it."""

    id: RequestId


class Hello(BaseRequest, tag="hello", frozen=True, kw_only=True):
    """The first message: who speaks, and the largest frame and message it takes."""

    answer: ClassVar[str] = "welcome"

    token: str = ""
    code: str = ""
    name: Label = ""
    client: Label
    max_frame: LimitBytes = MAX_FRAME_BYTES
    max_message: LimitBytes = MAX_MESSAGE_BYTES


class Describe(BaseRequest, tag="describe", frozen=True, kw_only=True):
    """Asks for the numbers and texts in force and for what a model is told."""

    answer: ClassVar[str] = "description"
    looks: ClassVar[bool] = True


class Ping(BaseRequest, tag="ping", frozen=True, kw_only=True):
    """Asks whether the daemon answers."""

    answer: ClassVar[str] = "done"
    looks: ClassVar[bool] = True


class Open(BaseRequest, tag="open", frozen=True, kw_only=True):
    """Opens a session, or finds one that exists."""

    answer: ClassVar[str] = "opened"

    session: Name
    kind: Kind
    title: Label = ""
    directory: Label = ""


class Turn(BaseRequest, tag="turn", frozen=True, kw_only=True):
    """Begins a turn. The name makes it safe to send again."""

    answer: ClassVar[str] = "done"

    session: Name
    turn: Name


class Carry(BaseRequest, tag="carry", frozen=True, kw_only=True):
    """Says which results the request being built carries."""

    answer: ClassVar[str] = "done"

    session: Name
    key: Name
    results: Literal["all", "none"] | list[str]


class Result(BaseRequest, tag="result", frozen=True, kw_only=True):
    """Inserts what a tool answered."""

    answer: ClassVar[str] = "inserted"

    session: Name
    key: Name
    tool: Label
    args: dict[str, Any] = {}
    body: Body
    call: Label = ""


class Recall(BaseRequest, tag="recall", frozen=True, kw_only=True):
    """Inserts a stored result again, in full, by windows."""

    answer: ClassVar[str] = "inserted"

    session: Name
    key: Name
    result: str
    offset: Integer = 1
    limit: Integer = CONTEXT.recall.window_lines
    call: Label = ""


class TakeBack(BaseRequest, tag="take_back", frozen=True, kw_only=True):
    """Takes turns out of the history: an undo, a rewind, a reply regenerated or deleted."""

    answer: ClassVar[str] = "done"

    session: Name
    key: Name
    turns: Annotated[list[Name], Meta(min_length=1)]


class Compact(BaseRequest, tag="compact", frozen=True, kw_only=True):
    """Says that the history is replaced by a summary; the answer is the table that follows it."""

    answer: ClassVar[str] = "compacted"

    session: Name
    key: Name


class Message(BaseRequest, tag="message", frozen=True, kw_only=True):
    """A line of the transcript."""

    answer: ClassVar[str] = "done"

    session: Name
    key: Name
    role: MessageRole
    text: str


class Show(BaseRequest, tag="show", frozen=True, kw_only=True):
    """Looks at a stored result without inserting anything."""

    answer: ClassVar[str] = "shown"
    looks: ClassVar[bool] = True

    session: Name
    result: str
    offset: Integer = 1
    limit: Integer = CONTEXT.recall.window_lines
    from_char: Count = 0


class Reads(BaseRequest, tag="reads", frozen=True, kw_only=True):
    """Asks for the newest full read of each file."""

    answer: ClassVar[str] = "read_list"
    looks: ClassVar[bool] = True

    session: Name


class Sessions(BaseRequest, tag="sessions", frozen=True, kw_only=True):
    """Asks for the device's sessions, last changed first."""

    answer: ClassVar[str] = "session_list"
    looks: ClassVar[bool] = True

    before: Count = 0
    limit: Limit = 200


class Sync(BaseRequest, tag="sync", frozen=True, kw_only=True):
    """Asks for the log after a cursor, of one session or of all, and to be told what follows."""

    answer: ClassVar[str] = "page"
    looks: ClassVar[bool] = True

    after: Count = 0
    epoch: str = ""
    session: Annotated[str, Meta(max_length=128)] = ""
    follow: bool = False


class History(BaseRequest, tag="history", frozen=True, kw_only=True):
    """Asks for a session's last entries, the end first."""

    answer: ClassVar[str] = "page"
    looks: ClassVar[bool] = True

    session: Name
    before: Count = 0
    limit: Limit = 200


class EntryText(BaseRequest, tag="entry_text", frozen=True, kw_only=True):
    """Asks for the rest of a text that was cut in a page or a push."""

    answer: ClassVar[str] = "text_piece"
    looks: ClassVar[bool] = True

    seq: Count
    from_char: Count = 0


class Unfollow(BaseRequest, tag="unfollow", frozen=True, kw_only=True):
    """Ends the follow of this connection."""

    answer: ClassVar[str] = "done"
    looks: ClassVar[bool] = True


class Delete(BaseRequest, tag="delete", frozen=True, kw_only=True):
    """Deletes a session and all that it stored."""

    answer: ClassVar[str] = "done"

    session: Name


class Part(Struct, tag_field="type", tag="part", frozen=True, kw_only=True):
    """A piece of an encoded message that is larger than one frame may be. It goes both ways and has no `id`."""

    index: Count
    last: bool
    data: bytes


def _check_sha256(sha256: str) -> None:
    """The pattern's `$` lets a final newline pass; the length does not."""
    if len(sha256) != 64:
        raise ValueError("`sha256` is 64 lower-case hex digits")
