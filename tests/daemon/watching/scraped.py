"""What a scraper makes of the page with the metrics."""

from __future__ import annotations

import urllib.request
from collections.abc import Mapping
from typing import Any

from prometheus_client.metrics_core import Metric
from prometheus_client.openmetrics import parser as openmetrics
from prometheus_client.parser import text_string_to_metric_families

Labels = frozenset[tuple[str, str]]


class Scraped:
    """One scrape: families by name, samples by name and labels."""

    def __init__(self, page: str) -> None:
        self.page = page
        self.families: dict[str, Metric] = {family.name: family for family in text_string_to_metric_families(page)}
        self.samples: dict[tuple[str, Labels], float] = {}
        for family in self.families.values():
            for sample in family.samples:
                key = (sample.name, frozenset(sample.labels.items()))
                assert key not in self.samples, key
                self.samples[key] = sample.value

    def value(self, name: str, **labels: str) -> float:
        """A sample's value. Its family's prefix goes without saying."""
        return self.samples[f"waybread_{name}", frozenset(labels.items())]

    def by(self, name: str, label: str) -> dict[str, float]:
        """The samples of that name by their one label, those that are 0 left out."""
        found: dict[str, float] = {}
        for (sample, labels), value in self.samples.items():
            if sample == f"waybread_{name}" and value:
                ((only, of),) = labels
                assert only == label
                found[of] = value
        return found

    def rise_since(self, earlier: Scraped) -> Mapping[str, dict[str, float]]:
        """By how much each `_total` rose, by its label's value (or "" without a label), where it did."""
        rises: dict[str, dict[str, float]] = {}
        for (name, labels), value in self.samples.items():
            if name.endswith("_total") and (rise := value - earlier.samples[name, labels]):
                label = "".join(of for _, of in labels)
                rises.setdefault(name.removeprefix("waybread_").removesuffix("_total"), {})[label] = rise
        return rises


def open_metrics(page: str) -> dict[str, Metric]:
    """The families of a page in the stricter format, which the parser holds to its rules."""
    # The library gives no types here.
    parser: Any = openmetrics
    return {family.name: family for family in parser.text_string_to_metric_families(page)}


def page_of(port: int) -> str:
    """The page as text, from a daemon on this machine."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        return str(answer.read().decode())


def scrape(port: int) -> Scraped:
    return Scraped(page_of(port))
