"""The daemon's own encryption: the certificate in force, and its renewal while the daemon runs."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from waybread_daemon.certificates import Certificate, CertificateFault, read_certificate
from waybread_daemon.config import Config

WATCH_INTERVAL_S = 2
"""How often the files are looked at: a look costs some microseconds, and a renewal happens every few weeks."""
_WARN_INTERVAL_S = 24 * 3600

_State = tuple[tuple[int, int, int], ...]


class Log(Protocol):
    """The part of a structlog logger that is used here."""

    def info(self, event: str, **fields: object) -> None:
        """A certificate was taken up."""
        ...

    def warning(self, event: str, **fields: object) -> None:
        """What an owner should see to."""
        ...


class Encryption:
    """What sockets are encrypted with. A pair of files that does not fit leaves in force what was before.

    Whoever renews a certificate writes two files, one after the other: between the two writes they do not fit.
    """

    def __init__(self, config: Config, log: Log, now_ms: Callable[[], int]) -> None:
        """Reads the files that the settings name, where they name any. Raises `CertificateFault`."""
        self._log = log
        self._now_ms = now_ms
        self._cert, self._key = config.tls_cert, config.tls_key
        self._seen: _State = ()
        self._warned_s = -float(_WARN_INTERVAL_S)
        self.certificate: Certificate | None = None
        if self._cert:
            self._seen = self._state()
            self.certificate = read_certificate(self._cert, self._key)
            self._warn()

    @property
    def context(self) -> ssl.SSLContext | None:
        """For the next socket; None where it is not encrypted."""
        return None if self.certificate is None else self.certificate.context

    @property
    def fingerprint(self) -> str:
        """The SHA-256 of the certificate in force, in lower-case hex; empty without one."""
        return "" if self.certificate is None else self.certificate.fingerprint

    async def watch(self) -> None:
        """Runs until it is cancelled. Takes up the files whenever they have changed."""
        while True:
            await asyncio.sleep(WATCH_INTERVAL_S)
            if self.certificate is not None:
                await asyncio.to_thread(self._look)
                if asyncio.get_running_loop().time() - self._warned_s >= _WARN_INTERVAL_S:
                    self._warn()

    def reconfigure(self, config: Config) -> None:
        """Takes up the files of other settings, or the same ones again. Encryption is not switched on or off so."""
        if self.certificate is None or not config.tls_cert:
            return
        self._cert, self._key = config.tls_cert, config.tls_key
        self._take()

    def _look(self) -> None:
        if self._state() != self._seen:
            self._take()

    def _take(self) -> None:
        # Looked at before they are read: what changes meanwhile is seen at the next look.
        self._seen = self._state()
        before = self.fingerprint
        try:
            certificate = read_certificate(self._cert, self._key)
        except CertificateFault as fault:
            self._log.warning("certificate_kept", why=f"{fault}; until then the one from before stays in force")
            return
        self.certificate = certificate
        if certificate.fingerprint != before:
            self._log.info("certificate_renewed", fingerprint=certificate.fingerprint)
        self._warned_s = -float(_WARN_INTERVAL_S)

    def _state(self) -> _State:
        """What changes when a file is written or replaced."""
        states: list[tuple[int, int, int]] = []
        for path in (Path(self._cert), Path(self._key)):
            try:
                found = path.stat()
            except OSError:
                states.append((0, 0, 0))
            else:
                states.append((found.st_mtime_ns, found.st_ino, found.st_size))
        return tuple(states)

    def _warn(self) -> None:
        """Once a day, and whenever there is another one."""
        if self.certificate is not None and (warning := self.certificate.warning(self._now_ms())):
            self._warned_s = asyncio.get_running_loop().time()
            self._log.warning("certificate_warning", why=warning)
