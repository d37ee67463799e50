"""Where the control socket is: `waybread.sock` in the data folder, for its owner alone.

A socket's address holds a path of about a hundred bytes, and data folders may lie deeper. On Linux such a folder is
reached through its descriptor; elsewhere there is no way.
"""

from __future__ import annotations

import contextlib
import os
import socket
import stat
import struct
from pathlib import Path

SOCKET_NAME = "waybread.sock"
ADDRESS_BYTES = 103
"""What every system takes: the shortest address has 104 bytes, the last of them 0."""
_DESCRIPTORS = "/proc/self/fd"


class PlaceFault(Exception):  # noqa: N818  # the word of the house for what stops something
    """Why there can be no control socket in this folder: a sentence."""


class Place:
    """A data folder, held open. `address` is good as long as it is."""

    def __init__(self, folder: Path) -> None:
        """Opens the folder. Raises `OSError`, and `PlaceFault` where no address reaches it."""
        self._descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            self.address = _address(folder, self._descriptor)
        except PlaceFault:
            self.close()
            raise

    def close(self) -> None:
        """Lets go of the folder."""
        os.close(self._descriptor)

    def listen(self) -> socket.socket:
        """A listening socket in the folder, in the place of one that another process left behind.

        To be called by the one process that holds the store, or it takes the socket from a daemon that runs. Raises
        `OSError`, and `PlaceFault` where something else than a socket has the name.
        """
        self._clear()
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            listening.bind(self.address)
            # Until it listens nobody can connect, whatever permissions it was made with.
            os.chmod(SOCKET_NAME, 0o600, dir_fd=self._descriptor)
            listening.listen()
            listening.setblocking(False)
        except OSError:
            listening.close()
            raise
        return listening

    def connect(self, timeout_s: float) -> socket.socket:
        """A connection to the daemon of the folder. Raises `OSError`."""
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.settimeout(timeout_s)
        try:
            connection.connect(self.address)
        except OSError:
            connection.close()
            raise
        return connection

    def remove(self) -> None:
        """Takes the socket away."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(SOCKET_NAME, dir_fd=self._descriptor)

    def _clear(self) -> None:
        try:
            mode = os.stat(SOCKET_NAME, dir_fd=self._descriptor, follow_symlinks=False).st_mode
        except FileNotFoundError:
            return
        if not stat.S_ISSOCK(mode):
            raise PlaceFault(f"{SOCKET_NAME} in the data folder is no socket: take it away and start the daemon again")
        self.remove()


def _address(folder: Path, descriptor: int) -> str:
    plain = str(folder / SOCKET_NAME)
    if len(os.fsencode(plain)) <= ADDRESS_BYTES:
        return plain
    through = f"{_DESCRIPTORS}/{descriptor}"
    if not os.path.isdir(through):  # noqa: PTH112  # a link to follow, no path to build on
        raise PlaceFault(
            f"the path {plain} has {len(os.fsencode(plain))} bytes, and a socket's may have {ADDRESS_BYTES} on this "
            "system: name a data folder with a shorter path with --data"
        )
    return f"{through}/{SOCKET_NAME}"


def is_owner(connection: socket.socket) -> bool:
    """Whether the other end is this process's user or root. Where the system does not tell, the socket's permissions decide."""
    credentials = getattr(socket, "SO_PEERCRED", None)
    if credentials is None:
        return True
    _, user, _ = struct.unpack("iII", connection.getsockopt(socket.SOL_SOCKET, credentials, struct.calcsize("iII")))
    return user in (0, os.geteuid())
