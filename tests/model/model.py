"""A session of context hygiene, written plainly: the second opinion for the differential test.

The session is a list of everything that was ever inserted, a set of the numbers that a stub may name, and the
compactions. Each question is answered by looking through the whole list. Nothing of the product is imported.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.model.answers import Answer, Change, Compaction, Outcome, ReadRow, Refused, Shown
from tests.model.texts import (
    bare_id,
    canonical,
    capped,
    escape,
    file_lines,
    id_of,
    is_over,
    number_of,
    numbered,
    sha256_of,
    split_lines,
    split_pieces,
    table_of,
    under_bracket,
    window_of,
)

KINDS = ("agent", "chat", "opaque")
BY_RESULT = ("list", "glob", "grep", "search")
UNNAMED = ""


@dataclass(frozen=True)
class _FileRead:
    path: str
    absolute: str
    first: int
    last: int
    lines: int
    sha256: str


@dataclass(frozen=True)
class _Call:
    tool: str
    args: str


@dataclass(frozen=True)
class _Inserted:
    """One insertion; `read` and `call` stand only where it is a full answer that `carry` may name."""

    answer: Answer
    turn: str
    read: _FileRead | None
    call: _Call | None
    changed: frozenset[str]

    @property
    def number(self) -> int:
        return self.answer.number


@dataclass(frozen=True)
class _Compacted:
    turn: str
    last_number: int


class Model:
    """One session. `diff(before, after)` gives the hunks for two contents that differ."""

    def __init__(self, kind: str, diff: Callable[[bytes, bytes], str]) -> None:
        if kind not in KINDS:
            raise ValueError(f"no such kind of session: {kind}")
        self._kind = kind
        self._diff = diff
        self._inserted: list[_Inserted] = []
        self._compactions: list[_Compacted] = []
        self._begun: list[str] = []
        self._gone: list[str] = []
        self._turn = UNNAMED
        self._in_request: set[int] = set()

    @property
    def results(self) -> int:
        """The last number given, 0 before the first."""
        return len(self._inserted)

    @property
    def current_turn(self) -> str:
        return self._turn

    # Steps that insert something.

    def read(self, path: str, absolute: str, content: bytes, offset: int = 1, limit: int = 2000) -> Answer:
        number, result = self._next()
        lines = file_lines(content)
        sha256 = sha256_of(content)
        if not lines:
            answer = Answer(number, result, f"[{result} {escape(path)} empty sha {sha256[:8]}]", "")
            return self._insert(answer, read=_FileRead(path, absolute, 0, 0, 0, sha256))

        asked = window_of(offset, limit, len(lines))
        if asked.first > len(lines):
            sentence = f"{escape(absolute)} has {len(lines)} lines: there is no line {asked.first}."
            return self._insert(Answer(number, result, f"[{result}] {sentence}", sentence, error=True))

        body = numbered(lines, asked)
        bracket = f"[{result} {escape(path)} lines {asked.first}-{asked.last} of {len(lines)} sha {sha256[:8]}]"
        for earlier in reversed(self._inserted):
            known = earlier.read
            if known is None or earlier.number not in self._in_request:
                continue
            same = known.absolute == absolute and known.sha256 == sha256
            if same and known.first <= asked.first and asked.last <= known.last:
                target = earlier.answer.result
                sentence = f"Unchanged since {target}, which already shows lines {known.first}-{known.last}."
                return self._insert(Answer(number, result, f"{bracket} {sentence}", body, stub_of=target))

        read = _FileRead(path, absolute, asked.first, asked.last, len(lines), sha256)
        return self._insert(Answer(number, result, f"{bracket}\n{body}", body), read=read)

    def result(self, tool: str, args: dict[str, object], text: str, error: bool = False) -> Answer:
        number, result = self._next()
        call = _Call(tool, canonical(args)) if tool in BY_RESULT and not error else None
        if call is not None:
            for earlier in reversed(self._inserted):
                same = earlier.call == call and earlier.answer.body == text
                if same and earlier.number in self._in_request:
                    target = earlier.answer.result
                    stub = f"[{result}] Same result as {target}."
                    return self._insert(Answer(number, result, stub, text, stub_of=target))
        shown = capped(text, result) if is_over(text) else text
        answer = Answer(number, result, under_bracket(f"[{result}]", shown), text, capped=is_over(text), error=error)
        return self._insert(answer, call=call)

    def change(self, changes: Sequence[Change], note: str = "") -> Answer:
        if not changes:
            raise ValueError("a change names at least one file")
        number, result = self._next()
        if len(changes) == 1:
            name, sentence, hunks = self._parts(changes[0])
            bracket = f"[{result} {name}]"
            body = sentence or hunks
        else:
            bracket = f"[{result}]"
            sentence = ""
            body = "\n".join(self._file_block(change) for change in changes)

        shown = capped(body, result) if is_over(body) else body
        text = f"{bracket} {sentence}" if sentence else under_bracket(bracket, shown)
        stored = body
        if note:
            text = f"{text}\n{note}"
            stored = f"{body}\n{note}" if body else note
        answer = Answer(number, result, text, stored, capped=is_over(body))
        return self._insert(answer, changed=frozenset(change.absolute for change in changes))

    def recall(self, result: str, offset: int = 1, limit: int = 2000) -> Answer:
        number, own = self._next()
        target = self._find(result)
        if target is None:
            sentence = f"No stored result #{escape(bare_id(result)[:64])} in this session."
            return self._insert(Answer(number, own, f"[{own}] {sentence}", sentence, error=True))

        lines = split_lines(target.body)
        if not lines:
            return self._insert(Answer(number, own, f"[{own} recall {target.result} empty]", ""))

        asked = window_of(offset, limit, len(lines))
        if asked.first > len(lines):
            sentence = f"{target.result} has {len(lines)} lines: there is no line {asked.first}."
            return self._insert(Answer(number, own, f"[{own}] {sentence}", sentence, error=True))

        body = "\n".join(lines[asked.first - 1 : asked.last])
        bracket = f"[{own} recall {target.result} lines {asked.first}-{asked.last} of {len(lines)}]"
        return self._insert(Answer(number, own, f"{bracket}\n{body}", body))

    # Steps that say what the requests carry.

    def turn(self, name: str) -> Outcome:
        if name in self._gone:
            raise Refused("key_conflict")
        if name in self._begun:
            return Outcome(repeated=True)
        self._begun.append(name)
        self._turn = name
        if self._kind != "agent":
            self._in_request = set()
        return Outcome(repeated=False)

    def take_back(self, turns: Sequence[str]) -> list[str]:
        """Take turns back; the answer names those that were there to be taken back."""
        taken: list[str] = []
        for name in turns:
            if name in self._begun and name not in self._gone:
                self._gone.append(name)
                taken.append(name)
        if self._turn in taken:
            self._turn = UNNAMED
        self._in_request -= {inserted.number for inserted in self._inserted if inserted.turn in taken}
        return taken

    def carry(self, results: str | Sequence[str]) -> None:
        """The next request carries `all`, `none`, or the results of a list of ids."""
        if results == "none":
            named: set[int | None] = set()
        elif results == "all":
            named = set(range(self._last_compacted() + 1, self.results + 1))
        elif isinstance(results, str):
            raise ValueError(f"neither all nor none nor a list: {results}")
        else:
            named = {number_of(result) for result in results}
        self._in_request = {
            inserted.number
            for inserted in self._inserted
            if inserted.number in named
            and inserted.turn not in self._gone
            and (inserted.read is not None or inserted.call is not None)
        }

    def compact(self) -> Compaction:
        after = self._last_compacted()
        self._compactions.append(_Compacted(self._turn, self.results))
        self._in_request = set()
        rows = self._newest_reads(after)[-50:]
        return Compaction(table_of(rows), rows)

    # Looks that insert nothing.

    def reads(self) -> list[ReadRow]:
        return self._newest_reads(after=0)

    def show(self, result: str, offset: int = 1, limit: int = 2000) -> Shown:
        target = self._find(result)
        if target is None:
            raise Refused("unknown_result")
        pieces = split_pieces(target.body)
        asked = window_of(offset, limit, len(pieces))
        if asked.first > len(pieces):
            return Shown(target.result, "", 0, 0, len(pieces))
        text = "".join(pieces[asked.first - 1 : asked.last])
        return Shown(target.result, text, asked.first, asked.last, len(pieces))

    # What the above is made of.

    def _next(self) -> tuple[int, str]:
        number = len(self._inserted) + 1
        return number, id_of(number)

    def _insert(
        self,
        answer: Answer,
        read: _FileRead | None = None,
        call: _Call | None = None,
        changed: frozenset[str] = frozenset(),
    ) -> Answer:
        self._inserted.append(_Inserted(answer, self._turn, read, call, changed))
        is_full = read is not None or call is not None
        # Nobody knows what an opaque session's requests send, so there only `carry` says so.
        if is_full and self._kind != "opaque":
            self._in_request.add(answer.number)
        return answer

    def _find(self, result: str) -> Answer | None:
        number = number_of(result)
        for inserted in self._inserted:
            if inserted.number == number:
                return inserted.answer
        return None

    def _parts(self, change: Change) -> tuple[str, str, str]:
        """What stands in the file's bracket, the sentence after it, and the hunks under it."""
        if change.after is None:
            return f"{escape(change.path)} deleted", "", ""
        name = f"{escape(change.path)} sha {sha256_of(change.after)[:8]}"
        if change.before is None:
            return name, f"Created, {len(file_lines(change.after))} lines.", ""
        if change.before == change.after:
            return name, "", ""
        return name, "", self._diff(change.before, change.after)

    def _file_block(self, change: Change) -> str:
        name, sentence, hunks = self._parts(change)
        return f"[{name}] {sentence}" if sentence else under_bracket(f"[{name}]", hunks)

    def _last_compacted(self) -> int:
        """The last number given before the newest compaction that is still in the history."""
        standing = [compacted.last_number for compacted in self._compactions if compacted.turn not in self._gone]
        return standing[-1] if standing else 0

    def _newest_reads(self, after: int) -> list[ReadRow]:
        """The newest full read of each file, numbered above `after`, in turns not taken back; oldest first."""
        newest: dict[str, tuple[int, _FileRead]] = {}
        for inserted in self._inserted:
            if inserted.read is not None and inserted.number > after and inserted.turn not in self._gone:
                newest[inserted.read.absolute] = (inserted.number, inserted.read)
        return [self._row(number, read) for number, read in sorted(newest.values(), key=lambda pair: pair[0])]

    def _row(self, number: int, read: _FileRead) -> ReadRow:
        return ReadRow(
            path=read.path,
            absolute=read.absolute,
            first=read.first,
            last=read.last,
            lines=read.lines,
            sha256=read.sha256,
            result=id_of(number),
            in_request=number in self._in_request,
            changed=any(later.number > number and read.absolute in later.changed for later in self._inserted),
        )
