"""A process that kills itself before a certain line of certain modules is carried out."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

_PROGRAM = """
import os, signal, sys
from pathlib import Path
modules, at, work = sys.argv[1].split(","), int(sys.argv[2]), sys.argv[3]
seen = 0

def look(frame, event, _):
    global seen
    if Path(frame.f_code.co_filename).stem not in modules or "waybread_daemon" not in frame.f_code.co_filename:
        return None
    if event == "line":
        if seen == at:
            os.kill(os.getpid(), signal.SIGKILL)
        seen += 1
    return look

space = {"arguments": [Path(text) for text in sys.argv[4:]]}
head, _, tail = work.partition("---")
exec(head, space)
sys.settrace(look)
exec(tail, space)
sys.settrace(None)
print(seen)
"""


def lines_of(work: str, modules: str, *arguments: Path) -> int:
    """How many lines of those modules are carried out by the work."""
    ended = _run(work, modules, 10**9, *arguments)
    assert ended.returncode == 0, ended.stderr
    return int(ended.stdout)


def killed_at(line: int, work: str, modules: str, *arguments: Path) -> None:
    """Carries out the work until the line of that number is next, then kills itself."""
    ended = _run(work, modules, line, *arguments)
    assert ended.returncode == -signal.SIGKILL, (ended.returncode, ended.stderr)


def _run(work: str, modules: str, at: int, *arguments: Path) -> subprocess.CompletedProcess[str]:
    """`work` is a program of two halves with `---` between them: what it imports, and what it does with `arguments`."""
    words = [sys.executable, "-c", _PROGRAM, modules, str(at), work, *map(str, arguments)]
    return subprocess.run(words, check=False, capture_output=True, text=True, timeout=60)
