"""The dashboard and the README name the metrics that a daemon really exposes: all of them, and no others."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.daemon.watching.scraped import Scraped
from tests.daemon.watching.watched import watched
from tests.daemon.wire import greeted, text_result
from tests.house.checkout import ROOT
from waybread_daemon.config import Config

FOLDER = ROOT / "deploy/grafana"
DASHBOARD: dict[str, Any] = json.loads((FOLDER / "waybread.json").read_text(encoding="utf-8"))
README = (ROOT / "README.md").read_text(encoding="utf-8")

METRIC = re.compile(r"\b(?:waybread|process)_[a-z_]+")
SERIES = re.compile(r"(?P<name>(?:waybread|process)_[a-z_]+)\{(?P<selectors>[^}]*)\}")
GROUPED = re.compile(r"\bby \((?P<label>[a-z]+)\) \((?P<of>.*)")
CALLS = {"sum", "min", "max", "rate", "increase", "histogram_quantile", "time", "by"}


def panels() -> list[dict[str, Any]]:
    return [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]


def targets() -> Iterator[tuple[str, dict[str, Any]]]:
    for panel in panels():
        for target in panel["targets"]:
            yield panel["title"], target


def expressions() -> list[str]:
    return [target["expr"] for _, target in targets()]


@pytest.fixture(scope="module")
def exposed(tmp_path_factory: pytest.TempPathFactory) -> Scraped:
    """What a daemon exposes under a small load."""
    import asyncio

    async def load() -> Scraped:
        with watched(tmp_path_factory.mktemp("watched")) as seen:
            async with greeted(seen.daemon.url, seen.daemon.token()) as wire:
                await wire.ask("open", session="s", kind="agent")
                for number in range(10):
                    await wire.ask("result", **text_result("s", f"k{number}"))
                return seen.scrape()

    return asyncio.run(load())


def labels_of(exposed: Scraped, sample: str) -> set[str]:
    """The labels that samples of that name have; `instance` and `job` are Prometheus's own."""
    found = {label for name, labels in exposed.samples if name == sample for label, _ in labels}
    return found | {"instance", "job"}


def test_every_query_names_series_that_are_exposed(exposed: Scraped) -> None:
    samples = {name for name, _ in exposed.samples}
    for expression in expressions():
        named = METRIC.findall(expression)
        assert named, expression
        assert set(named) <= samples, expression


def test_every_metric_of_the_daemon_is_drawn(exposed: Scraped) -> None:
    drawn = {re.sub(r"_(bucket|sum|count|total|info)$", "", name) for name in METRIC.findall(" ".join(expressions()))}
    families = {re.sub(r"_info$", "", name) for name in exposed.families if name.startswith("waybread_")}
    assert families - drawn == set()


def test_every_query_selects_and_groups_by_labels_that_its_series_have(exposed: Scraped) -> None:
    for expression in expressions():
        series = list(SERIES.finditer(expression))
        assert len(series) == len(METRIC.findall(expression)), expression
        for one in series:
            assert one["selectors"] == 'instance=~"$instance"', expression
        grouped = GROUPED.search(expression)
        if grouped is not None:
            inner = SERIES.search(grouped["of"])
            assert inner is not None
            assert grouped["label"] in labels_of(exposed, inner["name"]), expression


def test_what_only_rises_is_drawn_as_a_rate_and_what_does_not_is_not() -> None:
    for expression in expressions():
        for one in SERIES.finditer(expression):
            rises = one["name"].endswith(("_total", "_bucket", "_sum", "_count"))
            before = expression[: one.start()]
            rated = before.endswith(("rate(", "increase("))
            assert rated == rises, expression
            if rises:
                window = re.match(r"\[\$__(rate_interval|range)\]\)", expression[one.end() :])
                assert window is not None, expression


def test_every_query_is_made_of_known_calls_and_closes_what_it_opens() -> None:
    for expression in expressions():
        bare = SERIES.sub("", expression)
        assert set(re.findall(r"\b([a-z_]+) ?\(", bare)) <= CALLS, expression
        depth = 0
        for letter in bare:
            depth += {"(": 1, ")": -1}.get(letter, 0)
            assert depth >= 0, expression
        assert depth == 0, expression


def test_every_legend_names_a_label_that_its_query_leaves() -> None:
    for title, target in targets():
        for label in re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]):
            assert f"by ({label})" in target["expr"], title


def test_every_panel_says_what_it_shows_in_which_unit_and_where() -> None:
    assert DASHBOARD["uid"] == "waybread"
    titles = [(panel["title"], panel["type"]) for panel in panels()]
    assert len(set(titles)) == len(titles)
    for panel in panels():
        assert panel["description"].endswith("."), panel["title"]
        assert panel["fieldConfig"]["defaults"]["unit"], panel["title"]
        assert panel["datasource"] == {"type": "prometheus", "uid": "${datasource}"}, panel["title"]
    ids = [panel["id"] for panel in DASHBOARD["panels"]]
    assert len(set(ids)) == len(ids)


def test_no_two_panels_lie_over_one_another() -> None:
    taken: dict[tuple[int, int], str] = {}
    for panel in DASHBOARD["panels"]:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24, panel["title"]
        for x in range(place["x"], place["x"] + place["w"]):
            for y in range(place["y"], place["y"] + place["h"]):
                assert (x, y) not in taken, (panel["title"], taken[x, y])
                taken[x, y] = panel["title"]


def test_the_readmes_table_has_every_metric_with_its_labels_and_no_other(exposed: Scraped) -> None:
    rows = re.findall(r"^\| `(waybread_\w+)` \| (.*?) ?\| ", README, re.MULTILINE)
    told = {name: set(re.findall(r"`(\w+)`", labels)) for name, labels in rows}
    assert len(told) == len(rows)
    real: dict[str, set[str]] = {}
    for family in exposed.families.values():
        if family.name.startswith("waybread_"):
            name = f"{family.name}_total" if family.type == "counter" else family.name
            real[name] = {label for sample in family.samples for label in sample.labels}
    assert told == real


def test_prometheus_is_sent_where_the_daemon_serves_by_default() -> None:
    settings = (FOLDER / "prometheus.yml").read_text(encoding="utf-8")
    assert f'- targets: ["127.0.0.1:{Config().metrics_port}"]' in settings
    assert "metrics_path: /metrics" in settings
    assert f"http://127.0.0.1:{Config().metrics_port}/metrics" in README


def test_every_file_of_the_folder_is_named_where_people_look_for_it() -> None:
    named = README + (FOLDER / "provisioning/dashboards/waybread.yaml").read_text(encoding="utf-8")
    assert {Path(path.name) for path in FOLDER.iterdir() if path.name not in named} == set()
