"""The process's title: the words of its command line, which anybody on the machine may read."""

from __future__ import annotations

import os
from pathlib import Path

_PLACE = Path("/proc/self")
_ARGUMENTS_BEGIN, _ARGUMENTS_END = 47, 48
"""Of the fields of `stat`, counted from 0 (proc_pid_stat(5): arg_start and arg_end)."""


def scrub(secrets: list[str]) -> None:
    """Writes `x` over secrets in this process's title. Without a word where the system has no way to do that.

    Python has read its words by then, so nothing else changes.
    """
    wanted = [os.fsencode(secret) for secret in secrets if secret not in ("", "-") and not secret.startswith("@")]
    if not wanted:
        return
    try:
        # The second field is the program's name in brackets, and may have spaces.
        fields = ["", "", *(_PLACE / "stat").read_text("utf-8", "replace").rpartition(") ")[2].split()]
        begin, end = int(fields[_ARGUMENTS_BEGIN]), int(fields[_ARGUMENTS_END])
        with (_PLACE / "mem").open("r+b", buffering=0) as memory:
            memory.seek(begin)
            title = memory.read(end - begin)
            for secret in wanted:
                title = title.replace(secret, b"x" * len(secret))
            memory.seek(begin)
            memory.write(title)
    except (OSError, ValueError, IndexError):
        return
