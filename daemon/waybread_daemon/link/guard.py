"""How many may come, and how often: sockets, links, failed hellos, and what a viewer asks.

All limits are those of the settings in force. Nothing here grows with how many try: the table of addresses is bounded,
and so are the sockets that have not shown yet who they are. Among those nobody takes the room from others: where it is
full, the oldest of the address that has most of them makes way for one of another address. Where all have as many, the
oldest of all does, once it has had its time.
"""

from __future__ import annotations

import http
import math
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Literal, NamedTuple, Protocol

from waybread_daemon.config import Config

SPARE_SOCKETS = 128
"""Sockets at once beyond `max_connections`: whoever is one too many is told so, and health is asked after all the same."""
ADDRESSES_MOST = 4096
"""Addresses whose failed hellos are remembered."""
BUCKETS_MOST = 1024
"""Viewers whose requests are counted at once; those that ask for nothing are forgotten first."""
MAKE_WAY_S = 1.0
"""So long a socket has for itself where no address has more of them than others."""
WINDOW_S = 60
"""Failed hellos are counted over so long."""
RETRY_S = 10
"""What is advised where nobody can tell when there will be room."""


class Socket(Protocol):
    """A socket as the guard sees it: it is told when to go."""

    def abort(self) -> None:
        """Ends it at once."""
        ...


class Refusal(NamedTuple):
    """Why a handshake is refused: `limit` is the name of the setting without `max_`, `sentence` is for a person."""

    limit: Literal["connections", "failed_hellos", "waiting_hellos"]
    status: http.HTTPStatus
    sentence: str
    retry_s: int


class Crowd:
    """Sockets by the address they come from, of which only so many may be there at once."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._addresses: dict[Socket, str] = {}
        """In the order in which they came."""
        self._came: dict[Socket, float] = {}
        self._sockets: dict[str, dict[Socket, None]] = {}

    def __len__(self) -> int:
        return len(self._addresses)

    def enter(self, socket: Socket, address: str, most: int) -> bool:
        """Takes a socket in, or not. Where there is no room, another address with more of them loses its oldest."""
        while len(self) >= most:
            oldest = self._oldest(len(self._sockets.get(address, ())))
            if oldest is None:
                return False
            self.leave(oldest)
            oldest.abort()
        self._addresses[socket] = address
        self._came[socket] = self._clock()
        self._sockets.setdefault(address, {})[socket] = None
        return True

    def leave(self, socket: Socket) -> None:
        """The socket is gone, or has shown who it is."""
        address = self._addresses.pop(socket, None)
        if address is None:
            return
        del self._came[socket]
        del self._sockets[address][socket]
        if not self._sockets[address]:
            del self._sockets[address]

    def _oldest(self, own: int) -> Socket | None:
        """Who makes way for one more of an address that has `own` of them; None: nobody."""
        largest = max(map(len, self._sockets.values()))
        if largest <= own:
            return None
        oldest = next(socket for socket, address in self._addresses.items() if len(self._sockets[address]) == largest)
        if largest == own + 1 and self._clock() - self._came[oldest] < MAKE_WAY_S:
            return None
        return oldest

    def empty(self) -> None:
        """Ends all of them."""
        for socket in list(self._addresses):
            self.leave(socket)
            socket.abort()


class Failures:
    """When hellos failed lately, by address."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._times: OrderedDict[str, list[float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._times)

    def note(self, address: str, most: int) -> None:
        """One more, of which at most `most` are remembered."""
        times = self._times.pop(address, [])
        times.append(self._clock())
        self._times[address] = times[-most:]
        while len(self._times) > ADDRESSES_MOST:
            self._times.popitem(last=False)

    def wait_s(self, address: str, most: int) -> float:
        """How long this address has to wait: 0 where it may try."""
        times = self._times.get(address, [])
        if len(times) < most:
            return 0
        return max(0, times[-most] + WINDOW_S - self._clock())


class Bucket:
    """So many requests at once, and so many a second after that."""

    __slots__ = ("_at", "_left", "refused")

    def __init__(self) -> None:
        self._left = math.inf
        self._at = 0.0
        self.refused = 0
        """How many were too many, less those that were not; none of them counts any more once the bucket is full."""

    def take(self, now: float, burst: int, per_s: int) -> bool:
        """Whether one more may be carried out now."""
        left = min(burst, self._left + (now - self._at) * per_s)
        self._at = now
        if left < 1:
            self._left = left
            self.refused += 1
            return False
        self._left = left - 1
        self.refused = max(0, self.refused - 1) if left < burst else 0
        return True


