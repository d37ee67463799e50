"""Reading files that a person named: a pipe or a device in such a place is refused, and never waited for."""

from __future__ import annotations

import os
import stat
from pathlib import Path


class NoPlainFile(Exception):  # noqa: N818  # a fact about a path, for whoever makes the sentence
    """What has that name is no regular file: a folder, a pipe, a socket or a device."""


def read_plain(path: Path) -> str:
    """The text of a regular file. Raises `NoPlainFile`, `OSError`, and `UnicodeDecodeError` where it is no UTF-8."""
    # Without the flag the opening of a pipe waits for somebody who writes into it.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise NoPlainFile
    with open(descriptor, encoding="utf-8") as file:  # noqa: PTH123  # a descriptor has no other
        return file.read()
