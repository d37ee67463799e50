"""What an opening handshake and a plain HTTP request get: the path, the host, the origin, the subprotocol, health."""

from __future__ import annotations

import dataclasses
import http
import ipaddress
import re
import socket
from collections.abc import Callable, Iterable
from typing import Literal, NamedTuple

from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from waybread_daemon.config import Config
from waybread_daemon.forms import origin_of, url_of
from waybread_daemon.page.answers import Page
from waybread_protocol.limits import PATH, SUBPROTOCOL_JSON, SUBPROTOCOL_MSGPACK

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_HOST = re.compile(r"(?:\[(?P<v6>[0-9A-Fa-f:.]+)\]|(?P<name>[0-9A-Za-z._-]+))(?::(?P<port>[0-9]{1,5}))?")
"""What a `Host` may be at all: a name or an address, and a port. Lenient parsers would find a known name in more."""
_MOST_PORT = 65535
_METHODS = ("GET", "HEAD")
_WRONG_ORIGIN = (
    "this Origin is not the daemon's own and not allowed: add it to allowed_origins; behind a reverse proxy with TLS set "
    "public_url, or trusted_proxies\n"
)

Refused = Literal["host", "origin", "subprotocol"]


class Health(NamedTuple):
    """`why` says what is wrong where the store takes no writes."""

    ready: bool
    why: str


class Gate:
    """Lets a handshake through, or answers an HTTP request.

    A page of another site can open a socket to this machine from its visitor's browser, and a name that its owner points
    here gets around the address: so a browser's `Origin` has to be this host's own or an allowed one, and the `Host` a
    known name or a bare address.
    """

    def __init__(self, config: Config, refused: Callable[[Refused], None], local: str) -> None:
        """`refused` is told why a connection is refused; `local` is the name that the local network may be told."""
        self._refused = refused
        self._page = Page(config.page_daemons)
        public = url_of(config.public_url)
        name = socket.gethostname().lower()
        self._hosts = _LOOPBACK | {config.host.lower(), name, f"{name}.local", local}
        self._hosts |= {known.lower().removesuffix(".") for known in config.allowed_hosts}
        self._origins = {origin for text in config.allowed_origins if (origin := origin_of(text)) is not None}
        if public is not None:
            self._hosts |= {public.host.removesuffix(".")}
            self._origins |= {public.origin}

    def answer(self, request: Request, health: Health, *, secure: bool = False) -> Response | None:
        """The answer to a request, None where it is a handshake that may go on.

        `secure`: the client's connection is encrypted, by the daemon or by a proxy that it trusts.
        """
        answer = self._answer(request, health, "https" if secure else "http")
        if answer is not None and request.method == "HEAD":
            # The headers are those of a GET, the length among them.
            return dataclasses.replace(answer, body=b"")
        return answer

    def _answer(self, request: Request, health: Health, scheme: str) -> Response | None:
        host = _single(request.headers, "Host")
        if host is None or not self._known(host):
            self._refused("host")
            return plain(
                http.HTTPStatus.FORBIDDEN,
                "unknown Host: add it to allowed_hosts, or name the daemon's own address with public_url\n",
            )
        path = request.path.partition("?")[0]
        # Behind a proxy of which nobody has told it, the daemon does not know that the page is encrypted. The page comes all the
        # same, whose scripts are asked for with an Origin: it says then why it cannot link.
        schemes = [scheme] if path == PATH else ["http", "https"]
        for origin in request.headers.get_all("Origin"):
            if not any(self._allowed(origin, f"{own}://{host}") for own in schemes):
                self._refused("origin")
                return plain(http.HTTPStatus.FORBIDDEN, _WRONG_ORIGIN)
        if request.method not in _METHODS:
            allowed = ", ".join(_METHODS)
            refusal = plain(http.HTTPStatus.METHOD_NOT_ALLOWED, f"this method is not allowed: use {allowed}\n")
            refusal.headers["Allow"] = allowed
            return refusal
        if path == PATH:
            wrong = _subprotocol(request)
            if wrong is not None:
                self._refused("subprotocol")
            return wrong
        if path == "/healthz":
            return plain(http.HTTPStatus.OK, "ok\n")
        if path == "/readyz":
            status = http.HTTPStatus.OK if health.ready else http.HTTPStatus.SERVICE_UNAVAILABLE
            return plain(status, "ready\n" if health.ready else f"not ready: {health.why}\n")
        page = self._page.answer(path, host, request.headers)
        if page is not None:
            return page
        return plain(http.HTTPStatus.NOT_FOUND, f"nothing is at this path: devices link at {PATH}\n")

    def _known(self, host: str) -> bool:
        parts = _HOST.fullmatch(host)
        if parts is None or int(parts["port"] or 0) > _MOST_PORT:
            return False
        if parts["v6"] is not None:
            return _is_address(parts["v6"], ipaddress.IPv6Address)
        # A name with a dot at its end is the same name, said to be whole.
        return parts["name"].lower().removesuffix(".") in self._hosts or _is_address(
            parts["name"], ipaddress.IPv4Address
        )

    def _allowed(self, origin: str, own: str) -> bool:
        said = origin_of(origin)
        return said is not None and (said in self._origins or said == origin_of(own))


def choose_subprotocol(offered: Iterable[str]) -> str | None:
    """The one that the daemon takes of those offered: MessagePack first."""
    known = [name for name in (SUBPROTOCOL_MSGPACK, SUBPROTOCOL_JSON) if name in offered]
    return known[0] if known else None


def _subprotocol(request: Request) -> Response | None:
    headers = request.headers
    offered = {name.strip() for value in headers.get_all("Sec-WebSocket-Protocol") for name in value.split(",")}
    upgrade = (_single(headers, "Upgrade") or "").lower()
    if request.method == "GET" and upgrade == "websocket" and choose_subprotocol(offered) is not None:
        return None
    sentence = f"link by WebSocket and offer the subprotocol {SUBPROTOCOL_MSGPACK} or {SUBPROTOCOL_JSON}\n"
    return plain(http.HTTPStatus.BAD_REQUEST, sentence)


def _single(headers: Headers, name: str) -> str | None:
    values = headers.get_all(name)
    return values[0] if len(values) == 1 else None


def _is_address(text: str, form: Callable[[str], object]) -> bool:
    try:
        form(text)
    except ValueError:
        return False
    return True


def plain(status: http.HTTPStatus, text: str, retry_s: int | None = None) -> Response:
    """An answer of plain text. `retry_s`: after so many seconds the same may be asked again."""
    body = text.encode()
    headers = Headers(
        {
            "Content-Type": "text/plain; charset=utf-8",
            "Content-Length": str(len(body)),
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
            "Connection": "close",
        }
    )
    if retry_s is not None:
        headers["Retry-After"] = str(retry_s)
    return Response(status.value, status.phrase, headers, body)
