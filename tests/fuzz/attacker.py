"""A client that sends frames at random and knows what has to come of each: one answer, or the end of the link."""

from __future__ import annotations

import asyncio
import random
from typing import Any, NamedTuple

import msgspec
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from tests.fuzz.made import REQUESTS, SESSIONS, message
from tests.fuzz.opinion import Opinion, of_json, of_msgpack
from tests.fuzz.spoiled import Frame, as_text, encode, nested, odd_json, parts_of, spoiled
from waybread_protocol.errors import ErrorCode

MAX_FRAME = 256 * 1024
MAX_MESSAGE = 1024 * 1024
"""Less than the default, so that too much is soon reached."""
BATCH = 24
PATIENCE_S = 60
SENTINEL = 2**40
"""Requests from this id on are the client's own, behind each batch."""


class Plan(NamedTuple):
    """Frames of one kind: how many answers they get, and with which codes the link may close behind them.

    `closes` empty: the link goes on. `may_go_on`: it may close, or go on with an answer or without one.
    """

    frames: list[Frame]
    answers: int
    closes: tuple[int, ...] = ()
    may_go_on: bool = False


class Tally:
    """What was sent and what came of it."""

    def __init__(self) -> None:
        self.frames = 0
        self.answers = 0
        self.closed: dict[int, int] = {}
        self.codes: dict[str, int] = {}
        self.hellos: dict[str, int] = {}

    def __str__(self) -> str:
        errors = dict(sorted(self.codes.items()))
        return f"{self.frames} frames, {self.answers} answers, errors {errors}, closed {self.closed}, {self.hellos}"


