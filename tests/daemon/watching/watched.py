"""A daemon that serves metrics."""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from tests.daemon.watching.scraped import Scraped, scrape
from tests.running import Daemon, running

SETTINGS = "metrics = true\nmetrics_port = 0\nfree_floor_bytes = 0\n"


def logged(daemon: Daemon, event: str) -> list[dict[str, object]]:
    """The lines of the log about an event."""
    lines = [json.loads(line) for line in daemon.log.read_text("utf-8").splitlines()]
    return [line for line in lines if line["event"] == event]


class Watched:
    """The daemon, and where its metrics are."""

    def __init__(self, daemon: Daemon) -> None:
        self.daemon = daemon
        (line,) = logged(daemon, "metrics_listening")
        assert line["host"] == "127.0.0.1"
        self.port = int(str(line["port"]))

    def scrape(self) -> Scraped:
        return scrape(self.port)


@contextmanager
def watched(folder: Path, settings: str = "") -> Generator[Watched]:
    data = folder / "data"
    data.mkdir()
    (data / "waybread.toml").write_text(SETTINGS + settings)
    with running(data) as daemon:
        yield Watched(daemon)
