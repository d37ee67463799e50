"""SIGHUP: settings are read again, and those that can change while the daemon runs take effect."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import NamedTuple

import msgspec
from structlog.typing import FilteringBoundLogger

from waybread_daemon.config import Config, ConfigError
from waybread_daemon.life.surroundings import Surroundings

RELOADABLE = frozenset(
    {
        *("public_url", "tls_cert", "tls_key", "allowed_hosts", "allowed_origins", "page_daemons", "trusted_proxies"),
        *("max_frame", "max_message", "hello_timeout_s", "viewer_burst_requests", "viewer_requests_per_s"),
        *("max_connections", "max_device_connections", "max_waiting_hellos", "max_failed_hellos"),
        *("device_quota_bytes", "free_floor_bytes", "free_floor_percent", "keep_sessions_days", "log_level"),
    }
)
"""Settings that take effect at once. The others belong to what was made at the start: the address, the listeners."""


class Change(NamedTuple):
    """`config` is what is in force from now on; `changed` took effect, `waiting` does so when the daemon starts again."""

    config: Config
    changed: list[str]
    waiting: list[str]


def change(old: Config, new: Config) -> Change:
    """What of `new` takes effect while `old` is in force."""
    differing = [name for name in Config.__struct_fields__ if getattr(old, name) != getattr(new, name)]
    # Other files are read again; but whether there is TLS at all is decided where the daemon begins to listen.
    fixed: set[str] = set() if bool(old.tls_cert) == bool(new.tls_cert) else {"tls_cert", "tls_key"}
    changed = [name for name in differing if name in RELOADABLE - fixed]
    waiting = [name for name in differing if name not in changed]
    config = msgspec.structs.replace(old, **{name: getattr(new, name) for name in changed})
    return Change(config, changed, waiting)


async def reload_when_told(
    around: Surroundings,
    log: FilteringBoundLogger,
    current: Callable[[], Config],
    apply: Callable[[Config], None],
    status: str,
) -> None:
    """Waits for SIGHUP, again and again, until it is cancelled.

    `current` gives the settings in force, `apply` puts others into force. `status` is what the service manager shows
    afterwards. Where there is any fault the old settings stay, all of them.
    """
    while True:
        await around.signals.reload.wait()
        around.signals.reload.clear()
        await _reload(around, log, current(), apply)
        around.notifier.ready(status)


async def _reload(
    around: Surroundings, log: FilteringBoundLogger, old: Config, apply: Callable[[Config], None]
) -> None:
    around.notifier.reloading()
    if around.read_settings is None:
        return
    try:
        new = change(old, await asyncio.to_thread(around.read_settings))
    except ConfigError as fault:
        log.error("settings_refused", faults=fault.faults)  # noqa: TRY400  # its sentences say all
        return
    apply(new.config)
    around.set_log_level(new.config.log_level)
    log.info("settings_reloaded", changed=new.changed)
    if new.waiting:
        log.warning("restart_needed", settings=new.waiting)
