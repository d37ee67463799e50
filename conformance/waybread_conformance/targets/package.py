"""This package itself, in this process: its rules, its work on requests and its store, without a socket."""

from __future__ import annotations

import asyncio
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec

from waybread_conformance.targets.contract import Answer, PlainStep, TargetError
from waybread_conformance.targets.requests import RequestTarget
from waybread_daemon.clock import now_ms
from waybread_daemon.sessions.desk import Desk
from waybread_daemon.store.sqlite import SqliteStore
from waybread_protocol.canonical import canonical_args
from waybread_protocol.limits import MAX_MESSAGE_BYTES, PAGE_BYTES
from waybread_protocol.messages import Answer as WireAnswer
from waybread_protocol.messages import Request, Result

_REQUEST: Any = Request


class PackageTarget(RequestTarget):
    """Steps become requests, handed to the desk. A restart closes the store and folds the session again from it."""

    label = "this package"
    patient = True

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory(prefix="waybread-conformance-")
        self._loop = asyncio.new_event_loop()
        self._heavy = ThreadPoolExecutor(1)
        self._faults: list[str] = []
        self._start()

    def forms(self, steps: Sequence[PlainStep]) -> Sequence[str]:
        """The ways in which a content may be sent; there is no codec here."""
        files = any(step["do"] in ("read", "change") for step in steps)
        return ("content", "window", "hash") if files else ("content",)

    def close(self) -> None:
        """Let go of the store and its folder."""
        self._stop()
        self._heavy.shutdown()
        self._loop.close()
        self._folder.cleanup()

    def ask(self, request: Mapping[str, object]) -> Answer:
        """The desk's answer to a request."""
        message: Any = msgspec.convert({"id": 1, **request}, _REQUEST)
        args = canonical_args(message.args) if isinstance(message, Result) else b""
        answer = self._loop.run_until_complete(self._submitted(message, args))
        if self._faults:
            raise TargetError(self._faults.pop())
        said: dict[str, object] = msgspec.to_builtins(answer)
        return {**said, "error": said["code"]} if said["type"] == "error" else said

    def restart(self) -> None:
        """Stop and start again on the same store."""
        self._stop()
        self._start()

    async def _submitted(self, message: Request, args: bytes) -> WireAnswer:
        caller = _Caller(self._loop.create_future())
        self._desk.submit(self._device, message, args, caller)
        return await caller.answered

    def _start(self) -> None:
        path = Path(self._folder.name) / "store.sqlite"
        self._store = SqliteStore.open(path, clock_ms=now_ms)
        self._loop.run_until_complete(self._begin())

    async def _begin(self) -> None:
        await self._store.start()
        devices = await self._store.look(lambda reader: reader.devices())
        device = devices[0] if devices else await self._store.add_device("conformance", "conformance", now_ms())
        self._desk = Desk(self._store, self._heavy, now_ms, self._report)
        self._device = self._desk.live.device(device.number)

    def _stop(self) -> None:
        self._loop.run_until_complete(self._store.close())

    def _report(self, fault: BaseException) -> str:
        self._faults.append("".join(traceback.format_exception(fault)))
        return "a fault"


class _Caller:
    """Takes the one answer of a request."""

    page_bytes = PAGE_BYTES

    def __init__(self, answered: asyncio.Future[WireAnswer]) -> None:
        self.answered = answered

    def fits(self, text: str) -> bool:
        """Whether a message of the link could hold it."""
        return len(text) < MAX_MESSAGE_BYTES

    def answer(self, answer: WireAnswer) -> None:
        """Hands it to whoever waits."""
        self.answered.set_result(answer)
