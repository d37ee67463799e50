"""What is said over the control socket: one JSON object a line, one request a connection.

A request is answered by one line, and where it takes its time by a second one: `pair` by `offer` and then `paired` or
`void`; `revoking` by `noted`; a deletion by `deleted` and, if `wait` asks for it, `purged`. `error` may stand in place of either.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from waybread_protocol.limits import Label, Name, Role

NAME_CHARS = 128
LINE_BYTES = 64 * 1024
"""The longest line in either direction, but for `status`, whose list of links has its own bound in the links."""


class _Line(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    """What all lines share: the tag `type`."""


class AskStatus(_Line, frozen=True, kw_only=True, tag="status"):
    """Asks how the daemon is."""


class AskPair(_Line, frozen=True, kw_only=True, tag="pair"):
    """Asks for a one-time code. `device` names the device that gets a further token; empty: a new one is made.

    `name` is what a new device, or the further token, is called; empty: what it calls itself. The code is good as long as the connection is.
    """

    name: Annotated[str, Meta(max_length=NAME_CHARS)] = ""
    role: Role = "device"
    device: str = ""


class Revoking(_Line, frozen=True, kw_only=True, tag="revoking"):
    """Tells that the tokens of a device are about to be revoked: what is open to get it further ones ends now."""

    device: str


class DeleteSession(_Line, frozen=True, kw_only=True, tag="delete_session"):
    """Deletes a session. `wait`: a second line tells when its space is free."""

    device: Label
    session: Name
    wait: bool = False


class DeleteDevice(_Line, frozen=True, kw_only=True, tag="delete_device"):
    """Deletes a device: its tokens are revoked, its links closed, its sessions deleted."""

    device: Label
    wait: bool = False


class LinkFacts(_Line, frozen=True, kw_only=True, tag="link"):
    """An open link, by its device and token."""

    device: str
    token: str
    role: str


class Status(_Line, frozen=True, kw_only=True, tag="status"):
    """How the daemon is. `why` says what is wrong where the store takes no writes.

    `address` is where devices link. The settings are those in force, and so is the certificate: the file that it was read
    from, and until when it is good; empty and 0 where the daemon does not encrypt.
    """

    server: str
    pid: int
    started_ms: int
    address: str
    ready: bool
    why: str
    links: list[LinkFacts]
    device_quota_bytes: int
    free_floor_bytes: int
    free_floor_percent: int
    certificate: str = ""
    certificate_expires_ms: int = 0


class Offered(_Line, frozen=True, kw_only=True, tag="offer"):
    """A code, good until `expires_ms`. `bases` are the addresses of the daemon's page, the best one first.

    `local`: only this machine reaches them. `public`: they are `public_url`, where a proxy may have a certificate of its
    own. `fingerprint`: the SHA-256 of the daemon's certificate in lower-case hex, empty where it does not encrypt.
    `plaintext`: it does not, and others than this machine reach it.
    """

    code: str
    expires_ms: int
    bases: list[str]
    local: bool
    public: bool
    fingerprint: str
    plaintext: bool


class PairedWith(_Line, frozen=True, kw_only=True, tag="paired"):
    """Who took the code. `token` is the public id of what it got, `token_name` what its client calls itself."""

    device: str
    name: str
    role: str
    token: str
    token_name: str


class Void(_Line, frozen=True, kw_only=True, tag="void"):
    """Nobody took the code and nobody can: `why` is a sentence."""

    why: str


class Noted(_Line, frozen=True, kw_only=True, tag="noted"):
    """What was told is in force."""


class Deleted(_Line, frozen=True, kw_only=True, tag="deleted"):
    """What is gone from now on: `sessions` is how many sessions."""

    sessions: int


class Purged(_Line, frozen=True, kw_only=True, tag="purged"):
    """The space of all that was deleted is free."""


class Refused(_Line, frozen=True, kw_only=True, tag="error"):
    """Why a request was not carried out, and what to do: a sentence."""

    message: str


Asked = AskStatus | AskPair | Revoking | DeleteSession | DeleteDevice
Told = Status | Offered | PairedWith | Void | Noted | Deleted | Purged | Refused
