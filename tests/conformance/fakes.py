"""Targets and daemons of a few lines, right or wrong on purpose, to try the runner on."""

from __future__ import annotations

import json
import sys
import textwrap
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from websockets.exceptions import ConnectionClosed
from websockets.sync.server import ServerConnection, serve
from websockets.typing import Subprotocol

from waybread_conformance.targets.contract import Answer, PlainStep

Map = Mapping[str, object]


class FakeTarget:
    """Answers each step by a function, and keeps what it was asked."""

    label = "fake"

    def __init__(
        self, answer: Callable[[PlainStep], Answer], forms: Sequence[str] = ("only",), patient: bool = True
    ) -> None:
        self._answer = answer
        self._forms = forms
        self.patient = patient
        self.begun: list[tuple[str, str]] = []
        self.steps: list[PlainStep] = []

    def forms(self, steps: Sequence[PlainStep]) -> Sequence[str]:
        assert steps
        return self._forms

    def begin(self, kind: str, form: str) -> None:
        self.begun.append((kind, form))

    def step(self, step: PlainStep) -> Answer:
        self.steps.append(step)
        return self._answer(step)

    def close(self) -> None:
        self.steps.clear()


def program(folder: Path, body: str) -> str:
    """The command of a program whose answer to a step is what `body` makes of `step`."""
    path = folder / "program.py"
    lines = ["import json, sys", "for line in sys.stdin:", "    step = json.loads(line)", textwrap.indent(body, "    ")]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return f"{sys.executable} {path}"


@contextmanager
def json_daemon(answers: Callable[[Map], Sequence[Map | int]]) -> Generator[str]:
    """A daemon that takes JSON; `answers` gives what it sends for each message: maps, or a code to close with."""

    def play(connection: ServerConnection) -> None:
        try:
            for frame in connection:
                for answer in answers(json.loads(frame)):
                    if isinstance(answer, int):
                        connection.close(answer)
                    else:
                        connection.send(json.dumps(answer))
        except ConnectionClosed:
            return

    with serve(play, "127.0.0.1", 0, subprotocols=[Subprotocol("waybread.v1.json")], compression=None) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            host, port = server.socket.getsockname()[:2]
            yield f"ws://{host}:{port}/link"
        finally:
            server.shutdown()
            thread.join()
