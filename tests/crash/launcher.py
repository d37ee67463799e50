"""Starts daemons, one after another, each in a process forked from this one, where everything is imported already.

It reads one order a line on standard input and tells on standard output: `started PID`, `listening URL`, `died POINT` (the
child reached its point), `ended STATUS`. So a start takes some hundredths of a second, and a test can kill hundreds.
"""

from __future__ import annotations

import os
import sys
import traceback
from pathlib import Path

import apsw
import msgspec

from tests.crash.points import DyingVFS, Point
from waybread_daemon.config import Config
from waybread_daemon.logs import make_log
from waybread_daemon.serving import run
from waybread_daemon.store.sqlite import checkpoints, connection, statements


class Order(msgspec.Struct, frozen=True):
    """A daemon to start.

    `pages_between` and `log_limit_bytes`: checkpoints as often as a test needs them, 0: as always. `hasty`: commits are
    not synced, so that a test of tests can see that it would be noticed.
    """

    data: str
    port: int = 0
    point: Point = Point()
    pages_between: int = 0
    log_limit_bytes: int = 0
    hasty: bool = False


def main() -> None:
    for line in sys.stdin.buffer:
        order = msgspec.json.decode(line, type=Order)
        child = os.fork()
        if child == 0:
            status = 1
            try:
                serve(order)
                status = 0
            finally:
                # The stack above is the launcher's: the child must not go on with it.
                os._exit(status)
        say(f"started {child}")
        _, status = os.waitpid(child, 0)
        say(f"ended {status}")


def serve(order: Order) -> None:
    if order.pages_between:
        checkpoints.PAGES_BETWEEN = order.pages_between
    if order.log_limit_bytes:
        connection.LOG_LIMIT_BYTES = order.log_limit_bytes
    if order.hasty:
        connection.sync_every_commit = _sync_nothing
    data = Path(order.data)
    data.mkdir(exist_ok=True)
    with Path(f"{order.data}.log").open("a") as out:
        # Without a point the daemon is as it is in production.
        vfs = DyingVFS("dying", order.point) if order.point.kind else None
        log = make_log("warning", out=out)
        try:
            run(
                data,
                Config(port=order.port, free_floor_bytes=0),
                "waybread/crash",
                log,
                lambda url: say(f"listening {url}"),
                vfs=None if vfs is None else vfs.name,
            )
        except Exception:
            traceback.print_exc(file=out)
            raise


def _sync_nothing(connection: apsw.Connection) -> None:
    statements.run(connection.cursor(), "PRAGMA synchronous = OFF")


def say(line: str) -> None:
    """One write a line: the child and this process share the pipe."""
    os.write(1, f"{line}\n".encode())


if __name__ == "__main__":
    main()
