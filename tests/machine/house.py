"""A real daemon that is killed and started again on one port, and links to it, for a test that is no coroutine."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Generator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeVar

from tests.daemon.wire import Wire, linked
from tests.limits.clients import slow_linked
from tests.limits.watched import assert_no_fault
from tests.running import Daemon

T = TypeVar("T")
Map = dict[str, Any]


class House:
    """The daemon, and the loop in which its clients live."""

    def __init__(self, data: Path) -> None:
        self.data = data
        self.daemon = Daemon(data)
        self.port = self.daemon.port
        self.lives = 1
        self._runner = asyncio.Runner()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(work)

    def kill(self) -> None:
        """SIGKILL, and a new life on the same store and port."""
        self.daemon.kill()
        self._start()

    def restart(self) -> None:
        """SIGTERM, which has to end well, and a new life."""

        async def stop() -> int:
            # The loop runs meanwhile, so that clients answer when they are told goodbye.
            return await asyncio.get_running_loop().run_in_executor(None, self.daemon.stop)

        assert self.run(stop()) == 0
        self._start()

    def _start(self) -> None:
        self.daemon = Daemon(self.data, self.port)
        self.lives += 1

    def close(self) -> None:
        if self.daemon.process.poll() is None:
            self.daemon.kill()
        self._runner.close()


class Line:
    """One link. It may be dead at any time; `open` makes it anew. `slow`: it buffers little of what it does not read."""

    def __init__(self, house: House, *, slow: bool = False) -> None:
        self._house = house
        self._linked = slow_linked if slow else linked
        self._stack = AsyncExitStack()
        self.wire: Wire

    def open(self, token: str, codec: str) -> Map:
        """Connects and says hello; the answer."""
        self.cut()

        async def go() -> Map:
            self.wire = await self._stack.enter_async_context(self._linked(self._house.daemon.url, codec))
            return await self.wire.ask("hello", token=token, client="machine")

        return self._house.run(go())

    def ask(self, request: Map) -> Map:
        fields = {name: value for name, value in request.items() if name != "type"}
        return self._house.run(self.wire.ask(request["type"], **fields))

    def send_all(self, requests: list[Map]) -> list[int]:
        """Sends requests without waiting; their ids."""

        async def go() -> list[int]:
            sent: list[int] = []
            for request in requests:
                fields = {name: value for name, value in request.items() if name != "type"}
                sent.append(await self.wire.send(request["type"], **fields))
            return sent

        return self._house.run(go())

    def answers(self, ids: list[int], count: int) -> dict[int, Map]:
        """The first so many answers of those that are awaited, by id."""

        async def go() -> dict[int, Map]:
            heard: dict[int, Map] = {}
            while len(heard) < count:
                answer = await self.wire.hear()
                assert answer["re"] in ids, answer
                heard[answer["re"]] = answer
            return heard

        return self._house.run(go())

    def push(self) -> Map:
        return self._house.run(self.wire.push())

    def close_code(self) -> int | None:
        return self._house.run(self.wire.close_code())

    def cut(self) -> None:
        """Ends the connection at once: nothing more is sent or read, and no goodbye is said."""
        stack, self._stack = self._stack, AsyncExitStack()

        async def go() -> None:
            self.wire.socket.transport.abort()
            await stack.aclose()

        if hasattr(self, "wire"):
            self._house.run(go())


@contextmanager
def house_in(data: Path) -> Generator[House]:
    """A house that has to end well: SIGTERM, and no fault in the log of any of its lives."""
    house = House(data)
    try:
        yield house
        house.restart()
        assert_no_fault(house.daemon)
    finally:
        house.close()
