"""The daemon as a whole, from its store to its links: made, run until it is told to stop, taken down."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from structlog.typing import FilteringBoundLogger

from waybread_daemon.clock import now_ms
from waybread_daemon.config import STORE_NAME, Config
from waybread_daemon.forms import in_url
from waybread_daemon.life import guard, watchdog
from waybread_daemon.life.addresses import refuse_taken
from waybread_daemon.life.discovery import Discovery
from waybread_daemon.life.guard import Guard
from waybread_daemon.life.readiness import tell_readiness
from waybread_daemon.life.refusal import AddressRefusal
from waybread_daemon.life.reload import reload_when_told
from waybread_daemon.life.reports import loop_reporter, reporter
from waybread_daemon.life.surroundings import Surroundings
from waybread_daemon.link.control.control import Control
from waybread_daemon.link.server import Server
from waybread_daemon.metrics import metrics_served
from waybread_daemon.sessions.desk import Desk
from waybread_daemon.store.sqlite import SqliteStore
from waybread_daemon.store.sqlite.place import is_held
from waybread_daemon.watching.threads import CountedThreads
from waybread_protocol.limits import PATH

__all__ = ["STORE_NAME", "AddressRefusal", "run", "serve"]

HEAVY_THREADS = 2


async def serve(
    data: Path,
    config: Config,
    server_name: str,
    log: FilteringBoundLogger,
    announce: Callable[[str], None],
    *,
    vfs: str | None = None,
    around: Surroundings | None = None,
) -> None:
    """Serves until SIGTERM or SIGINT, then finishes what is under way. `announce` gets the link's address.

    `vfs` names the layer through which SQLite reaches the disk, where it is not SQLite's own for this system. Raises
    `StoreRefusal` where the store cannot be opened and `AddressRefusal` where an address cannot be had.
    """
    around = around or Surroundings()
    with around.signals as signals:
        signals.attach()
        if signals.stop.is_set():
            return
        if not is_held(data / STORE_NAME):
            # First, so that nothing is made for a daemon that cannot listen. Who holds the store is told by the store.
            await asyncio.to_thread(refuse_taken, config.host, config.port)
        # What is entered last ends first.
        async with AsyncExitStack() as parts:
            store = await parts.enter_async_context(_store(data, vfs, around))
            if signals.stop.is_set():
                return
            await parts.enter_async_context(_tasks(watchdog.feed(around.notifier, store.beat)))
            heavy = parts.enter_context(_heavy_threads())
            desk = Desk(store, heavy, now_ms, reporter(log))
            desk.reconfigure(config)
            await desk.room.look()
            server = Server(desk, config, server_name, log.bind)
            await parts.enter_async_context(metrics_served(server, store, heavy, log))
            port = await parts.enter_async_context(_links(server, signals.hurry))
            await _beside(parts, server, data, port, log, around)
            log.info("listening", host=config.host, port=port)
            announce(_address(config, port))
            around.notifier.ready(f"Listening on {_address(config, port)}")
            await signals.stop.wait()
            log.info("draining")
            around.notifier.stopping(guard.STOP_TIMEOUT_S)
            server.draining = True
        log.info("stopped")


async def _beside(
    parts: AsyncExitStack, server: Server, data: Path, port: int, log: FilteringBoundLogger, around: Surroundings
) -> None:
    """Starts what runs beside the links, and ends before they do."""
    config, desk = server.config, server.desk
    control = Control(server, data, port, log)
    await control.start()
    parts.push_async_callback(control.close)

    def reload(new: Config) -> None:
        server.reconfigure(new)
        desk.reconfigure(new)

    def retired(count: int) -> None:
        log.info("sessions_retired", sessions=count)

    status = f"Listening on {_address(config, port)}"
    await parts.enter_async_context(
        _tasks(
            desk.upkeep(retired),
            tell_readiness(log, lambda: desk.not_ready),
            reload_when_told(around, log, lambda: server.config, reload, status),
        )
    )
    if config.discovery:
        discovery = Discovery(config.host, port, desk.live.store.epoch, lambda: server.fingerprint, log)
        discovery.start()
        parts.push_async_callback(discovery.stop)


@asynccontextmanager
async def _store(data: Path, vfs: str | None, around: Surroundings) -> AsyncGenerator[SqliteStore]:
    """The store. To open it may take long, where there is a migration; the loop and the signals go on meanwhile."""
    around.notifier.opening()
    async with _tasks(watchdog.extend(around.notifier)):
        store = await asyncio.to_thread(SqliteStore.open, data / STORE_NAME, vfs=vfs, clock_ms=now_ms)
    await store.start()
    try:
        yield store
    finally:
        await store.close()


@contextmanager
def _heavy_threads() -> Generator[CountedThreads]:
    heavy = CountedThreads(HEAVY_THREADS, "heavy")
    try:
        yield heavy
    finally:
        # Nobody waits for what they are at: its link is closed.
        heavy.shutdown(wait=False, cancel_futures=True)


@asynccontextmanager
async def _links(server: Server, hurry: asyncio.Event) -> AsyncGenerator[int]:
    """The links, open. Gives the port."""
    try:
        port = await server.start()
    except OSError as fault:
        raise AddressRefusal(server.config.host, server.config.port, fault) from fault
    try:
        yield port
    finally:
        await server.drain(hurry)


@asynccontextmanager
async def _tasks(*work: Coroutine[Any, Any, None]) -> AsyncGenerator[None]:
    """Work that goes on until the end of the block."""
    tasks = [asyncio.ensure_future(each) for each in work]
    for task in tasks:
        task.add_done_callback(_tell_fault)
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _tell_fault(task: asyncio.Task[None]) -> None:
    """Nobody waits for such work, so nobody else would hear that it failed."""
    if not task.cancelled() and (fault := task.exception()) is not None:
        task.get_loop().call_exception_handler({"message": "work beside the links failed", "exception": fault})


def _address(config: Config, port: int) -> str:
    return f"{'wss' if config.tls_cert else 'ws'}://{in_url(config.host)}:{port}{PATH}"


def run(
    data: Path,
    config: Config,
    server_name: str,
    log: FilteringBoundLogger,
    announce: Callable[[str], None],
    *,
    vfs: str | None = None,
    around: Surroundings | None = None,
) -> None:
    """`serve` in an event loop of its own, uvloop where there is one, in a process that ends with it.

    From the first signal on the process ends within half a minute, whatever hangs.
    """
    around = around or Surroundings()
    around.signals.install()
    Guard(
        around.signals.stops,
        lambda: log.warning("stopped_unfinished", why="something hung: what was acknowledged is stored"),
    ).start()
    # Requests make many objects and no cycles: a collector that looks more seldom costs a tenth less of each of them.
    gc.set_threshold(50_000, 20, 100)
    main = serve(data, config, server_name, log, announce, vfs=vfs, around=around)
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.get_loop().set_exception_handler(loop_reporter(log))
        runner.run(main)


def _loop_factory() -> Callable[[], Any] | None:
    try:
        import uvloop  # noqa: PLC0415  # not on every platform
    except ImportError:
        return None
    return uvloop.new_event_loop
