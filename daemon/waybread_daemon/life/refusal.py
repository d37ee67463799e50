"""Why a daemon cannot listen where it is told to."""

from __future__ import annotations

import errno
import socket


class AddressRefusal(Exception):  # noqa: N818  # named as the store names its own
    """A sentence with the address and what to do."""

    def __init__(self, host: str, port: int, fault: OSError) -> None:
        super().__init__(host, port, fault)
        self.host = host
        self.port = port
        self.fault = fault

    def __str__(self) -> str:
        if isinstance(self.fault, socket.gaierror):
            return f"{self.host} is no address, and no name that this machine can look up: name another one with --host"
        match self.fault.errno:
            case errno.EADDRINUSE:
                return (
                    f"port {self.port} of {self.host} is taken: stop what listens there, or name another one with --port "
                    "(0 takes a free one)"
                )
            case errno.EACCES:
                return f"port {self.port} is for the system's own services: name one from 1024 up with --port"
            case errno.EADDRNOTAVAIL:
                return f"{self.host} is no address of this machine: name one that is with --host"
            case _:
                return f"the daemon cannot listen on {self.host} port {self.port} ({self.fault}): name another --host"
