"""Measures the rows, prints the table, and says by its exit status whether every target is met."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time

from tests.bench.figures import Figure
from tests.bench.room import room
from tests.bench.table import ROWS, table


def main() -> int:
    """Exit status: 0 every target met, 1 some missed, 2 wrong usage."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--only", metavar="NAME", action="append", choices=list(ROWS), help=", ".join(ROWS))
    parser.add_argument("--rounds", metavar="N", type=_rounds, default=5, help="rounds of each row (5)")
    parser.add_argument("--json", action="store_true", help="print JSON and no table")
    options = parser.parse_args()
    figures: list[Figure] = []
    for name in options.only or ROWS:
        begin = time.monotonic()
        sys.stderr.write(f"{name}\n")
        sys.stderr.flush()
        with room(options.rounds) as own:
            figures += ROWS[name](own)
        sys.stderr.write(f"    {time.monotonic() - begin:.0f} s\n")
    machine = _machine()
    if options.json:
        plain = {"machine": machine, "figures": [figure.plain() for figure in figures]}
        print(json.dumps(plain, indent=2, ensure_ascii=False))
    else:
        print(table(figures))
        print(", ".join(f"{name} {value}" for name, value in machine.items()))
    return 0 if all(figure.met for figure in figures) else 1


def _machine() -> dict[str, object]:
    """What was measured on. A load above the bench's own says that others were at work, which blurs every figure."""
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "Python": platform.python_version(),
        "processors": os.cpu_count(),
        "load over 15 minutes": round(os.getloadavg()[2], 1),
    }


def _rounds(text: str) -> int:
    rounds = int(text)
    if rounds < 1:
        raise argparse.ArgumentTypeError("there is at least one round")
    return rounds


if __name__ == "__main__":
    sys.exit(main())
