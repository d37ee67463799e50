"""What a daemon has around it when it runs as a process of its own."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from waybread_daemon.config import Config
from waybread_daemon.life.notify import Notifier
from waybread_daemon.life.signals import Signals


@dataclasses.dataclass
class Surroundings:
    """Each part has a stand-in that does nothing, for a daemon that has no such thing around it.

    `read_settings` reads all settings again, as at the start, and raises `ConfigError`; None: they cannot change.
    `set_log_level` sets what the log tells.
    """

    signals: Signals = dataclasses.field(default_factory=Signals)
    notifier: Notifier = dataclasses.field(default_factory=Notifier)
    read_settings: Callable[[], Config] | None = None
    set_log_level: Callable[[str], None] = lambda _: None
