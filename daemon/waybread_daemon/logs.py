"""Logs on standard error: one event a line, JSON, or coloured text on a terminal."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable
from typing import TextIO, cast

import structlog
from structlog.typing import EventDict, FilteringBoundLogger, Processor, WrappedLogger

from waybread_daemon.redaction import without_likely_secrets

LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}


class Level:
    """From which level on a log speaks. It may be set while the log is in use, and all that was bound from it follows."""

    def __init__(self, name: str) -> None:
        self.set(name)

    def set(self, name: str) -> None:
        """`name` is one of `LEVELS`."""
        self.least = LEVELS[name]


def make_log(level: str | Level, *, colors: bool = True, out: TextIO | None = None) -> FilteringBoundLogger:
    """The daemon's logger. What goes in is ids, sizes, codes and sentences of our own: never a token, a body or a path
    of a device's files. What a client sent in place of such a thing loses what looks like a secret.

    `level` is one of `LEVELS`, or a `Level`; `colors` counts on a terminal only; `out` is standard error where it is not
    given.
    """
    stream = sys.stderr if out is None else out
    last: Processor
    if stream.isatty():
        # What a client calls itself stands in a log line: as a repr it cannot talk to the terminal.
        last = structlog.dev.ConsoleRenderer(colors=colors, repr_native_str=True)
    else:
        last = structlog.processors.JSONRenderer()
    logger = structlog.wrap_logger(
        _Lines(stream, Level(level) if isinstance(level, str) else level),
        processors=[
            structlog.processors.add_log_level,
            _redacted,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            last,
        ],
        wrapper_class=_Logger,
    )
    return cast("FilteringBoundLogger", logger)


def _redacted(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    return {name: _without_secrets(value) for name, value in event.items()}


def _without_secrets(value: object) -> object:
    if isinstance(value, str):
        return without_likely_secrets(value)
    if isinstance(value, list | tuple):
        return [_without_secrets(item) for item in cast("Iterable[object]", value)]
    return value


class _Logger(structlog.BoundLoggerBase):
    """Asks for the level at each event: structlog's own filter is made for one level and keeps it.

    What is below the level costs a comparison, because a link has such an event for each request.
    """

    _logger: _Lines

    def debug(self, event: str, **fields: object) -> None:
        """What happens once a request."""
        if self._logger.level.least <= logging.DEBUG:
            self._proxy_to_logger("debug", event, **fields)

    def info(self, event: str, **fields: object) -> None:
        """What happens once a link, or once a start."""
        if self._logger.level.least <= logging.INFO:
            self._proxy_to_logger("info", event, **fields)

    def warning(self, event: str, **fields: object) -> None:
        """What its owner should look at some day."""
        if self._logger.level.least <= logging.WARNING:
            self._proxy_to_logger("warning", event, **fields)

    def error(self, event: str, **fields: object) -> None:
        """What is wrong now."""
        self._proxy_to_logger("error", event, **fields)


class _Lines:
    """Writes each event as a line, at once. A log that nobody reads any more must not end the daemon."""

    def __init__(self, stream: TextIO, level: Level) -> None:
        self.level = level
        self._stream = stream

    def _write(self, line: str) -> None:
        try:
            # One call a line, so that lines of two threads never mix.
            self._stream.write(f"{line}\n")
            self._stream.flush()
        except (OSError, ValueError):
            return

    debug = info = warning = error = _write
