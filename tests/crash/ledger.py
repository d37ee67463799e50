"""The books of one store through all its lives: what was promised, what was seen, and whether the two agree."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

from msgspec import UNSET

from tests.crash.client import Client, same_again
from tests.crash.journal import Answered, Change, Promise, as_first, is_repeat, key_of
from tests.crash.load import Load
from tests.crash.survey import Line, Survey, survey
from waybread_client import Link, Session
from waybread_daemon.link.accounts import make_device_id, make_token
from waybread_daemon.serving import STORE_NAME
from waybread_daemon.store.sqlite import open_accounts
from waybread_protocol.messages import (
    Carry,
    Compacted,
    Delete,
    Entry,
    Error,
    Inserted,
    Message,
    Open,
    Opened,
    Page,
    ReadBody,
    Result,
    Sync,
    TakeBack,
    TextBody,
    Turn,
)

DEVICES = 2
CLIENTS = 2
"""Of each device; they share a session besides those of their own."""
ASKED_AGAIN = 6
"""Answered requests of each client that are asked again in each life."""


class Ledger:
    """A store, its clients, and all that was ever seen in it."""

    def __init__(self, data: Path, seed: int) -> None:
        self.data = data
        self.path = data / STORE_NAME
        self.clients: list[Client] = []
        self.lines: dict[tuple[int, int], Line] = {}
        self.heads: dict[int, int] = {}
        """The logs' ends as they were found before the life that goes on."""
        self.contents: frozenset[int] = frozenset()
        self._chance = random.Random(seed)
        self._deleted: set[tuple[int, str]] = set()
        self._checked: dict[Client, int] = {}
        with open_accounts(self.path) as accounts:
            for number in range(1, DEVICES + 1):
                device = accounts.add_device(make_device_id(), f"device {number}", 1)
                for name in range(1, CLIENTS + 1):
                    token = make_token()
                    accounts.add_token(token.token, device.number, "device", token.secret_hash, 1)
                    load = Load(f"d{number}c{name}", seed * 100 + number * 10 + name, f"shared {number}")
                    self.clients.append(Client(load, token.text, device.number))

    # --- The file between two lives ----------------------------------------------------------------------------------

    def look_through(self, *, afresh: bool = False) -> None:
        """Checks the file: it holds all that was promised, all that was seen, and nothing that nobody asked for."""
        found = survey(self.path, () if afresh else self.contents)
        self._check_nothing_changed(found)
        self._check_no_gap(found)
        for client in self.clients:
            self._check_promises(client, found)
        sent = {(client.device, *key) for client in self.clients for key in client.journal.keys}
        assert found.keys().keys() <= sent
        self.lines |= found.lines
        self.contents = found.contents
        self.heads = {client.device: found.head(client.device) for client in self.clients}
        for client in self.clients:
            self._release(client)

    def _check_nothing_changed(self, found: Survey) -> None:
        """A row once seen stays as it is, until its session is deleted and purged."""
        gone = {place.number for place in found.places.values() if place.state}
        asked = {
            (client.device, request.session)
            for client in self.clients
            for request in (*client.journal.waiting.values(), *(known.request for known in client.journal.answered))
            if isinstance(request, Delete)
        }
        self._deleted = {at for at, place in found.places.items() if place.state}
        assert self._deleted <= asked
        for at, line in self.lines.items():
            if line.session not in gone:
                assert found.lines[at] == line

    def _check_no_gap(self, found: Survey) -> None:
        """Sessions are deleted only after all of them was seen here: so what is missing was seen before."""
        for device in {client.device for client in self.clients}:
            seqs = {seq for of, seq in found.lines.keys() | self.lines.keys() if of == device}
            assert seqs == set(range(1, found.head(device) + 1))

    def _check_promises(self, client: Client, found: Survey) -> None:
        for answered in client.journal.answered[self._checked.get(client, 0) :]:
            request, answer = answered.request, answered.answer
            place = found.places[client.device, request.session]
            if isinstance(request, Delete):
                assert place.state, request
            line = found.lines.get((client.device, answer.seq))
            if line is None:
                assert place.state, answered
                continue
            assert line.session == place.number, answered
            assert place.state or line.key == key_of(request), answered
            assert line.kind == _kind_of(request), answered
            if isinstance(answer, Inserted):
                assert f"#{line.number:04x}" == answer.result, answered

    def _release(self, client: Client) -> None:
        """Sessions left behind in which nothing waits any more may be deleted from now on."""
        busy = {request.session for request in client.journal.waiting.values()}
        load = client.load
        load.deletable += [session for session in load.left_behind if session not in busy]
        load.left_behind = [session for session in load.left_behind if session in busy]

    # --- Through the link ----------------------------------------------------------------------------------------------

    async def look_from_outside(self, url: str) -> None:
        """Every answer since the last look is there, word by word: in the log, and behind every result's id."""
        self._deleted |= {
            (client.device, known.request.session)
            for client in self.clients
            for known in client.journal.answered
            if isinstance(known.request, Delete)
        }
        for device in {client.device for client in self.clients}:
            clients = [client for client in self.clients if client.device == device]
            async with Link(url, clients[0].token) as link:
                await self._check_log(link, clients)
                for client in clients:
                    await self._ask_again(link, client)
                    self._checked[client] = len(client.journal.answered)

    async def _check_log(self, link: Link, clients: list[Client]) -> None:
        fresh = [answered for client in clients for answered in client.journal.answered[self._checked.get(client, 0) :]]
        fresh = [answered for answered in fresh if not self._is_deleted(clients[0].device, answered.request)]
        if not fresh:
            return
        entries = await _entries(link, min(answered.answer.seq for answered in fresh) - 1)
        sessions: dict[str, Session] = {}
        for answered in fresh:
            if isinstance(answered.request, Carry):
                continue
            await _check_entry(link, entries[answered.answer.seq], answered)
        names = {answered.request.session for answered in fresh if isinstance(answered.answer, Inserted)}
        for name in names:
            sessions[name] = await link.open(name, "agent")
        await asyncio.gather(
            *(
                _check_shown(sessions[answered.request.session], answered)
                for answered in fresh
                if isinstance(answered.answer, Inserted)
            )
        )

    async def _ask_again(self, link: Link, client: Client) -> None:
        """Old requests by their keys: each gets its first answer."""
        answered = client.journal.answered
        sample = [
            known
            for known in self._chance.sample(answered, min(ASKED_AGAIN, len(answered)))
            if not isinstance(known.request, Turn) and not self._is_deleted(client.device, known.request)
        ]
        answers = await asyncio.gather(
            *(link.ask(same_again(known.request, link.next_id()), type(known.answer)) for known in sample)
        )
        for known, answer in zip(sample, answers, strict=True):
            assert is_repeat(answer), known
            assert as_first(answer) == as_first(known.answer), known

    def _is_deleted(self, device: int, request: Change) -> bool:
        return (device, request.session) in self._deleted and not isinstance(request, Delete)

    def check_resent(self) -> None:
        """What was sent again had been carried out before the crash, or was not at all and is now: in order, so that in
        each session the first of them were and the rest were not.
        """
        for client in self.clients:
            fresh: set[str] = set()
            for request, answer in client.resent:
                if isinstance(answer, Error):
                    continue
                assert isinstance(answer, Promise)
                was_there = answer.seq <= self.heads[client.device]
                if isinstance(request, Open):
                    # Another client of the device may have opened it in between.
                    assert not (answer.created and was_there) if isinstance(answer, Opened) else False, answer
                elif is_repeat(answer):
                    assert was_there, (request, answer)
                    assert request.session not in fresh, (request, answer)
                else:
                    assert not was_there, (request, answer)
                    # What names content by its hash may have been refused before, which leaves no trace.
                    if not _names_a_hash(request):
                        fresh.add(request.session)


