"""The page that Prometheus reads: `GET /metrics`, on this machine alone, in threads of its own.

It is no part of the link's port: who may reach that is not meant to read how the daemon does, and a slow reader here must
not hold up a link. Nobody else needs to reach it, so there is no setting for its address.

A page that a browser shows could be of a name whose owner points it here, and would then read this one: so the `Host` has
to be this machine's own.
"""

from __future__ import annotations

import functools
import re
import socket
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, HTTPServer
from socketserver import ThreadingMixIn
from typing import Any

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder

HOST = "127.0.0.1"
PATH = "/metrics"
CONNECTIONS_MOST = 8
"""At once; one scraper needs one."""
REQUEST_TIMEOUT_S = 5.0
"""From its beginning to the end of its answer."""

_LOOPBACK = re.compile(r"(?:localhost|127\.0\.0\.1|\[::1\])(?::[0-9]{1,5})?", re.IGNORECASE)


class Listener:
    """Serves a registry from `start` to `stop`."""

    def __init__(self, registry: CollectorRegistry, port: int) -> None:
        """Raises `OSError` where the port cannot be had. 0 takes a free one."""
        self._server = _Server((HOST, port), registry)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.1,), name="metrics", daemon=True)

    @property
    def port(self) -> int:
        """Where it listens."""
        return self._server.server_port

    def start(self) -> None:
        """Starts the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Answers no more. Waits for the thread, a tenth of a second at most, and for no reader."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingMixIn, HTTPServer):
    daemon_threads = True
    # A request under way at the end is cut off.
    block_on_close = False
    request_queue_size = CONNECTIONS_MOST

    def __init__(self, address: tuple[str, int], registry: CollectorRegistry) -> None:
        self._free = threading.BoundedSemaphore(CONNECTIONS_MOST)
        super().__init__(address, functools.partial(_Handler, registry))

    def server_bind(self) -> None:
        """Without the look-up of the machine's name that HTTPServer does: it may take seconds."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = HOST, int(self.server_address[1])

    def process_request(self, request: Any, client_address: Any) -> None:
        """A thread for each connection, as far as there are any left."""
        if not self._free.acquire(blocking=False):
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serves one connection; what it sends at a trickle ends with its time."""
        cut = threading.Timer(REQUEST_TIMEOUT_S, _cut_off, (request,))
        cut.daemon = True
        cut.start()
        try:
            super().process_request_thread(request, client_address)
        finally:
            cut.cancel()
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A reader that goes away is nobody's fault, and what it sent belongs into no log."""


def _cut_off(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        # It ended by itself.
        return


class _Handler(BaseHTTPRequestHandler):
    """One request a connection."""

    error_message_format = "%(explain)s\n"
    error_content_type = "text/plain; charset=utf-8"

    def __init__(self, registry: CollectorRegistry, *connection: Any) -> None:
        self._registry = registry
        super().__init__(*connection)

    def do_GET(self) -> None:
        """The numbers."""
        hosts = self.headers.get_all("Host") or []
        if len(hosts) != 1 or _LOOPBACK.fullmatch(hosts[0].strip()) is None:
            self._say(HTTPStatus.FORBIDDEN, f"unknown Host: metrics are for this machine, at http://{HOST}{PATH}\n")
        elif self.path.partition("?")[0] != PATH:
            self._say(HTTPStatus.NOT_FOUND, f"nothing is at this path: metrics are at {PATH}\n")
        else:
            encode, content_type = choose_encoder(self.headers.get("Accept", ""))
            self._send(HTTPStatus.OK, content_type, encode(self._registry))

    do_HEAD = do_GET  # noqa: N815  # the library finds it by this name

    def refuse_method(self) -> None:
        """Nothing here is changed by anybody."""
        self._say(HTTPStatus.METHOD_NOT_ALLOWED, "this method is not allowed: use GET, HEAD\n", Allow="GET, HEAD")

    do_DELETE = do_OPTIONS = do_PATCH = do_POST = do_PUT = refuse_method  # noqa: N815  # the same

    def _say(self, status: HTTPStatus, sentence: str, **headers: str) -> None:
        self._send(status, self.error_content_type, sentence.encode(), **headers)

    def _send(self, status: HTTPStatus, content_type: str, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def version_string(self) -> str:
        """Which Python this is, is not told to whom nothing is told."""
        return "waybread"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the library's name
        """Nothing: requests and their paths belong into no log."""