class Attacker:
    """One client after another, each until its link is closed."""

    def __init__(self, url: str, token: str, codec: str, seed: int, tally: Tally) -> None:
        self.text = codec.endswith("json")
        self._url, self._token, self._codec = url, token, codec
        self._chance = random.Random(f"{codec} {seed}")
        self._name = f"{codec}, attacker {seed}"
        self._tally = tally
        self._ids = SENTINEL
        self._spare = 0

    async def run(self, frames: int) -> None:
        """Sends so many frames at least. Raises `AssertionError` with the last frames where something else comes of them."""
        sent = 0
        while sent < frames:
            if self._chance.random() < 0.2:
                await self._first_message()
                sent += 1
            async with self._connected() as socket:
                await self._hello(socket)
                # Answers that may still come to frames of which nobody can say whether they are answered.
                self._spare = 0
                while sent < frames:
                    plans = self._batch()
                    sent += sum(len(plan.frames) for plan in plans)
                    if not await self._send_batch(socket, plans):
                        break

    def _connected(self) -> connect:
        subprotocol = Subprotocol(self._codec)
        return connect(
            self._url, subprotocols=[subprotocol], compression=None, max_size=None, ping_interval=None, proxy=None
        )

    # --- What is sent ------------------------------------------------------------------------------------------------

    def _batch(self) -> list[Plan]:
        plans: list[Plan] = []
        for _ in range(BATCH):
            plan = self._plan()
            plans.append(plan)
            if plan.closes:
                break
        return plans

    def _plan(self) -> Plan:
        chance, text = self._chance, self.text
        fate = chance.random()
        if fate < 0.004:
            return Plan([b"\x80" if text else "{}"], 0, (1007,))
        if fate < 0.005:
            return Plan([self._framed(self._message_of(MAX_FRAME + 1))], 0, (1009,))
        if fate < 0.006:
            data = bytes(MAX_MESSAGE + 1)
            return Plan(self._all_framed(parts_of(data, MAX_FRAME // 2, text=text)), 0, (1009,))
        if fate < 0.05:
            data = encode(message(chance, chance.choice(REQUESTS), text=text), text=text)
            return Plan(self._all_framed(parts_of(data, chance.choice((20, 200, 5000)), text=text)), 1)
        if fate < 0.07:
            return self._spoiled_parts()
        if fate < 0.08:
            return self._judged(nested(chance, text=text))
        if fate < 0.10 and text:
            return self._judged(odd_json(chance))
        return self._judged(spoiled(chance, chance.choice((*REQUESTS, "part")), text=text))

    def _judged(self, data: bytes) -> Plan:
        """A frame of these bytes, and what has to come of it."""
        if not self.text:
            frame: Frame = data
            opinion = of_msgpack(data)
        else:
            said = as_text(data)
            if said is None:
                return self._judged(spoiled(self._chance, "ping", text=True))
            frame, opinion = said, of_json(said)
        if len(data) > MAX_FRAME:
            return Plan([frame], 0, (1009,))
        if opinion is Opinion.MESSAGE:
            return Plan([frame], 1)
        if opinion is Opinion.NONE:
            return Plan([frame], 0, (1007,))
        return Plan([frame], 0, (1007,), may_go_on=True)

    def _spoiled_parts(self) -> Plan:
        """Parts in a wrong order, of which one is missing, twice there, empty, or has another message between."""
        chance, text = self._chance, self.text
        data = encode(message(chance, chance.choice(REQUESTS), text=text), text=text)
        parts = parts_of(data, max(1, len(data) // 4), text=text)
        at = chance.randrange(1, len(parts))
        match chance.randrange(5):
            case 0:
                parts.insert(at, parts[0])
            case 1:
                parts[0], parts[at] = parts[at], parts[0]
            case 2:
                parts.insert(at, encode({"type": "ping", "id": 1}, text=text))
            case 3:
                parts.insert(at, encode({"type": "part", "index": at, "last": False, "data": b""}, text=text))
            case _:
                whole = encode({"type": "part", "index": 0, "last": True, "data": b"inner"}, text=text)
                parts = parts_of(whole, 1000, text=text)
        return Plan(self._all_framed(parts), 0, (1007,))

    def _message_of(self, size: int) -> bytes:
        made = {"type": "message", "id": 1, "session": SESSIONS[0], "key": "big", "role": "user", "text": ""}
        room = size - len(encode({**made, "text": "x" * 70_000}, text=self.text)) + 70_000
        return encode({**made, "text": "x" * room}, text=self.text)

    def _framed(self, data: bytes) -> Frame:
        return data.decode() if self.text else data

    def _all_framed(self, datas: list[bytes]) -> list[Frame]:
        return [self._framed(data) for data in datas]

    # --- What comes of it --------------------------------------------------------------------------------------------

    async def _send_batch(self, socket: ClientConnection, plans: list[Plan]) -> bool:
        """Sends, and waits for all that has to come. Whether the link goes on."""
        wanted = sum(plan.answers for plan in plans)
        last = plans[-1]
        self._ids += 1
        heard: list[dict[str, Any]] = []
        try:
            async with asyncio.timeout(PATIENCE_S):
                for plan in plans:
                    for frame in plan.frames:
                        self._tally.frames += 1
                        await socket.send(frame)
                await socket.send(self._framed(encode({"type": "ping", "id": self._ids}, text=self.text)))
                while True:
                    answer = self._decoded(await socket.recv())
                    if "re" in answer:
                        heard.append(answer)
                    if any(answer["re"] == self._ids for answer in heard) and len(heard) > wanted:
                        break
        except ConnectionClosed:
            code = socket.close_code or 0
            self._note(heard)
            self._tally.closed[code] = self._tally.closed.get(code, 0) + 1
            assert code in last.closes, self._told(plans, heard, f"closed with {code}")
            assert len(heard) <= wanted + self._spare + last.may_go_on, self._told(plans, heard, "too many answers")
            return False
        except TimeoutError:
            raise AssertionError(self._told(plans, heard, f"{wanted} answers wanted, not closed")) from None
        self._note(heard)
        assert last.may_go_on or not last.closes, self._told(plans, heard, "the link went on")
        self._spare += last.may_go_on - (len(heard) - wanted - 1)
        assert self._spare >= 0, self._told(plans, heard, "too many answers")
        return True

    def _note(self, heard: list[dict[str, Any]]) -> None:
        self._tally.answers += len(heard)
        for answer in heard:
            if answer["type"] != "error":
                continue
            code = str(answer["code"])
            assert code in set(ErrorCode) - {ErrorCode.INTERNAL}, (self._name, answer)
            self._tally.codes[code] = self._tally.codes.get(code, 0) + 1

    def _told(self, plans: list[Plan], heard: list[dict[str, Any]], what: str) -> str:
        shown = [frame[:400] for plan in plans[-3:] for frame in plan.frames[:4]]
        return f"{self._name}: {what}; last frames {shown!r}; heard {[answer['re'] for answer in heard]}"

    def _decoded(self, frame: str | bytes) -> dict[str, Any]:
        assert isinstance(frame, str) == self.text
        decode: Any = msgspec.json.decode if self.text else msgspec.msgpack.decode
        made: dict[str, Any] = decode(frame)
        return made

    # --- The first message -------------------------------------------------------------------------------------------

    async def _hello(self, socket: ClientConnection) -> None:
        hello = {"type": "hello", "id": 1, "token": self._token, "client": "fuzz"}
        await socket.send(self._framed(encode(hello, text=self.text)))
        assert self._decoded(await socket.recv())["type"] == "welcome"
        for number, session in enumerate(SESSIONS):
            opening = {"type": "open", "id": number + 1, "session": session, "kind": "agent"}
            await socket.send(self._framed(encode(opening, text=self.text)))
            assert "re" in self._decoded(await socket.recv())

    async def _first_message(self) -> None:
        """A frame at random before hello: it is refused, unless it is a hello after all."""
        token_too = self._chance.random() < 0.3
        plan = self._judged(
            spoiled(self._chance, "hello" if token_too else self._chance.choice(REQUESTS), text=self.text)
        )
        frame = plan.frames[0]
        if token_too:
            # A good token in a bad hello: the client may say hello again, and is not closed for it.
            old, new = '"no.token"', f'"{self._token}"'
            if self.text and isinstance(frame, str):
                frame = frame.replace(old, new)
        self._tally.frames += 1
        async with self._connected() as socket:
            await socket.send(frame)
            try:
                async with asyncio.timeout(PATIENCE_S):
                    answer = self._decoded(await socket.recv())
                    said = str(answer.get("code", answer["type"]))
                    if said == "unauthenticated":
                        await socket.recv()
            except ConnectionClosed:
                said = str(socket.close_code)
            self._tally.hellos[said] = self._tally.hellos.get(said, 0) + 1
            allowed = {"4401", "bad_message", "too_large", "welcome"} if token_too else {"4401"}
            if plan.closes:
                allowed = allowed | {"1007"} if plan.may_go_on else {"1007"}
            assert said in allowed, (self._name, frame, said)
