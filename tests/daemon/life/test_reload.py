import asyncio
from typing import Any

import pytest
import structlog

from tests.daemon.waiting import until
from waybread_daemon.config import Config, ConfigError
from waybread_daemon.life.reload import RELOADABLE, change, reload_when_told
from waybread_daemon.life.surroundings import Surroundings

FIXED = ["host", "port", "page_bytes", "allow_plaintext", "metrics", "metrics_port", "discovery"]
OTHER: dict[str, Any] = {"host": "::1", "allowed_hosts": ("x",), "log_level": "debug"}


def other(name: str) -> Any:
    """A value that is not the default."""
    default = getattr(Config(), name)
    if name in OTHER:
        return OTHER[name]
    if isinstance(default, bool):
        return not default
    if isinstance(default, tuple):
        return ("x",)
    return f"{default}x" if isinstance(default, str) else default + 1


def test_every_setting_either_takes_effect_at_once_or_waits_for_a_restart() -> None:
    assert set(Config.__struct_fields__) - RELOADABLE == set(FIXED)
    assert set(Config.__struct_fields__) >= RELOADABLE


@pytest.mark.parametrize("name", sorted(RELOADABLE - {"tls_cert", "tls_key"}))
def test_a_setting_that_can_change_does_and_nothing_else(name: str) -> None:
    new = Config(**{name: other(name)})
    assert change(Config(), new) == (new, [name], [])


@pytest.mark.parametrize("name", FIXED)
def test_a_setting_that_cannot_change_waits_and_the_old_value_stays(name: str) -> None:
    assert change(Config(), Config(**{name: other(name)})) == (Config(), [], [name])


def test_other_tls_files_are_taken_but_to_begin_or_end_with_tls_needs_a_restart() -> None:
    plain, one, two = Config(), Config(tls_cert="a", tls_key="b"), Config(tls_cert="c", tls_key="b")
    assert change(one, two) == (two, ["tls_cert"], [])
    assert change(plain, one) == (plain, [], ["tls_cert", "tls_key"])
    assert change(one, plain) == (one, [], ["tls_cert", "tls_key"])


class House:
    """The daemon's settings, and what its log said of them."""

    def __init__(self, *reads: Config | ConfigError) -> None:
        self.reads = list(reads)
        self.config = Config()
        self.levels: list[str] = []
        self.lines: list[dict[str, Any]] = []
        self.around = Surroundings(read_settings=self.read, set_log_level=self.levels.append)

    def read(self) -> Config:
        read = self.reads.pop(0)
        if isinstance(read, ConfigError):
            raise read
        return read

    def apply(self, config: Config) -> None:
        self.config = config

    def note(self, _: object, method: str, event: Any) -> str:
        self.lines.append({**event, "level": method})
        raise structlog.DropEvent

    async def hangup(self) -> None:
        log = structlog.wrap_logger(
            None, processors=[self.note], wrapper_class=structlog.make_filtering_bound_logger(0)
        )
        waiting = asyncio.create_task(reload_when_told(self.around, log, lambda: self.config, self.apply, "up"))
        before = len(self.lines)
        self.around.signals.reload.set()
        await until(lambda: len(self.lines) > before)
        waiting.cancel()


async def test_what_changed_is_told_by_name() -> None:
    house = House(Config(max_connections=7, log_level="debug", port=1, host="::1"))
    await house.hangup()
    assert house.config == Config(max_connections=7, log_level="debug")
    assert house.levels == ["debug"]
    assert house.lines == [
        {"event": "settings_reloaded", "level": "info", "changed": ["max_connections", "log_level"]},
        {"event": "restart_needed", "level": "warning", "settings": ["host", "port"]},
    ]


async def test_faults_are_told_and_the_old_settings_stay() -> None:
    house = House(ConfigError(["one is wrong", "two is wrong"]), Config(max_connections=7))
    await house.hangup()
    assert (house.config, house.levels) == (Config(), [])
    await house.hangup()
    assert house.config == Config(max_connections=7)
    assert house.lines == [
        {"event": "settings_refused", "level": "error", "faults": ["one is wrong", "two is wrong"]},
        {"event": "settings_reloaded", "level": "info", "changed": ["max_connections"]},
    ]
