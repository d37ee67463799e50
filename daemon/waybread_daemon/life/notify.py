"""What systemd's `sd_notify` is told, where the daemon runs under it: datagrams of `NAME=value` lines.

It is written here because it is a socket and ten lines; the package that does it has seen no release since 2017.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import MutableMapping

_USEC = 1_000_000


class Notifier:
    """Tells the service manager. Without one (`address` empty) every method does nothing.

    `watchdog_s` is within what time the manager wants to hear `alive`, 0 where it does not ask for it. Whatever is wrong
    with the manager's socket is no fault of the daemon.
    """

    def __init__(self, address: str = "", watchdog_s: float = 0) -> None:
        self.watchdog_s = watchdog_s if address else 0.0
        # A leading @ stands for the null byte of the abstract namespace.
        self._address = f"\0{address[1:]}" if address.startswith("@") else address
        self._socket: socket.socket | None = None
        if address:
            with contextlib.suppress(OSError):
                self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
                self._socket.setblocking(False)

    @classmethod
    def take(cls, environment: MutableMapping[str, str]) -> Notifier:
        """The manager that the environment names. What names it is removed, so that no child takes itself for the service."""
        address = environment.pop("NOTIFY_SOCKET", "")
        interval = environment.pop("WATCHDOG_USEC", "")
        watched = environment.pop("WATCHDOG_PID", "")
        ours = watched in ("", str(os.getpid()))
        return cls(address, int(interval) / _USEC if ours and interval.isascii() and interval.isdigit() else 0)

    def opening(self) -> None:
        """Before it is ready."""
        self._say(STATUS="Opening the store")

    def ready(self, status: str) -> None:
        """It serves, or serves again after `reloading`."""
        self._say(READY="1", STATUS=status)

    def reloading(self) -> None:
        """It reads its settings again, until `ready`."""
        # The manager holds it against its own clock, to tell this reload from an earlier one.
        since_boot = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
        self._say(RELOADING="1", MONOTONIC_USEC=str(since_boot))

    def stopping(self, within_s: float) -> None:
        """It is on its way down, and may take so long."""
        self._say(STOPPING="1", STATUS="Finishing what is under way", EXTEND_TIMEOUT_USEC=str(int(within_s * _USEC)))

    def extend(self, by_s: float) -> None:
        """What it is at takes so much longer from now on."""
        self._say(EXTEND_TIMEOUT_USEC=str(int(by_s * _USEC)))

    def alive(self) -> None:
        """Feeds the watchdog."""
        self._say(WATCHDOG="1")

    def close(self) -> None:
        """Nothing is told any more."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _say(self, **lines: str) -> None:
        if self._socket is None:
            return
        message = "\n".join(f"{name}={text}" for name, text in lines.items())
        with contextlib.suppress(OSError):
            self._socket.sendto(message.encode(), self._address)