class Guard:
    """Counts what is there, by the limits of `config`, which may be changed at any time."""

    def __init__(self, config: Config, clock: Callable[[], float]) -> None:
        self.config = config
        self._clock = clock
        self._unopened = Crowd(clock)
        self._waiting = Crowd(clock)
        self._links: set[Socket] = set()
        self._devices: dict[Socket, int] = {}
        self._of_device: Counter[int] = Counter()
        self._failures = Failures(clock)
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()
        self._closed = False

    # --- Sockets -----------------------------------------------------------------------------------------------------

    def came(self, socket: Socket, peer: str) -> bool:
        """Whether a socket from this address may begin its handshake."""
        if self._closed:
            return False
        return self._unopened.enter(socket, peer, self.config.max_connections + SPARE_SOCKETS - len(self._links))

    def admit(self, socket: Socket, address: str) -> Refusal | None:
        """Makes a socket whose handshake is in order a link that has to say hello, or says why it is refused."""
        config = self.config
        wait_s = self._failures.wait_s(address, config.max_failed_hellos)
        if wait_s:
            return Refusal(
                "failed_hellos",
                http.HTTPStatus.TOO_MANY_REQUESTS,
                f"{self._many_failed(wait_s)}, then say hello with a valid token",
                math.ceil(wait_s),
            )
        if len(self._links) >= config.max_connections:
            return Refusal(
                "connections",
                http.HTTPStatus.SERVICE_UNAVAILABLE,
                f"{len(self._links)} links are open, and {config.max_connections} is the most (max_connections): "
                "try again later",
                RETRY_S,
            )
        if not self._waiting.enter(socket, address, config.max_waiting_hellos):
            return Refusal(
                "waiting_hellos",
                http.HTTPStatus.SERVICE_UNAVAILABLE,
                f"{len(self._waiting)} sockets have not said hello yet, and {config.max_waiting_hellos} is the most "
                "(max_waiting_hellos): try again later",
                RETRY_S,
            )
        self._unopened.leave(socket)
        self._links.add(socket)
        return None

    def gave_up(self, socket: Socket) -> None:
        """Nobody waits for its hello any more: it is being closed, which takes its time."""
        self._waiting.leave(socket)

    def greeted(self, socket: Socket, device: int) -> bool:
        """Whether a link that said a right hello may stay: its device may have only so many."""
        self._waiting.leave(socket)
        if self._of_device[device] >= self.config.max_device_connections:
            return False
        self._devices[socket] = device
        self._of_device[device] += 1
        return True

    def left(self, socket: Socket) -> None:
        """The socket is gone."""
        self._unopened.leave(socket)
        self._waiting.leave(socket)
        self._links.discard(socket)
        device = self._devices.pop(socket, None)
        if device is not None:
            self._of_device[device] -= 1
            if not self._of_device[device]:
                del self._of_device[device]

    def close(self) -> None:
        """Nobody comes any more: who has not finished the handshake is cut off."""
        self._closed = True
        self._unopened.empty()

    # --- Rates -------------------------------------------------------------------------------------------------------

    def failed(self, address: str) -> None:
        """A hello from this address had no valid token or code."""
        self._failures.note(address, self.config.max_failed_hellos)

    def barred(self, address: str) -> str:
        """A sentence where no more hellos of this address are looked at for now, else empty."""
        wait_s = self._failures.wait_s(address, self.config.max_failed_hellos)
        return self._many_failed(wait_s) if wait_s else ""

    def _many_failed(self, wait_s: float) -> str:
        """Why an address has to wait, and how long."""
        return (
            f"{self.config.max_failed_hellos} hellos from this address failed within a minute (max_failed_hellos): wait "
            f"{math.ceil(wait_s)} s"
        )

    def bucket(self, token: str) -> Bucket:
        """What a viewer's requests are counted in: one a token, however many links it has."""
        bucket = self._buckets.pop(token, None) or Bucket()
        self._buckets[token] = bucket
        while len(self._buckets) > BUCKETS_MOST:
            self._buckets.popitem(last=False)
        return bucket

    def allows(self, bucket: Bucket) -> str:
        """A sentence where a viewer says anything too often, else empty."""
        config = self.config
        if bucket.take(self._clock(), config.viewer_burst_requests, config.viewer_requests_per_s):
            return ""
        return (
            f"a viewer may make {config.viewer_burst_requests} requests at once and {config.viewer_requests_per_s} a "
            "second after that (viewer_burst_requests, viewer_requests_per_s): wait and ask again"
        )

    def pause_s(self, bucket: Bucket) -> float:
        """How long not to hear a viewer that goes on asking although it was told that it asks too often; mostly 0."""
        config = self.config
        return 1 / config.viewer_requests_per_s if bucket.refused > config.viewer_burst_requests else 0
