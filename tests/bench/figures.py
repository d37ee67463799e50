"""A figure: one line of the table, with what it is measured against and the numbers behind it."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

Unit = Literal["x", "ms", "KiB", "MiB"]
Raw = dict[str, object]


@dataclass(frozen=True)
class Figure:
    """`measured` is a ratio to a limit (`x`) or a plain number in `unit`. `skipped`: why it was not measured."""

    name: str
    what: str
    target: float
    measured: float | None
    unit: Unit = "x"
    at_least: bool = False
    raw: Raw = field(default_factory=dict[str, object])
    skipped: str = ""

    @property
    def met(self) -> bool:
        """Whether the target is reached; what was skipped misses none."""
        if self.measured is None:
            return True
        return self.measured >= self.target if self.at_least else self.measured <= self.target

    @property
    def verdict(self) -> str:
        """The word in the table."""
        if self.measured is None:
            return "skipped"
        return "met" if self.met else "MISSED"

    @property
    def bound(self) -> str:
        """The target as the table shows it."""
        return f"{'≥' if self.at_least else '≤'} {shown(self.target, self.unit)}"

    @property
    def result(self) -> str:
        """The measured value as the table shows it."""
        return "" if self.measured is None else shown(self.measured, self.unit)

    def plain(self) -> dict[str, object]:
        """The figure for `--json`."""
        return {
            "name": self.name,
            "what": self.what,
            "measured": self.measured,
            "unit": self.unit,
            "target": self.target,
            "at_least": self.at_least,
            "verdict": self.verdict,
            "skipped": self.skipped,
            "raw": self.raw,
        }


def shown(value: float, unit: Unit) -> str:
    """A number with its unit."""
    if unit == "x":
        return f"{value:.2f} ×"
    return f"{value:.1f} {unit}"


def median(values: Sequence[float]) -> float:
    """The middle one."""
    return float(statistics.median(values))


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which that share of all lies, by the nearest rank."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, round(share * len(ordered)) - 1))]


class Rounds:
    """The numbers of each round by side, as they come in: the two sides of a ratio take turns."""

    def __init__(self) -> None:
        self._sides: dict[str, list[float]] = {}

    def add(self, side: str, value: float) -> None:
        """A round's number."""
        self._sides.setdefault(side, []).append(value)

    def median(self, side: str) -> float:
        """The median over the rounds."""
        return median(self._sides[side])

    def ratio(self, side: str, limit: str) -> float:
        """One side through the other: the median of the rounds' own ratios, because a machine drifts between rounds."""
        return median([ours / its for ours, its in zip(self._sides[side], self._sides[limit], strict=True)])

    def raw(self, unit: str, scale: float = 1.0, digits: int = 3) -> Raw:
        """Each side's median and all its rounds, for the table and for `--json`."""
        return {
            f"{side} {unit}": {
                "median": round(median(values) * scale, digits),
                "rounds": [round(value * scale, digits) for value in values],
            }
            for side, values in self._sides.items()
        }
