"""The plain model as a program on stdin and stdout: a second implementation that the cases are run against.

Run it by `waybread conformance --exec 'python tests/conformance/reference.py'`.
"""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import cast

if __name__ == "__main__":
    # A program has its own folder on the path; the model stands beside that folder.
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.model.answers import Answer, Change, Refused
from tests.model.model import Model
from tests.model.patch import plain_diff

Step = Mapping[str, object]


class Session:
    """A model and the steps that made it: a restart makes it again from them."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._model = Model(kind, plain_diff)
        self._steps: list[Step] = []

    def step(self, step: Step) -> Mapping[str, object]:
        if step["do"] == "restart":
            self._model = Model(self._kind, plain_diff)
            for earlier in self._steps:
                _do(self._model, earlier)
            return {}
        self._steps.append(step)
        return _do(self._model, step)


def _do(model: Model, step: Step) -> Mapping[str, object]:
    try:
        return _STEPS[str(step["do"])](model, step)
    except Refused as refused:
        return {"error": refused.code}


def _read(model: Model, step: Step) -> Mapping[str, object]:
    content = _content(step["content"])
    assert content is not None
    return _inserted(model.read(str(step["path"]), str(step["absolute"]), content, **_window(step)))


def _result(model: Model, step: Step) -> Mapping[str, object]:
    args = cast("dict[str, object]", step.get("args", {}))
    return _inserted(model.result(str(step["tool"]), args, str(step["text"]), error=step.get("error") is True))


def _recall(model: Model, step: Step) -> Mapping[str, object]:
    return _inserted(model.recall(str(step["result"]), **_window(step)))


def _change(model: Model, step: Step) -> Mapping[str, object]:
    changes = [
        Change(str(change["path"]), str(change["absolute"]), _content(change["before"]), _content(change["after"]))
        for change in cast("Sequence[Step]", step["changes"])
    ]
    return _inserted(model.change(changes, str(step.get("note", ""))))


def _turn(model: Model, step: Step) -> Mapping[str, object]:
    return asdict(model.turn(str(step["turn"])))


def _take_back(model: Model, step: Step) -> Mapping[str, object]:
    return {"turns": model.take_back(cast("Sequence[str]", step["turns"]))}


def _carry(model: Model, step: Step) -> Mapping[str, object]:
    model.carry(cast("str | Sequence[str]", step["results"]))
    return {}


def _compact(model: Model, _step: Step) -> Mapping[str, object]:
    compaction = model.compact()
    return {"table": compaction.table, "reads": [asdict(row) for row in compaction.rows]}


def _reads(model: Model, _step: Step) -> Mapping[str, object]:
    return {"reads": [asdict(row) for row in model.reads()]}


def _show(model: Model, step: Step) -> Mapping[str, object]:
    return asdict(model.show(str(step["result"]), **_window(step)))


_STEPS: Mapping[str, Callable[[Model, Step], Mapping[str, object]]] = {
    "read": _read,
    "result": _result,
    "recall": _recall,
    "change": _change,
    "turn": _turn,
    "take_back": _take_back,
    "carry": _carry,
    "compact": _compact,
    "reads": _reads,
    "show": _show,
}


def _inserted(answer: Answer) -> Mapping[str, object]:
    return {"text": answer.text, "stub_of": answer.stub_of, "capped": answer.capped}


def _window(step: Step) -> dict[str, int]:
    return {name: cast("int", step[name]) for name in ("offset", "limit") if name in step}


def _content(content: object) -> bytes | None:
    match content:
        case {"text": str(text)}:
            return text.encode()
        case {"bytes": str(encoded)}:
            return base64.b64decode(encoded)
        case _:
            return None


def main() -> None:
    session = Session("agent")
    for line in sys.stdin:
        step = cast("Step", json.loads(line))
        if step["do"] == "begin":
            session = Session(str(step["kind"]))
            answer: Mapping[str, object] = {}
        else:
            answer = session.step(step)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
