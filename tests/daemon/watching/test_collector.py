"""Names, labels and values as they are exposed, from numbers that the test gives."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.exposition import choose_encoder

from tests.daemon.watching.scraped import Scraped, open_metrics
from waybread_daemon.watching.collector import DaemonCollector, Sizes, Watched
from waybread_daemon.watching.counts import REFUSALS, Counts, StoreCounts
from waybread_protocol.errors import ErrorCode
from waybread_protocol.messages import REQUESTS, ROLES

LABELS = {
    "waybread_links": {"role": set(ROLES)},
    "waybread_requests_total": {"type": {*REQUESTS, "unknown"}},
    "waybread_errors_total": {"code": set(ErrorCode)},
    "waybread_results_total": {"measure": {"full", "stub", "capped", "diff", "recall"}},
    "waybread_saved_bytes_total": {"measure": {"stub", "capped", "diff"}},
    "waybread_refused_connections_total": {"reason": set(REFUSALS)},
    "waybread_build_info": {"version": {"1"}, "python": {"3"}, "sqlite": {"4"}},
}
"""Every label that there is but the bounds of histograms, and every value that it can have."""
SIZES = Sizes(1, 2, 3, 4, 5, 6, 7, 8, 9)


class Outbox(NamedTuple):
    waiting_bytes: int


class Link(NamedTuple):
    role: str
    open_requests: int = 0
    outbox: Outbox = Outbox(0)


class Store:
    counts = StoreCounts()
    waiting = 3
    written_bytes = (1000, 400)


def collected(
    counts: Counts | None = None,
    store: Store | None = None,
    links: tuple[Link, ...] = (),
    sizes: Callable[[], Sizes | None] = lambda: SIZES,
) -> CollectorRegistry:
    metrics = CollectorRegistry()
    metrics.register(
        DaemonCollector(
            Watched(
                build={"version": "1", "python": "3", "sqlite": "4"},
                counts=counts or Counts(),
                store=store or Store(),
                links=lambda: links,
                heavy_tasks=lambda: 2,
                live_sessions=lambda: 7,
                is_ready=lambda: True,
                sizes=sizes,
            )
        )
    )
    return metrics


def scraped(metrics: CollectorRegistry) -> Scraped:
    return Scraped(generate_latest(metrics).decode())


def test_links_are_counted_by_role_and_those_that_said_no_hello_apart() -> None:
    links = (Link("device"), Link("viewer", 2, Outbox(10)), Link("viewer", 3, Outbox(5)), Link("", 0, Outbox(1)))
    page = scraped(collected(links=links))
    assert page.by("links", "role") == {"device": 1, "viewer": 2}
    assert page.value("links", role="agent") == 0
    assert page.value("waiting_hellos") == 1
    assert (page.value("open_requests"), page.value("unsent_bytes")) == (5, 16)


def test_each_number_stands_under_its_name() -> None:
    counts = Counts()
    counts.requests["ping"] = 4
    counts.errors[ErrorCode.BUSY] = 5
    counts.inserted("stub", 70)
    counts.received_bytes, counts.sent_bytes, counts.failed_hellos = 11, 12, 13
    counts.refusals["origin"] = 14
    page = scraped(collected(counts))
    assert page.by("requests_total", "type") == {"ping": 4}
    assert page.by("errors_total", "code") == {"busy": 5}
    assert page.by("results_total", "measure") == {"stub": 1}
    assert page.by("saved_bytes_total", "measure") == {"stub": 70}
    assert page.by("refused_connections_total", "reason") == {"origin": 14}
    wanted = {
        "received_bytes_total": 11,
        "sent_bytes_total": 12,
        "failed_hellos_total": 13,
        "written_raw_bytes_total": 1000,
        "written_bytes_total": 400,
        "writer_queue": 3,
        "heavy_tasks": 2,
        "live_sessions": 7,
        "ready": 1,
        "devices": 1,
        "sessions": 2,
        "raw_bytes": 3,
        "stored_bytes": 4,
        "purging_bytes": 5,
        "database_bytes": 6,
        "log_bytes": 7,
        "unused_bytes": 8,
        "free_disk_bytes": 9,
    }
    assert {name: page.value(name) for name in wanted} == wanted
    assert page.value("build_info", version="1", python="3", sqlite="4") == 1


def test_a_histogram_counts_at_or_below_each_bound_and_all_of_them_at_last() -> None:
    store = Store()
    store.counts = StoreCounts()
    for seconds in (0.0004, 0.001, 0.002, 60):
        store.counts.commit_s.observe(seconds)
    page = scraped(collected(store=store))
    assert [page.value("commit_seconds_bucket", le=le) for le in ("0.0005", "0.001", "0.0025", "10.0", "+Inf")] == [
        1,
        2,
        3,
        3,
        4,
    ]
    assert page.value("commit_seconds_count") == 4
    assert page.value("commit_seconds_sum") == pytest.approx(60.0034)


def test_sizes_that_cannot_be_told_are_missing_and_the_rest_is_there() -> None:
    page = scraped(collected(sizes=lambda: None))
    assert page.families["waybread_database_bytes"].samples == []
    assert page.value("ready") == 1
    assert set(page.families) == set(scraped(collected()).families)


def test_to_register_it_asks_for_nothing() -> None:
    def sizes() -> Sizes:
        raise AssertionError("the store was asked")

    collected(sizes=sizes)


def test_labels_are_few_and_none_has_a_value_that_a_client_could_choose() -> None:
    found: dict[str, dict[str, set[str]]] = {}
    for name, labels in scraped(collected()).samples:
        for label, value in labels:
            if label != "le":
                found.setdefault(name, {}).setdefault(label, set()).add(value)
    assert found == LABELS


def test_names_are_as_prometheus_wants_them() -> None:
    for family in scraped(collected()).families.values():
        assert re.fullmatch(r"waybread_[a-z]+(_[a-z]+)*", family.name), family.name
        assert re.fullmatch(r"[A-Z].*\.", family.documentation), family
        # Units are base units, and stand at the end; a name says nothing of its type.
        assert not re.search(r"_(ms|us|milliseconds|kb|kib|mb|mib|percent|gauge|histogram|counter)(_|$)", family.name)
        assert not re.search(r"_(seconds|bytes)_(?!total)", family.name), family.name
        if family.type == "counter":
            assert {sample.name for sample in family.samples} == {f"{family.name}_total"}
        else:
            assert not family.name.endswith(("_total", "_count", "_sum", "_bucket")), family.name


def test_open_metrics_can_be_read_too() -> None:
    encode, _ = choose_encoder("application/openmetrics-text; version=1.0.0")
    families = open_metrics(encode(collected()).decode())
    assert families["waybread_requests"].type == "counter"
    assert families["waybread_build"].type == "info"
