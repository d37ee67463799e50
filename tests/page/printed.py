"""What `waybread pair` prints, as a person copies it: to a pipe, to a terminal, as JSON."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager

from tests.page.browsing import House
from tests.running import environment

_CONTROL = re.compile(r"\x1b\[[0-9;]*m")
_END = "Ctrl-C withdraws the code."


@contextmanager
def printed(house: House, *words: str, columns: int = 0) -> Generator[str]:
    """All that the command says while it waits. `columns`: on a terminal as wide as that, as it is copied from there."""
    command = [sys.executable, "-m", "waybread_daemon", "pair", "--role", "viewer", "--device", house.device, *words]
    surroundings = {**environment(house.daemon.data), "COLUMNS": str(columns)}
    ours, theirs = pty.openpty() if columns else os.pipe()
    with (
        os.fdopen(ours, "rb", buffering=0) as reader,
        subprocess.Popen(command, env=surroundings, stdout=theirs, stderr=subprocess.DEVNULL) as process,
    ):
        os.close(theirs)
        try:
            said = ""
            while _END not in said and not said.endswith("}\n"):
                more = reader.read(65536)
                assert more, said
                said += more.decode()
            yield _wrapped(_CONTROL.sub("", said), columns) if columns else said
        finally:
            process.kill()


def _wrapped(said: str, columns: int) -> str:
    """As a terminal shows it that knows of no words."""
    lines = said.splitlines()
    return "\n".join(line[at : at + columns] for line in lines for at in range(0, max(1, len(line)), columns))
