"""Stores with many results, filled without a link: the rules make each answer, the store takes its record."""

from __future__ import annotations

import asyncio
import hashlib
import itertools
from collections.abc import Callable, Coroutine
from pathlib import Path

import msgspec

from tests.bench.texts import ToolResult
from waybread_daemon.clock import now_ms
from waybread_daemon.config import STORE_NAME
from waybread_daemon.hygiene.answer import Answer
from waybread_daemon.hygiene.compaction import covered_reads, table
from waybread_daemon.hygiene.events import Compacted, Event, Opened, encode_event
from waybread_daemon.hygiene.lines import count_lines
from waybread_daemon.hygiene.read import Asked, read_answer
from waybread_daemon.hygiene.repeat import result_answer
from waybread_daemon.hygiene.session import State
from waybread_daemon.link.accounts import make_device_id, make_token
from waybread_daemon.store.contract import Cut, Facts, Opening, Record, Span, StoreFault
from waybread_daemon.store.sqlite import SqliteStore, open_accounts
from waybread_protocol.canonical import canonical_args

_WAITING_MOST = 4000


class Filler:
    """One device's log in an open store."""

    def __init__(self, store: SqliteStore, device: int) -> None:
        self.store = store
        self._device = device
        self._seq = itertools.count(1)
        self._waiting = 0

    async def session(self, name: str) -> FilledSession:
        """Opens a session."""
        session = FilledSession(self, self.store.new_session())
        opening = Opening(name, "agent", "", "")
        await session.append(Opened("agent"), "opened", Facts(at_ms=now_ms(), session_kind="agent"), opening=opening)
        return session

    async def take(self, make: Callable[[int, int], Record]) -> None:
        """Appends a record made for the device and the next `seq`."""
        self.store.append(make(self._device, next(self._seq)), _raise)
        self._waiting += 1
        if self._waiting == _WAITING_MOST:
            self._waiting = 0
            await self.store.settled()


class FilledSession:
    """A session being filled: its state is folded as in the daemon."""

    def __init__(self, filler: Filler, number: int) -> None:
        self._filler = filler
        self._number = number
        self.state = State()

    async def text(self, result: ToolResult) -> None:
        """Inserts what a tool answered."""
        body = result.text.encode()
        args = canonical_args(result.args)
        sha256 = hashlib.sha256(body).digest()
        answer = result_answer(self.state, result.tool, args, body, sha256, error=False)
        await self._insert(answer, result.tool, "text", args, answer.body)

    async def read(self, path: str, text: str) -> None:
        """Inserts a read of which the harness sent the shown lines."""
        data = text.encode()
        lines = count_lines(data)
        asked = Asked(path, f"/{path}", hashlib.sha256(data).digest(), 1, 2000)
        answer = read_answer(self.state, asked, lines)
        span = None if answer.lines is None else Span(*answer.lines, 1, numbered=True)
        body = b"" if answer.stub_of else data
        await self._insert(answer, "read", "read", canonical_args({"path": path}), body, span)

    async def compact(self) -> None:
        """Compacts the session."""
        state = self.state
        text = table(covered_reads(state))
        facts = Facts(at_ms=now_ms(), turn=state.turn, shape=int(bool(text)), answer=msgspec.msgpack.encode([]))
        event = Compacted(state.kind, state.results, state.turn)
        await self.append(event, "compacted", facts, body=text.encode())

    async def _insert(
        self, answer: Answer, tool: str, kind: str, args: bytes, body: bytes, span: Span | None = None
    ) -> None:
        capped = answer.capped
        facts = Facts(
            at_ms=now_ms(),
            lead=answer.lead,
            shape=int(answer.shape),
            cut=None if capped is None else Cut(capped.head_end, capped.middle(answer.number), capped.tail_start),
            span=span,
            tool=tool,
            body=kind,
            stub_of=answer.stub_of,
            digest=hashlib.blake2b(body, digest_size=16).digest(),
        )
        await self.append(answer.event, "result", facts, number=answer.number, args=args, body=body, root=answer.shares)

    async def append(
        self,
        event: Event,
        kind: str,
        facts: Facts,
        *,
        number: int = 0,
        args: bytes = b"",
        body: bytes = b"",
        root: int = 0,
        opening: Opening | None = None,
    ) -> None:
        """Applies the event and appends its record."""
        self.state.apply(event)

        def make(device: int, seq: int) -> Record:
            return Record(
                device=device,
                seq=seq,
                session=self._number,
                kind=kind,
                facts=facts,
                results=self.state.results,
                current_turn=self.state.turn,
                number=number,
                key="" if opening is not None else f"{seq:032x}",
                event=encode_event(event),
                args=args,
                body=body,
                root=root,
                opening=opening,
            )

        await self._filler.take(make)


Work = Callable[[Filler], Coroutine[None, None, None]]


def fill(data: Path, work: Work) -> str:
    """Makes a data folder with one device, lets `work` fill its log, and gives the device's token."""
    path = data / STORE_NAME
    token = make_token()
    with open_accounts(path) as accounts:
        device = accounts.add_device(make_device_id(), "bench", now_ms())
        accounts.add_token(token.token, device.number, "device", token.secret_hash, now_ms())

    async def main() -> None:
        store = SqliteStore.open(path, clock_ms=now_ms)
        await store.start()
        try:
            await work(Filler(store, device.number))
        finally:
            await store.close()

    asyncio.run(main())
    return token.text


def _raise(fault: StoreFault | None) -> None:
    if fault is not None:
        raise fault
