"""Asking the daemon that runs with a data folder, over its control socket."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Generator
from pathlib import Path
from typing import TypeVar

import msgspec

from waybread_daemon.cli.faults import CommandFault
from waybread_daemon.link.control.messages import Asked, Refused, Told
from waybread_daemon.link.control.place import SOCKET_NAME, Place, PlaceFault

REPLY_TIMEOUT_S = 20
_GONE = frozenset({errno.ENOENT, errno.ECONNREFUSED, errno.ENOTDIR})

T = TypeVar("T", bound=msgspec.Struct)


class NotRunning(CommandFault):
    """No daemon runs with this data folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__(
            f"no daemon runs with the data folder {folder}: start one with `waybread serve --data {folder}`, or name "
            "the folder of the one that runs with --data"
        )


class Asking:
    """A connection to the daemon, for one request."""

    def __init__(self, place: Place) -> None:
        self._socket = place.connect(REPLY_TIMEOUT_S)
        self._lines = self._socket.makefile("rb")

    def close(self) -> None:
        """Lets go: what the daemon keeps for the command alone ends with it."""
        self._lines.close()
        self._socket.close()

    def ask(self, request: Asked, reply: type[T], *, patiently: bool = False) -> T:
        """The first line of the answer, which has to be of that type. `patiently`: however long it takes.

        Raises `CommandFault`.
        """
        try:
            self._socket.sendall(msgspec.json.encode(request) + b"\n")
        except OSError as fault:
            raise _lost() from fault
        told = self.next(None if patiently else REPLY_TIMEOUT_S)
        if not isinstance(told, reply):
            raise CommandFault(f"the daemon answered with {type(told).__name__}: is it of this command's version?")
        return told

    def next(self, timeout_s: float | None = None) -> Told:
        """The next line of the answer. Raises `CommandFault`, with the daemon's own sentence where it refuses."""
        self._socket.settimeout(timeout_s)
        try:
            line = self._lines.readline()
        except TimeoutError as fault:
            raise CommandFault(
                f"the daemon did not answer within {REPLY_TIMEOUT_S} s: look at its log, and try again"
            ) from fault
        except OSError as fault:
            raise _lost() from fault
        if not line.endswith(b"\n"):
            raise _lost()
        try:
            told: Told = msgspec.json.decode(line, type=Told)
        except msgspec.DecodeError as fault:
            raise CommandFault(f"the daemon's answer is none ({fault}): is it of this command's version?") from fault
        if isinstance(told, Refused):
            raise CommandFault(told.message)
        return told


@contextlib.contextmanager
def asking(folder: Path) -> Generator[Asking]:
    """A connection to the daemon of a data folder. Raises `NotRunning`, and `CommandFault` where it cannot be reached."""
    try:
        place = Place(folder)
    except PlaceFault as fault:
        raise CommandFault(str(fault)) from fault
    except OSError as fault:
        raise _unreached(folder, fault) from fault
    try:
        connection = Asking(place)
    except OSError as fault:
        raise _unreached(folder, fault) from fault
    finally:
        place.close()
    try:
        yield connection
    finally:
        connection.close()


def _unreached(folder: Path, fault: OSError) -> CommandFault:
    if fault.errno in _GONE:
        return NotRunning(folder)
    if fault.errno in (errno.EACCES, errno.EPERM):
        return CommandFault(
            f"{folder / SOCKET_NAME} is for its owner alone and this is user {os.geteuid()}: run the command as the "
            "daemon's user, or as root"
        )
    return CommandFault(f"the daemon of {folder} cannot be reached ({fault.strerror}): look whether it runs")


def _lost() -> CommandFault:
    return CommandFault("the daemon ended before it answered: look at its log, start it again, and repeat the command")
