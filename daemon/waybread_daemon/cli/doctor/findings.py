"""What a doctor finds: a level, a sentence, and what to do about it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

Level = Literal["ok", "warning", "fault"]

Repair = Callable[[], str]
"""Does what the remedy says and tells what was done. Raises `OSError`, `StoreFault` or `StoreRefusal`."""


class Finding(NamedTuple):
    """`check` names what was looked at. `repair` is there only where it loses nothing."""

    level: Level
    check: str
    sentence: str
    remedy: str = ""
    repair: Repair | None = None


def ok(check: str, sentence: str) -> Finding:
    """It is as it should be."""
    return Finding("ok", check, sentence)


def warning(check: str, sentence: str, remedy: str, repair: Repair | None = None) -> Finding:
    """The daemon works, and someone should see to it."""
    return Finding("warning", check, sentence, remedy, repair)


def fault(check: str, sentence: str, remedy: str, repair: Repair | None = None) -> Finding:
    """Something does not work, is lost, or is open to others."""
    return Finding("fault", check, sentence, remedy, repair)
