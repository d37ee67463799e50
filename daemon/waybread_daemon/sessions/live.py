"""Devices and sessions in memory: what is built on the store's log, and dropped when a commit failed."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable

from waybread_daemon.hygiene.events import decode_event
from waybread_daemon.hygiene.session import State, fold
from waybread_daemon.sessions.lane import Lane
from waybread_daemon.store.contract import Reader, Record, SessionFacts, Store, StoreFault

SESSIONS_KEPT = 512
"""Sessions whose state stays in memory when nothing is under way in them."""


PROBE_INTERVAL_S = 2
"""How often the store is tried while it takes no writes."""

KEYS_KEPT = 100_000
"""Keys of one session that stay in memory. The store knows all of them."""


class StaleError(Exception):
    """A commit failed while a request was worked on: what it saw is no longer so, and it begins again."""


class LiveDevice:
    """A device's log as far as it was appended (`head`) and as far as it is durable; `head` None: not loaded."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.head: int | None = None
        self.durable = 0
        self.gone = False
        """It is being deleted, or was: its log takes nothing more."""
        self.pending_bytes = 0
        """What is on its way to the disk, as it came; of what is written ahead, as it is stored."""
        self.listeners: list[Callable[[int], None]] = []
        """Called with the last durable `seq` whenever it has risen."""

    def has_become_durable(self, seq: int) -> None:
        """Tells the listeners."""
        if seq > self.durable:
            self.durable = seq
            for listener in list(self.listeners):
                listener(seq)


class LiveSession:
    """A session with its order, its state and its keys.

    `state` None: not loaded. `keys` are those used since it was loaded; of older ones only the greatest is known, which
    is enough to tell that a key in rising order is new.
    """

    def __init__(self, device: LiveDevice, name: str) -> None:
        self.device = device
        self.name = name
        self.lane = Lane()
        self.drop()

    def drop(self) -> None:
        """Forgets all that was built on the log: it is loaded again from the store."""
        self.number = 0
        self.state: State | None = None
        self.gone = False
        self.read_only = False
        self.opened_seq = 0
        self.last_seq = 0
        self.older_newest_key = ""
        self.keys: dict[str, tuple[bytes, int]] = {}

    def forget_durable_keys(self) -> None:
        """Leaves keys to the store that it can tell of by now."""
        durable = [key for key, (_, seq) in self.keys.items() if seq <= self.device.durable]
        for key in durable:
            del self.keys[key]
        self.older_newest_key = max(self.older_newest_key, max(durable, default=""))

    @property
    def known(self) -> bool:
        """Whether it was loaded or opened, or is known to be deleted."""
        return self.number != 0

    def settled(self) -> bool:
        """Whether all that was appended to it is durable."""
        return self.last_seq <= self.device.durable


