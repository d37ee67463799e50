"""Answers to plain HTTP requests for the page: what a browser may do with it stands in their headers."""

from __future__ import annotations

import http
from collections.abc import Iterable

from websockets.datastructures import Headers
from websockets.http11 import Response

from waybread_daemon.forms import link_origin_of
from waybread_daemon.page.files import File, Shell, shell

VERSION_HEADER = "Waybread-Shell"
"""Which version of all files an answer belongs to: the service worker keeps only files of one version."""

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; manifest-src 'self'; "
    "worker-src 'self'; connect-src {connect}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types waybread-worker"
)
"""The one policy of trusted types: by it `js/core/surroundings.js` lets only the service worker's path through."""
_SECURITY = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Permissions-Policy": (
        "accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), magnetometer=(), microphone=(), "
        "midi=(), payment=(), usb=()"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Page:
    """The page with the settings in force. `page_daemons` are the other daemons that it may link to."""

    def __init__(self, page_daemons: Iterable[str], files: Shell | None = None) -> None:
        """`files` are the page's own where none are given."""
        self._daemons = [origin for text in page_daemons if (origin := link_origin_of(text)) is not None]
        # A page that a browser has kept has its headers of then: with other ones it has to be kept anew.
        self._shell = files or shell(also=" ".join(self._daemons))

    def answer(self, path: str, host: str, headers: Headers) -> Response | None:
        """The answer to a GET of `path`; None where the page has no such file.

        `host` is the request's `Host`, which has been found to be a name or an address and nothing more.
        """
        file = self._shell.files.get(path)
        if file is None:
            return None
        packed = file.packed if _takes_gzip(headers) else None
        tag = f'"{file.tag}"' if packed is None else f'"{file.tag}-gzip"'
        answer = self._headers(file, host)
        answer["ETag"] = tag
        if packed is not None:
            answer["Content-Encoding"] = "gzip"
        if _has(headers, tag):
            status, body = http.HTTPStatus.NOT_MODIFIED, b""
        else:
            status, body = http.HTTPStatus.OK, file.body if packed is None else packed
            answer["Content-Length"] = str(len(body))
        return Response(status.value, status.phrase, answer, body)

    def _headers(self, file: File, host: str) -> Headers:
        # Older browsers do not take 'self' for a link of the same origin. Which scheme it has they know, not the daemon:
        # a proxy may stand in front of it.
        connect = " ".join(["'self'", f"ws://{host}", f"wss://{host}", *self._daemons])
        return Headers(
            {
                "Content-Type": file.content_type,
                # Kept, and asked about each time. That it is there at once, and without a network, is the worker's task.
                "Cache-Control": "no-cache",
                "Vary": "Accept-Encoding",
                VERSION_HEADER: self._shell.version,
                "Content-Security-Policy": _POLICY.format(connect=connect),
                **_SECURITY,
                "Connection": "close",
            }
        )


def _takes_gzip(headers: Headers) -> bool:
    """Whether gzip is taken: named, and not with the weight 0."""
    for value in headers.get_all("Accept-Encoding"):
        for choice in value.lower().split(","):
            name, _, weight = choice.replace(" ", "").partition(";q=")
            if name == "gzip":
                return weight.strip("0.") != "" or weight == ""
    return False


def _has(headers: Headers, tag: str) -> bool:
    tags = [each.strip().removeprefix("W/") for value in headers.get_all("If-None-Match") for each in value.split(",")]
    return tag in tags
