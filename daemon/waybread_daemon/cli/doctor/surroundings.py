"""What is around the daemon: its settings, its certificate, and room on its disk."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from waybread_daemon.certificates import CertificateFault, read_certificate
from waybread_daemon.cli.doctor.findings import Finding, fault, ok, warning
from waybread_daemon.cli.screen import clock, size
from waybread_daemon.config import FILE_NAME, Config, ConfigError, load_config
from waybread_daemon.sessions.room import DELETION_BYTES, floor_of

_EXPIRY_WARNING_DAYS = 30
_DAY_MS = 24 * 3600 * 1000


def read_settings(folder: Path, environment: Mapping[str, str]) -> tuple[Config, list[Finding]]:
    """The settings of the file and the environment, the defaults where they are at fault, and what is to be said of them."""
    try:
        config = load_config(folder, environment, {})
    except ConfigError as faulty:
        return Config(), [fault("settings", sentence, "set it right there") for sentence in faulty.faults]
    return config, [ok("settings", f"the settings of {folder / FILE_NAME} and the environment are valid")]


def disk_finding(folder: Path, config: Config) -> Finding:
    """Whether the disk has room above the floor."""
    total, _, free = shutil.disk_usage(folder)
    floor = floor_of(config, total)
    sentence = f"{size(free)} of {size(total)} are free on the disk of {folder}"
    remedy = "free some space there, delete sessions (`waybread status` names the largest), or lower free_floor_bytes"
    if free < DELETION_BYTES:
        # At the very end deleting sessions fails, too.
        remedy = f"free {size(DELETION_BYTES)} there by other means first: deleting sessions takes some space itself"
    if free < floor:
        return fault("disk", f"{sentence}, and nothing is stored below {size(floor)}", remedy)
    if floor and free < 2 * floor:
        return warning("disk", f"{sentence}, and nothing is stored below {size(floor)}", remedy)
    return ok("disk", sentence)


def certificate_findings(config: Config, now_ms: int) -> Iterator[Finding]:
    """Whether the daemon's certificate can be used, and for how long."""
    if not config.tls_cert:
        return
    try:
        certificate = read_certificate(config.tls_cert, config.tls_key)
    except CertificateFault as faulty:
        sentence, _, remedy = str(faulty).rpartition(": ")
        yield fault("certificate", sentence or remedy, remedy)
        return
    if sentence := certificate.warning(now_ms):
        what, _, remedy = sentence.partition(": ")
        yield fault("certificate", what, remedy)
    else:
        yield good_until(f"the certificate in {config.tls_cert}", certificate.expires_ms, now_ms)
    mode = stat.S_IMODE(os.stat(config.tls_key).st_mode)  # noqa: PTH116  # a string of the settings
    if mode & stat.S_IRWXO:
        yield warning(
            "certificate",
            f"the key {config.tls_key} is open to everybody (mode {mode:o})",
            f"run `chmod o= {config.tls_key}`",
        )


def good_until(what: str, expires_ms: int, now_ms: int) -> Finding:
    """For how long a certificate is good that is good now. `what` names it."""
    left_days = (expires_ms - now_ms) // _DAY_MS
    if left_days < _EXPIRY_WARNING_DAYS:
        return warning(
            "certificate",
            f"{what} is good for {left_days} more days",
            "renew it; the daemon takes the new files up by itself",
        )
    return ok("certificate", f"{what} is good until {clock(expires_ms)}")