class Live:
    """All devices and sessions in memory, and the way in which records go into the store."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.generation = 0
        self.failing = ""
        """Why the last record could not be stored, empty since one could, or since the store was found to take writes again."""
        self._devices: dict[int, LiveDevice] = {}
        self._sessions: OrderedDict[tuple[int, str], LiveSession] = OrderedDict()
        self._in_flight = 0
        self._quiet = asyncio.Event()
        self._quiet.set()
        store.on_reset = self._reset

    @property
    def sessions_kept(self) -> int:
        """How many sessions have their state in memory: a name that was asked for and is of none has not."""
        return sum(session.state is not None for session in list(self._sessions.values()))

    def device(self, number: int) -> LiveDevice:
        """The device of that number in the store."""
        device = self._devices.get(number)
        if device is None:
            device = self._devices[number] = LiveDevice(number)
        return device

    def session(self, device: LiveDevice, name: str) -> LiveSession:
        """The session of that id, whether or not it exists in the store."""
        key = (device.number, name)
        session = self._sessions.get(key)
        if session is None:
            self._evict()
            session = self._sessions[key] = LiveSession(device, name)
        else:
            self._sessions.move_to_end(key)
        return session

    async def load_head(self, device: LiveDevice) -> None:
        """Loads the end of the device's log where it is not known."""
        while device.head is None:
            generation = self.generation
            head = await self.store.look(lambda reader: reader.head(device.number))
            # A commit that failed meanwhile makes what was seen worth nothing: look again.
            if generation == self.generation and device.head is None:
                device.head = device.durable = head

    async def load(self, session: LiveSession) -> bool:
        """Loads the session's facts and state where they are not known. False where it was never opened."""
        while not session.known:
            await self.load_head(session.device)
            generation = self.generation
            found = await self.store.look(lambda reader: _load(reader, session, whole=False))
            if generation != self.generation:
                continue
            if found is None:
                return False
            self._take(session, *found)
        return True

    async def load_whole(self, session: LiveSession) -> None:
        """Folds the state from the session's first event on."""
        while session.state is not None and not session.state.complete:
            await self.settle(session)
            generation = self.generation
            found = await self.store.look(lambda reader: _load(reader, session, whole=True))
            if generation != self.generation:
                raise StaleError
            if found is not None:
                session.state = found[1]

    async def learn_turns(self, session: LiveSession, turns: list[str]) -> None:
        """Asks the store for turns that a state folded from its newest compaction cannot know."""
        await self.settle(session)
        state, number = session.state, session.number
        known = await self.store.look(lambda reader: [(turn, reader.turn(number, turn)) for turn in turns])
        for turn, facts in known:
            if facts is not None and state is not None:
                state.learn_turn(turn, stands=not facts.taken_back)

    async def settle(self, session: LiveSession) -> None:
        """Waits until what was appended to the session can be seen by a reader."""
        if not session.settled():
            await self.store.settled()

    def append(self, session: LiveSession, record: Record, done: Callable[[StoreFault | None], None]) -> None:
        """Appends a record of the session; `done` is called when it is durable or has failed."""
        device = session.device
        device.head = session.last_seq = record.seq
        size = record.raw_bytes
        device.pending_bytes += size
        if record.key:
            if len(session.keys) >= KEYS_KEPT:
                session.forget_durable_keys()
            session.keys[record.key] = (record.facts.digest, record.seq)
        self._in_flight += 1
        self._quiet.clear()

        def settled(fault: StoreFault | None) -> None:
            self._in_flight -= 1
            device.pending_bytes -= size
            if not self._in_flight:
                self._quiet.set()
            self.failing = "" if fault is None else fault.sentence
            if fault is None:
                device.has_become_durable(record.seq)
            done(fault)

        if record.kind == "deleted":
            self.store.delete(record, settled)
        else:
            self.store.append(record, settled)

    async def notice_recovery(self) -> None:
        """Tries the store where the last record failed, so that `failing` clears although nobody writes: who is told that
        the daemon is not ready may send it nothing. Runs until it is cancelled.
        """
        while True:
            await asyncio.sleep(PROBE_INTERVAL_S)
            if not self.failing:
                continue
            try:
                await self.store.probe()
            except StoreFault:
                continue
            self.failing = ""

    async def quiet(self) -> None:
        """Waits until nothing is under way: no lane works, no record waits for its commit."""
        while True:
            busy = [session for session in self._sessions.values() if not session.lane.idle]
            if not busy and not self._in_flight:
                return
            await self._quiet.wait()
            await asyncio.sleep(0.005)

    async def end_device(self, device: LiveDevice) -> None:
        """Waits until nothing is under way in the device's sessions, and forgets them. To be called when they take nothing new."""
        sessions = [session for key, session in self._sessions.items() if key[0] == device.number]
        while not all(session.lane.idle for session in sessions):  # noqa: ASYNC110  # a lane tells nobody when it falls idle
            await asyncio.sleep(0.005)
        await self.store.settled()
        for key in [key for key in self._sessions if key[0] == device.number]:
            del self._sessions[key]

    def _take(self, session: LiveSession, facts: SessionFacts, state: State) -> None:
        session.number = facts.number
        session.gone = facts.gone
        session.read_only = facts.read_only
        session.opened_seq = facts.opened_seq
        session.last_seq = facts.head
        session.older_newest_key = facts.newest_key
        session.state = None if facts.gone else state

    def _reset(self) -> None:
        self.generation += 1
        for device in self._devices.values():
            device.head = None
        for session in self._sessions.values():
            session.drop()

    def _evict(self) -> None:
        if len(self._sessions) < SESSIONS_KEPT:
            return
        for key, session in self._sessions.items():
            if session.lane.idle and session.settled():
                del self._sessions[key]
                return


def _load(reader: Reader, session: LiveSession, *, whole: bool) -> tuple[SessionFacts, State] | None:
    facts = reader.session(session.device.number, session.name)
    if facts is None:
        return None
    if facts.gone:
        return facts, State()
    state = _folded(reader, facts, 0 if whole else facts.base_seq)
    return facts, _folded(reader, facts, 0) if state.lacks_beginning() else state


def _folded(reader: Reader, facts: SessionFacts, from_seq: int) -> State:
    return fold(decode_event(row.event) for row in reader.events(facts.number, from_seq))
