"""What a running daemon tells Prometheus: its parts brought together with the page that shows their numbers."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import platform
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import apsw
from prometheus_client import CollectorRegistry
from prometheus_client.process_collector import ProcessCollector
from structlog.typing import FilteringBoundLogger

from waybread_daemon import VERSION
from waybread_daemon.life.refusal import AddressRefusal
from waybread_daemon.link.server import Server
from waybread_daemon.store.contract import Reader
from waybread_daemon.store.sizes import DeviceSizes, FileSizes
from waybread_daemon.store.sqlite import SqliteStore
from waybread_daemon.watching.cache import Cache
from waybread_daemon.watching.collector import DaemonCollector, Sizes, Watched
from waybread_daemon.watching.lag import sample_lag
from waybread_daemon.watching.listener import HOST, Listener
from waybread_daemon.watching.threads import CountedThreads


class MetricsRefusal(AddressRefusal):
    """Why metrics cannot be served."""

    def __str__(self) -> str:
        if self.fault.errno == errno.EADDRINUSE:
            return (
                f"port {self.port} of {self.host}, where metrics are to be, is taken: stop what listens there, or set "
                "metrics_port to another one (0 takes a free one)"
            )
        if self.fault.errno == errno.EACCES:
            return f"port {self.port} is for the system's own services: set metrics_port to one from 1024 up"
        return (
            f"metrics cannot be served on {self.host} port {self.port} ({self.fault}): set metrics_port to another one"
        )


@asynccontextmanager
async def metrics_served(
    server: Server, store: SqliteStore, heavy: CountedThreads, log: FilteringBoundLogger
) -> AsyncGenerator[None]:
    """Serves `/metrics` until the block ends, where the settings say so. Raises `MetricsRefusal`."""
    config = server.config
    if not config.metrics:
        yield
        return
    try:
        metrics = Metrics(server, store, heavy, config.metrics_port)
    except OSError as fault:
        raise MetricsRefusal(HOST, config.metrics_port, fault) from fault
    log.info("metrics_listening", host=HOST, port=metrics.start())
    try:
        yield
    finally:
        await metrics.stop()


class Metrics:
    """Serves `/metrics` from `start` to `stop`, both in the daemon's event loop."""

    def __init__(self, server: Server, store: SqliteStore, heavy: CountedThreads, port: int) -> None:
        """Raises `OSError` where the port cannot be had."""
        self._store = store
        desk = server.desk
        sizes = Cache(self._sizes, asyncio.get_running_loop())
        self._registry = CollectorRegistry()
        self._registry.register(
            DaemonCollector(
                Watched(
                    build={
                        "version": VERSION,
                        "python": platform.python_version(),
                        "sqlite": apsw.sqlite_lib_version(),
                    },
                    counts=desk.counts,
                    store=store,
                    links=lambda: server.connections,
                    heavy_tasks=lambda: heavy.tasks,
                    live_sessions=lambda: desk.live.sessions_kept,
                    is_ready=lambda: not (server.draining or desk.not_ready),
                    sizes=sizes.get,
                )
            )
        )
        ProcessCollector(registry=self._registry)
        self._counts = desk.counts
        self._listener = Listener(self._registry, port)
        self._sampling: asyncio.Task[None] | None = None

    def start(self) -> int:
        """Starts, and returns the port."""
        self._listener.start()
        self._sampling = asyncio.get_running_loop().create_task(sample_lag(self._counts.loop_lag))
        return self._listener.port

    async def stop(self) -> None:
        """Ends. The store is still needed until then."""
        if self._sampling is not None:
            self._sampling.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._sampling
        await asyncio.get_running_loop().run_in_executor(None, self._listener.stop)

    async def _sizes(self) -> Sizes:
        devices, files = await self._store.look(_look)
        volume = await self._store.volume()
        return Sizes(
            devices=len(devices),
            sessions=sum(device.sessions for device in devices),
            raw_bytes=sum(device.raw_bytes for device in devices),
            stored_bytes=sum(device.stored_bytes for device in devices),
            purging_bytes=sum(device.purging_bytes for device in devices),
            database_bytes=files.database_bytes,
            log_bytes=files.log_bytes,
            unused_bytes=files.free_bytes,
            free_disk_bytes=volume.free_bytes,
        )


def _look(reader: Reader) -> tuple[list[DeviceSizes], FileSizes]:
    return reader.sizes(), reader.files()
