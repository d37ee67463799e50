"""A device as the contract has it, written plainly: its log, its sessions, their keys. The rules are the plain model's.

Nothing of the product is imported but the diff, of which any right one will do.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tests.differential.compare import product_diff
from tests.differential.steps import Step
from tests.model.answers import Answer, Change, Refused, Shown
from tests.model.model import Model
from tests.model.texts import canonical, sha256_of

Map = dict[str, Any]

EMPTY: Map = {
    "turn": "", "role": "", "result": "", "tool": "", "call": "", "args": {}, "args_chars": 0, "body": "", "error": False,
    "capped": False, "text": "", "text_chars": 0, "stub_of": None, "turns": [], "session_kind": "", "title": "",
}  # fmt: skip
"""What fields of an entry are that do not apply."""


class Wanted(NamedTuple):
    """The answer that has to come, without `re`; and whether the log is longer by one for it."""

    answer: Map
    changes: bool


@dataclass
class Session:
    """A session and what only the link knows of it."""

    kind: str
    title: str
    model: Model
    opened_seq: int
    head: int
    turns: dict[str, int] = field(default_factory=dict[str, int])
    held: set[str] = field(default_factory=set[str])
    """Hashes of contents that this session keeps in the store."""
    gone: bool = False


class World:
    """One device."""

    def __init__(self) -> None:
        self.sessions: dict[str, Session] = {}
        self.lines: list[Map | None] = []
        """The log: the entry of each `seq` from 1 on, None where there is none to show."""

    @property
    def head(self) -> int:
        return len(self.lines)

    @property
    def open_sessions(self) -> list[str]:
        return [name for name, session in self.sessions.items() if not session.gone]

    def entries(self, after: int = 0, session: str = "") -> list[Map]:
        """What pages and pushes tell after a cursor, of one session or of all."""
        shown = [entry for entry in self.lines[after:] if entry is not None]
        return [entry for entry in shown if session in ("", entry["session"])]

    def holds(self, sha256: str) -> bool:
        """Whether the store has a content from this device."""
        return any(sha256 in session.held for session in self.sessions.values() if not session.gone)

    def apply(self, name: str, step: Step) -> Wanted | str:
        """Carries a step out. A string is the code of the error that has to come: then nothing is changed."""
        try:
            return self._apply(name, step)
        except Refused as refused:
            return refused.code

    def show(self, name: str, fields: Map) -> Shown | str:
        """A piece of a stored body, or the code of the error that has to come."""
        try:
            return self.sessions[name].model.show(**fields)
        except Refused as refused:
            return refused.code

    def _apply(self, name: str, step: Step) -> Wanted:
        if step.do == "open":
            return self._open(name, **step.fields)
        session = self.sessions.get(name)
        if session is None:
            raise Refused("unknown_session")
        if step.do == "delete":
            return self._delete(name, session)
        if session.gone:
            raise Refused("gone")
        return self._carry_out(name, session, step)

    def _open(self, name: str, kind: str, title: str) -> Wanted:
        session = self.sessions.get(name)
        if session is not None and session.gone:
            raise Refused("gone")
        if session is not None and session.kind != kind:
            raise Refused("key_conflict")
        created = session is None
        if session is None:
            session = Session(kind, title, Model(kind, product_diff), self.head + 1, 0)
            self.sessions[name] = session
            self._write(name, session, {"kind": "opened", "session_kind": kind, "title": title})
        answer = {"type": "opened", "seq": session.opened_seq, "session": name, "kind": kind, "created": created}
        return Wanted({**answer, "results": session.model.results, "turn": session.model.current_turn}, created)

    def _delete(self, name: str, session: Session) -> Wanted:
        if session.gone:
            return Wanted({"type": "done", "seq": session.head, "repeated": True}, changes=False)
        session.gone = True
        self.lines = [None if entry is not None and entry["session"] == name else entry for entry in self.lines]
        self._write(name, session, {"kind": "deleted"})
        return Wanted({"type": "done", "seq": self.head, "repeated": False}, changes=True)

    def _carry_out(self, name: str, session: Session, step: Step) -> Wanted:
        model, fields = session.model, step.fields
        turn = model.current_turn
        done: Map = {"type": "done", "seq": self.head + 1, "repeated": False}
        entry: Map | None
        match step.do:
            case "turn":
                if model.turn(fields["turn"]).repeated:
                    return Wanted({**done, "seq": session.turns[fields["turn"]], "repeated": True}, changes=False)
                turn = fields["turn"]
                session.turns[turn] = self.head + 1
                entry = {"kind": "turn"}
            case "message":
                entry = {"kind": "message", "role": fields["role"], "text": fields["text"]}
            case "carry":
                model.carry(fields["results"])
                entry = None
            case "take_back":
                entry = {"kind": "taken_back", "turns": model.take_back(fields["turns"])}
            case "compact":
                made = model.compact()
                done |= {"type": "compacted", "table": made.table, "reads": [vars(row) for row in made.rows]}
                entry = {"kind": "compacted", "text": made.table}
            case _:
                answer, entry = self._insert(session, step)
                done |= {
                    "type": "inserted",
                    "result": answer.result,
                    "text": answer.text,
                    "stub_of": answer.stub_of,
                    "capped": answer.capped,
                }
        self._write(name, session, None if entry is None else {"turn": turn, **entry})
        return Wanted(done, changes=True)

    def _insert(self, session: Session, step: Step) -> tuple[Answer, Map]:
        model, fields = session.model, step.fields
        args: Map = {}
        match step.do:
            case "read":
                answer = model.read(**fields)
                if step.form != "window" and answer.stub_of is None and not answer.error:
                    session.held.add(sha256_of(fields["content"]))
                said: Map = {"kind": "result", "tool": "read", "body": "read"}
            case "change":
                answer = model.change([Change(**change) for change in fields["changes"]], fields["note"])
                sides = [change[side] for change in fields["changes"] for side in ("before", "after")]
                session.held |= {sha256_of(side) for side in sides if side is not None}
                said = {"kind": "result", "tool": "edit", "body": "change"}
            case "recall":
                answer = model.recall(**fields)
                said = {"kind": "recall"}
            case _:
                answer = model.result(**fields)
                args = fields["args"]
                said = {"kind": "result", "tool": fields["tool"], "body": "text"}
        if said["kind"] == "result":
            written = canonical(args)
            said |= {"args": json.loads(written), "args_chars": len(written)}
        said |= {"result": answer.result, "text": answer.text, "stub_of": answer.stub_of}
        return answer, {**said, "capped": answer.capped, "error": answer.error}

    def _write(self, name: str, session: Session, entry: Map | None) -> None:
        if entry is not None:
            entry = {**EMPTY, **entry, "seq": self.head + 1, "session": name}
            entry["text_chars"] = len(entry["text"])
        self.lines.append(entry)
        session.head = self.head


def check_entry(got: Map, wanted: Map) -> None:
    """An entry of a page or push. Its text may be cut, up to a whole character; its time is not known."""
    same = {name: value for name, value in got.items() if name not in ("at_ms", "text")}
    assert same == {name: value for name, value in wanted.items() if name != "text"}
    assert wanted["text"].startswith(got["text"])
    assert got["text"] == wanted["text"] or len(got["text"].encode()) > 1000


def check_entries(got: list[Map], wanted: list[Map]) -> None:
    assert [entry["seq"] for entry in got] == [entry["seq"] for entry in wanted]
    for one, other in zip(got, wanted, strict=True):
        check_entry(one, other)
