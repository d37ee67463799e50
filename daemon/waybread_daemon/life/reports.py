"""How faults of the program stand in the log: where they are, and nothing of what a client sent."""

from __future__ import annotations

import asyncio
import secrets
import sys
import threading
import traceback
from collections.abc import Callable
from types import TracebackType
from typing import Any

from structlog.typing import FilteringBoundLogger


def reporter(log: FilteringBoundLogger) -> Callable[[BaseException], str]:
    """Logs a fault and gives the id under which it stands there."""

    def report(fault: BaseException) -> str:
        name = secrets.token_hex(4)
        log.error("fault", fault=name, kind=type(fault).__name__, where=_frames(fault))
        return name

    return report


def loop_reporter(log: FilteringBoundLogger) -> Callable[[asyncio.AbstractEventLoop, dict[str, Any]], None]:
    """What fails where nobody waits for it. asyncio's own handler would print the exception's text."""

    def report(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        fault: BaseException | None = context.get("exception")
        kind = "" if fault is None else type(fault).__name__
        log.error("loop_fault", what=context["message"], kind=kind, where=[] if fault is None else _frames(fault))

    return report


def report_crashes(log: FilteringBoundLogger) -> None:
    """What ends the process or one of its threads, and what fails while an object is thrown away, goes to the log, too.

    Python itself would print the exception's text.
    """

    def ended(kind: type[BaseException], fault: BaseException, _: TracebackType | None) -> None:
        log.error("crash", kind=kind.__name__, where=_frames(fault))

    def thread_ended(of: threading.ExceptHookArgs) -> None:
        where = [] if of.exc_value is None else _frames(of.exc_value)
        name = "" if of.thread is None else of.thread.name
        log.error("thread_crash", thread=name, kind=of.exc_type.__name__, where=where)

    def not_raised(of: sys.UnraisableHookArgs) -> None:
        where = [] if of.exc_value is None else _frames(of.exc_value)
        log.error("unraisable", kind=of.exc_type.__name__, where=where)

    sys.excepthook = ended
    threading.excepthook = thread_ended
    sys.unraisablehook = not_raised


def _frames(fault: BaseException) -> list[str]:
    """The frames say where; the exception's own text may hold what a client sent."""
    return [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(fault.__traceback__)]
