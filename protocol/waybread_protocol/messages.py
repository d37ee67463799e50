"""Every message of the link in one place: the unions that are decoded, and who may send what."""

from __future__ import annotations

from waybread_protocol.answers import (
    BaseAnswer,
    Compacted,
    Description,
    Done,
    Entry,
    Error,
    Inserted,
    Lagged,
    Limits,
    Opened,
    Page,
    Paired,
    Pushed,
    ReadList,
    ReadRow,
    SessionList,
    SessionRow,
    Shown,
    TextPiece,
    Welcome,
)
from waybread_protocol.limits import Struct, type_of
from waybread_protocol.requests import (
    BaseRequest,
    Body,
    Carry,
    ChangeBody,
    Compact,
    Content,
    Delete,
    Describe,
    EntryText,
    FileChange,
    Hello,
    History,
    Message,
    Open,
    Part,
    Ping,
    ReadBody,
    Reads,
    Recall,
    Result,
    Sessions,
    Show,
    Sync,
    TakeBack,
    TextBody,
    Turn,
    Unfollow,
    Window,
)

Request = (
    Hello | Describe | Ping | Open | Turn | Carry | Result | Recall | TakeBack | Compact | Message | Show | Reads
    | Sessions | Sync | History | EntryText | Unfollow | Delete
)  # fmt: skip
FromClient = Request | Part
Answer = (
    Welcome | Paired | Description | Done | Opened | Inserted | Compacted | Shown | ReadList | SessionList | Page
    | TextPiece | Error
)  # fmt: skip
Push = Pushed | Lagged
FromDaemon = Answer | Push | Part


REQUESTS: dict[str, type[BaseRequest]] = {type_of(request): request for request in Request.__args__}
ROLES: dict[str, frozenset[str]] = {
    "device": frozenset(REQUESTS),
    "agent": frozenset(REQUESTS) - {"delete"},
    "viewer": frozenset(name for name, request in REQUESTS.items() if request.looks) | {"hello"},
}
"""The requests that each role may send, by their `type`."""

__all__ = [
    "Answer",
    "BaseAnswer",
    "BaseRequest",
    "Body",
    "Carry",
    "ChangeBody",
    "Compact",
    "Compacted",
    "Content",
    "Delete",
    "Describe",
    "Description",
    "Done",
    "Entry",
    "EntryText",
    "Error",
    "FileChange",
    "FromClient",
    "FromDaemon",
    "Hello",
    "History",
    "Inserted",
    "Lagged",
    "Limits",
    "Message",
    "Open",
    "Opened",
    "Page",
    "Paired",
    "Part",
    "Ping",
    "Push",
    "Pushed",
    "REQUESTS",
    "ROLES",
    "ReadBody",
    "ReadList",
    "ReadRow",
    "Reads",
    "Recall",
    "Request",
    "Result",
    "SessionList",
    "SessionRow",
    "Sessions",
    "Show",
    "Shown",
    "Struct",
    "Sync",
    "TakeBack",
    "TextBody",
    "TextPiece",
    "Turn",
    "Unfollow",
    "Welcome",
    "Window",
    "type_of",
]
