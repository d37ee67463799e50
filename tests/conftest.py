"""What holds for every test: the option --long, no deadline on a slow machine, and a Ctrl-C that children hear."""

import signal

import hypothesis
import pytest

# A deadline tells how busy the machine is, not whether the code is right.
hypothesis.settings.register_profile("waybread", hypothesis.settings(), deadline=None)
hypothesis.settings.load_profile("waybread")

# A job in the background of a shell is started with Ctrl-C ignored, and would hand that on to the programs under test.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="run the tests that take minutes, too")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--long"):
        return
    skip = pytest.mark.skip(reason="takes minutes; runs with --long")
    for item in items:
        if item.get_closest_marker("long") is not None:
            item.add_marker(skip)