async def _entries(link: Link, after: int) -> dict[int, Entry]:
    """All entries of the log behind `after`. A page says them in rising order."""
    entries: dict[int, Entry] = {}
    while True:
        request = Sync(id=link.next_id(), after=after, epoch=link.welcome.epoch)
        page = await link.ask(request, Page)
        seqs = [entry.seq for entry in page.entries]
        assert seqs == sorted(set(seqs))
        entries |= {entry.seq: entry for entry in page.entries}
        after = page.next
        if not page.more:
            return entries


async def _check_entry(link: Link, entry: Entry, answered: Answered) -> None:
    request, answer = answered.request, answered.answer
    assert (entry.session, entry.kind) == (request.session, _kind_of(request)), answered
    text = await link.text_of(entry)
    match request, answer:
        case _, Inserted():
            assert text == answer.text, answered
            assert (entry.result, entry.stub_of, entry.capped) == (answer.result, answer.stub_of, answer.capped), (
                answered
            )
        case _, Compacted():
            assert text == answer.table, answered
        case Message(), _:
            assert (text, entry.role) == (request.text, request.role), answered
        case Turn(), _:
            assert entry.turn == request.turn, answered
        case TakeBack(), _:
            assert set(entry.turns) <= set(request.turns), answered
        case Open(), _:
            assert (entry.title, entry.session_kind) == (request.title, request.kind), answered
        case _:
            assert isinstance(request, Delete), answered


async def _check_shown(session: Session, answered: Answered) -> None:
    """In full: what a text result said, or what the model got of anything else."""
    request, answer = answered.request, answered.answer
    assert isinstance(answer, Inserted)
    shown = await session.show_all(answer.result)
    if isinstance(request, Result) and isinstance(request.body, TextBody):
        assert shown == request.body.text, answered
    elif answer.stub_of is None and not answer.capped:
        assert answer.text.endswith(shown), answered


def _names_a_hash(request: Change) -> bool:
    if not isinstance(request, Result) or isinstance(request.body, TextBody):
        return False
    if isinstance(request.body, ReadBody):
        return request.body.content.sha256 is not UNSET
    return any(change.before is not None and change.before.sha256 is not UNSET for change in request.body.changes)


def _kind_of(request: Change) -> str:
    """The kind of entry that a request makes."""
    kinds = {"open": "opened", "take_back": "taken_back", "compact": "compacted", "delete": "deleted"}
    tag = str(request.__struct_config__.tag)
    return kinds.get(tag, tag)
