"""The daemon as a whole, from its store to its links: made, run until it is told to stop, taken down."""

from __future__ import annotations

import asyncio
import errno
import gc
import secrets
import signal
import time
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from structlog.typing import FilteringBoundLogger

from waybread_daemon.config import STORE_NAME, Config
from waybread_daemon.link.server import Server
from waybread_daemon.sessions.desk import Desk
from waybread_daemon.store.sqlite import SqliteStore
from waybread_protocol.limits import PATH

__all__ = ["STORE_NAME", "AddressRefusal", "now_ms", "run", "serve"]

HEAVY_THREADS = 2


class AddressRefusal(Exception):  # noqa: N818  # named as the store names its own
    """Why the daemon cannot listen: a sentence with the address and what to do."""

    def __init__(self, host: str, port: int, fault: OSError) -> None:
        super().__init__(host, port, fault)
        self.host = host
        self.port = port
        self.fault = fault

    def __str__(self) -> str:
        match self.fault.errno:
            case errno.EADDRINUSE:
                return (
                    f"port {self.port} of {self.host} is taken: stop what listens there, or name another one with --port "
                    "(0 takes a free one)"
                )
            case errno.EACCES:
                return f"port {self.port} is for the system's own services: name one from 1024 up with --port"
            case errno.EADDRNOTAVAIL:
                return f"{self.host} is no address of this machine: name one that is with --host"
            case _:
                return f"the daemon cannot listen on {self.host} port {self.port} ({self.fault}): name another --host"


def now_ms() -> int:
    """The time, in milliseconds since 1970."""
    return time.time_ns() // 1_000_000


async def serve(
    data: Path,
    config: Config,
    server_name: str,
    log: FilteringBoundLogger,
    announce: Callable[[str], None],
    *,
    vfs: str | None = None,
) -> None:
    """Serves until SIGTERM or SIGINT, then finishes what is under way. `announce` gets the link's address.

    `vfs` names the layer through which SQLite reaches the disk, where it is not SQLite's own for this system. Raises
    `StoreRefusal` where the store cannot be opened and `AddressRefusal` where the address cannot be had.
    """
    stopping = _stop_signal()
    store = SqliteStore.open(data / STORE_NAME, vfs=vfs, clock_ms=now_ms)
    await store.start()
    heavy = ThreadPoolExecutor(HEAVY_THREADS, thread_name_prefix="heavy")
    try:
        desk = Desk(store, heavy, now_ms, _reporter(log))
        server = Server(desk, config, server_name, log.bind)
        try:
            port = await server.start()
        except OSError as fault:
            raise AddressRefusal(config.host, config.port, fault) from fault
        log.info("listening", host=config.host, port=port)
        announce(f"ws://{_bracketed(config.host)}:{port}{PATH}")
        noticing = asyncio.create_task(desk.live.notice_recovery())
        await stopping.wait()
        log.info("draining")
        await server.drain()
        noticing.cancel()
        log.info("stopped")
    finally:
        await store.close()
        heavy.shutdown(cancel_futures=True)


def _stop_signal() -> asyncio.Event:
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    return stopping


def _reporter(log: FilteringBoundLogger) -> Callable[[BaseException], str]:
    def report(fault: BaseException) -> str:
        name = secrets.token_hex(4)
        log.error("fault", fault=name, kind=type(fault).__name__, where=_frames(fault))
        return name

    return report


def _loop_reporter(log: FilteringBoundLogger) -> Callable[[asyncio.AbstractEventLoop, dict[str, Any]], None]:
    """What fails where nobody waits for it. asyncio's own handler would print the exception's text."""

    def report(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        fault: BaseException | None = context.get("exception")
        kind = "" if fault is None else type(fault).__name__
        log.error("loop_fault", what=context["message"], kind=kind, where=[] if fault is None else _frames(fault))

    return report


def _frames(fault: BaseException) -> list[str]:
    """The frames say where; the exception's own text may hold what a client sent."""
    return [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(fault.__traceback__)]


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def run(
    data: Path,
    config: Config,
    server_name: str,
    log: FilteringBoundLogger,
    announce: Callable[[str], None],
    *,
    vfs: str | None = None,
) -> None:
    """`serve` in an event loop of its own, uvloop where there is one."""
    # Requests make many objects and no cycles: a collector that looks more seldom costs a tenth less of each of them.
    gc.set_threshold(50_000, 20, 100)
    main = serve(data, config, server_name, log, announce, vfs=vfs)
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.get_loop().set_exception_handler(_loop_reporter(log))
        runner.run(main)


def _loop_factory() -> Callable[[], Any] | None:
    try:
        import uvloop  # noqa: PLC0415  # not on every platform
    except ImportError:
        return None
    return uvloop.new_event_loop
