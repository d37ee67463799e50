"""Logs on standard error: one event a line, JSON, or coloured text on a terminal."""

from __future__ import annotations

import logging
import sys
from typing import TextIO, cast

import structlog
from structlog.typing import FilteringBoundLogger, Processor

LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}


def make_log(level: str, *, colors: bool = True, out: TextIO | None = None) -> FilteringBoundLogger:
    """The daemon's logger. What goes in is ids, sizes, codes and sentences of our own: never a token, a body or a path
    of a device's files.

    `level` is one of `LEVELS`; `colors` counts on a terminal only; `out` is standard error where it is not given.
    """
    stream = sys.stderr if out is None else out
    last: Processor
    if stream.isatty():
        # What a client calls itself stands in a log line: as a repr it cannot talk to the terminal.
        last = structlog.dev.ConsoleRenderer(colors=colors, repr_native_str=True)
    else:
        last = structlog.processors.JSONRenderer()
    logger = structlog.wrap_logger(
        _Lines(stream),
        processors=[structlog.processors.add_log_level, structlog.processors.TimeStamper(fmt="iso", utc=True), last],
        wrapper_class=structlog.make_filtering_bound_logger(LEVELS[level]),
    )
    return cast("FilteringBoundLogger", logger)


class _Lines:
    """Writes each event as a line, at once. A log that nobody reads any more must not end the daemon."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def _write(self, line: str) -> None:
        try:
            # One call a line, so that lines of two threads never mix.
            self._stream.write(f"{line}\n")
            self._stream.flush()
        except (OSError, ValueError):
            return

    debug = info = warning = error = _write
