"""The names under which Prometheus knows the numbers, and how they are read when it asks.

Units stand in the names: `_seconds`, `_bytes`; what only rises ends in `_total`. README.md tells what each is, and the
dashboard in `deploy/grafana` draws them: tests compare both with what is exposed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import accumulate
from typing import NamedTuple, Protocol

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
)
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from waybread_daemon.watching.counts import Counts, Histogram, StoreCounts
from waybread_protocol.messages import ROLES

PREFIX = "waybread_"


class Sizes(NamedTuple):
    """What is there and what it takes: figures that cost a look."""

    devices: int
    sessions: int
    raw_bytes: int
    stored_bytes: int
    purging_bytes: int
    database_bytes: int
    log_bytes: int
    unused_bytes: int
    free_disk_bytes: int


class Queued(Protocol):
    """An outbox."""

    @property
    def waiting_bytes(self) -> int:
        """What waits to be sent."""
        ...


class Linked(Protocol):
    """A connection."""

    @property
    def role(self) -> str:
        """Empty until it has said hello."""
        ...

    @property
    def open_requests(self) -> int:
        """Requests that wait for their answers."""
        ...

    @property
    def outbox(self) -> Queued:
        """What it is sent."""
        ...


class Written(Protocol):
    """A store's writing side."""

    @property
    def counts(self) -> StoreCounts:
        """Its numbers."""
        ...

    @property
    def waiting(self) -> int:
        """How much waits for the writing thread."""
        ...

    @property
    def written_bytes(self) -> tuple[int, int]:
        """What was written, as it came and compressed."""
        ...


class Watched(NamedTuple):
    """A running daemon, as far as metrics tell of it. All of it is asked in another thread than the loop's."""

    build: Mapping[str, str]
    counts: Counts
    store: Written
    links: Callable[[], Iterable[Linked]]
    heavy_tasks: Callable[[], int]
    live_sessions: Callable[[], int]
    is_ready: Callable[[], bool]
    sizes: Callable[[], Sizes | None]


class DaemonCollector(Collector):
    """Reads a daemon's numbers whenever it is asked; between that nothing is kept for it."""

    def __init__(self, watched: Watched) -> None:
        self._watched = watched

    def describe(self) -> Iterable[Metric]:
        """Nothing: to register a collector is no reason to ask the store."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """All families, those without a sample too."""
        yield InfoMetricFamily(f"{PREFIX}build", "Versions.", dict(self._watched.build))
        yield _gauge(
            "ready", "Whether the store takes writes and the daemon is not stopping.", self._watched.is_ready()
        )
        yield from self._links()
        yield from self._requests()
        yield from self._results()
        yield from self._writing()
        yield from self._sizes()

    def _links(self) -> Iterator[Metric]:
        links = list(self._watched.links())
        roles = Counter(link.role for link in links)
        yield _gauges("links", "Links that are open, by role.", "role", {role: roles[role] for role in ROLES})
        yield _gauge("waiting_hellos", "Sockets that have not yet said who they are.", roles[""])
        counts = self._watched.counts
        yield _counter("failed_hellos", "Sockets closed because they did not say who they are.", counts.failed_hellos)
        yield _counters("refused_connections", "Connections refused, by reason.", "reason", counts.refusals)
        yield _gauge(
            "unsent_bytes", "What waits to be sent, over all links.", sum(link.outbox.waiting_bytes for link in links)
        )
        yield _gauge(
            "open_requests", "Requests that wait for their answers.", sum(link.open_requests for link in links)
        )

    def _requests(self) -> Iterator[Metric]:
        counts = self._watched.counts
        yield _counters("requests", "Requests that came, by type.", "type", counts.requests)
        yield _counters("errors", "Answers that are errors, by code.", "code", counts.errors)
        yield _counter("received_bytes", "Messages that came, in bytes.", counts.received_bytes)
        yield _counter("sent_bytes", "Messages that were sent, in bytes.", counts.sent_bytes)
        yield _histogram("loop_lag_seconds", "By how much a wake-up of the event loop was late.", counts.loop_lag)
        yield _gauge("heavy_tasks", "Large work that waits for a thread or is under way.", self._watched.heavy_tasks())
        yield _gauge("live_sessions", "Sessions whose state is in memory.", self._watched.live_sessions())

    def _results(self) -> Iterator[Metric]:
        counts = self._watched.counts
        yield _counters(
            "results", "Results and recalls stored, by what was done to their text.", "measure", counts.results
        )
        yield _counters(
            "saved_bytes", "What tools answered and models did not get, in bytes.", "measure", counts.saved_bytes
        )

    def _writing(self) -> Iterator[Metric]:
        store = self._watched.store
        raw_bytes, written_bytes = store.written_bytes
        yield _counter("written_raw_bytes", "Arguments, bodies and contents stored, as they came.", raw_bytes)
        yield _counter("written_bytes", "The same, compressed.", written_bytes)
        yield _histogram("commit_seconds", "How long it took to write and sync a batch.", store.counts.commit_s)
        yield _histogram("batch_records", "How many records a batch had.", store.counts.batch_records)
        yield _counter("failed_commits", "Batches that could not be stored.", store.counts.failed_commits)
        yield _gauge("writer_queue", "What waits for the writing thread: records and other work.", store.waiting)

    def _sizes(self) -> Iterator[Metric]:
        sizes = self._watched.sizes()
        for name, text in (
            ("devices", "Devices."),
            ("sessions", "Sessions that are there."),
            ("raw_bytes", "What sessions hold, as it came."),
            ("stored_bytes", "What that takes on the disk."),
            ("purging_bytes", "What deleted sessions still take on the disk."),
            ("database_bytes", "The database's file."),
            ("log_bytes", "The write-ahead log's file."),
            ("unused_bytes", "Pages of the database's file that hold nothing and are used again first."),
            ("free_disk_bytes", "What is free on the disk that holds the store."),
        ):
            # Where it cannot be told, the family has no sample: an old number would look like a new one.
            yield _gauge(name, text, None if sizes is None else getattr(sizes, name))


def _gauge(name: str, text: str, value: float | None) -> Metric:
    return GaugeMetricFamily(PREFIX + name, text, value)


def _gauges(name: str, text: str, label: str, values: Mapping[str, int]) -> Metric:
    family = GaugeMetricFamily(PREFIX + name, text, labels=[label])
    for value, number in values.items():
        family.add_metric([value], number)
    return family


def _counter(name: str, text: str, value: float) -> Metric:
    return CounterMetricFamily(PREFIX + name, text, value)


def _counters(name: str, text: str, label: str, values: Mapping[str, int]) -> Metric:
    family = CounterMetricFamily(PREFIX + name, text, labels=[label])
    for value, number in values.items():
        family.add_metric([value], number)
    return family


def _histogram(name: str, text: str, histogram: Histogram) -> Metric:
    bounds = [*(str(float(bound)) for bound in histogram.bounds), "+Inf"]
    buckets = list(zip(bounds, accumulate(histogram.counts), strict=True))
    return HistogramMetricFamily(PREFIX + name, text, buckets, histogram.sum)
