"""Deleting from the command line: asked about first, then by the daemon that runs, or by this process where none does."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from waybread_daemon.cli.asking import NotRunning, asking
from waybread_daemon.cli.faults import CommandFault
from waybread_daemon.cli.screen import harmless, size
from waybread_daemon.clock import now_ms
from waybread_daemon.config import STORE_NAME
from waybread_daemon.link.control.messages import Deleted, DeleteDevice, DeleteSession, Purged
from waybread_daemon.sessions.desk import Desk
from waybread_daemon.store.sqlite import SqliteStore, open_reader
from waybread_protocol.errors import RequestError

Alone = Callable[[Desk], Awaitable[object]]
"""Deletes where no daemon runs."""


def take_deletion(parser: argparse.ArgumentParser) -> None:
    """`--yes` and `--wait`."""
    parser.add_argument("--yes", action="store_true", help="do not ask first")
    parser.add_argument(
        "--wait",
        action="store_true",
        help="wait until a daemon that runs has freed the space, a minute or more; without one that is always done",
    )


def confirm(question: str) -> None:
    """Asks on the terminal. Raises `CommandFault` where the answer is no, or nobody can be asked."""
    if not sys.stdin.isatty():
        raise CommandFault("a deletion cannot be undone, and there is no terminal to ask on: say --yes")
    sys.stderr.write(f"{harmless(question)} This cannot be undone. [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise CommandFault("nothing was deleted: answer y to delete")


def delete(folder: Path, request: DeleteSession | DeleteDevice, alone: Alone) -> int | None:
    """Deletes, and tells by how many bytes the store shrank; None where a daemon frees the space in the background.

    Raises `CommandFault`.
    """
    before = _store_bytes(folder)
    try:
        with asking(folder) as daemon:
            daemon.ask(request, Deleted, patiently=True)
            if not request.wait:
                return None
            told = daemon.next()
            if not isinstance(told, Purged):
                raise CommandFault(f"the daemon answered with {type(told).__name__}: is it of this command's version?")
    except NotRunning:
        asyncio.run(_delete_alone(folder / STORE_NAME, alone))
    return max(0, before - _store_bytes(folder))


def outcome(freed_bytes: int | None) -> str:
    """What became of the space, as a sentence."""
    if freed_bytes is None:
        return "The daemon frees its space in the background, within some minutes; --wait waits for it."
    return f"The store is {size(freed_bytes)} smaller."


async def _delete_alone(path: Path, alone: Alone) -> None:
    faults: list[BaseException] = []

    def report(fault: BaseException) -> str:
        faults.append(fault)
        return "the fault that ends this command"

    store = SqliteStore.open(path, clock_ms=now_ms)
    await store.start()
    try:
        with ThreadPoolExecutor(1) as heavy:
            await alone(Desk(store, heavy, now_ms, report))
            await store.purged(skip_grace=True)
    except RequestError as fault:
        if faults:
            raise faults[0] from fault
        raise CommandFault(fault.sentence) from fault
    finally:
        await store.close()


def _store_bytes(folder: Path) -> int:
    """What the store takes on the disk. What was written last stands in the log, so that counts, too."""
    with open_reader(folder / STORE_NAME) as reader:
        files = reader.files()
    return files.database_bytes + files.log_bytes
