"""What holds for every test: the option --long, and no deadline on a slow machine."""

import hypothesis
import pytest

# A deadline tells how busy the machine is, not whether the code is right.
hypothesis.settings.register_profile("waybread", hypothesis.settings(), deadline=None)
hypothesis.settings.load_profile("waybread")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="run the tests that take minutes, too")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--long"):
        return
    skip = pytest.mark.skip(reason="takes minutes; runs with --long")
    for item in items:
        if item.get_closest_marker("long") is not None:
            item.add_marker(skip)
