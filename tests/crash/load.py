"""Requests of every kind as a harness makes them, by chance, from what the daemon has answered so far."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable

import msgspec
from msgspec import UNSET

from tests.crash.journal import Change
from waybread_protocol.messages import (
    Answer,
    Carry,
    ChangeBody,
    Compact,
    Content,
    Delete,
    Done,
    FileChange,
    Inserted,
    Message,
    Open,
    ReadBody,
    Recall,
    Result,
    TakeBack,
    TextBody,
    Turn,
    Window,
)

LARGE_CHARS = 300_000
"""Over the 256 KiB from which content is written ahead."""
SESSION_REQUESTS = 80
"""A harness goes on to another session after so many."""
_WORDS = ["the", "quick", "brown", "fox", "jumps", "over", "a", "lazy", "dog", "crème", "brûlée", "日本", "🙂", "waits"]
_PROSE = "".join(
    word + end
    for word, end in zip(
        random.Random(1).choices(_WORDS, k=20_000), random.Random(2).choices("    \n", k=20_000), strict=True
    )
)


class Own(msgspec.Struct):
    """A session as its harness knows it."""

    name: str
    left: int = SESSION_REQUESTS
    results: list[str] = msgspec.field(default_factory=list[str])
    turns: list[str] = msgspec.field(default_factory=list[str])
    turns_made: int = 0


class Load:
    """One harness. `next` makes its next request, `learn` hears an answer."""

    def __init__(self, name: str, seed: int, shared: str) -> None:
        self.name = name
        self.left_behind: list[str] = []
        """Sessions that it works in no more."""
        self.deletable: list[str] = []
        """Those of them that may be deleted. Whoever keeps the books moves them here."""
        self.files: dict[str, bytes] = {}
        """What stands in each file at the moment."""
        self._contents: dict[str, bytes] = {}
        """All that ever stood in any, by its hash."""
        self._chance = random.Random(seed)
        self._shared = Own(shared)
        self._own = Own("")
        self._ids = 0
        self._sessions = 0
        self._said: list[str] = []
        self._to_open = [shared]
        self._kinds: list[tuple[int, Callable[[], Change | None]]] = [
            (30, self._text),
            (12, self._read),
            (8, self._read_again),
            (3, self._read_window),
            (8, self._change),
            (8, self._recall),
            (8, self._message),
            (6, self._turn),
            (4, self._carry),
            (2, self._take_back),
            (2, self._compact),
            (2, self._delete),
        ]

    def next(self) -> Change:
        """The next request."""
        if not self._own.left or not self._own.name:
            if self._own.name:
                self.left_behind.append(self._own.name)
            self._sessions += 1
            self._own = Own(f"{self.name}-{self._sessions}")
            self._to_open.append(self._own.name)
        if self._to_open:
            session = self._to_open.pop(0)
            return Open(
                id=self.next_id(), session=session, kind="agent", title=f"title of {session}", directory="/home"
            )
        self._own.left -= 1
        weights = [weight for weight, _ in self._kinds]
        while True:
            ((_, make),) = self._chance.choices(self._kinds, weights)
            request = make()
            if request is not None:
                return request

    def learn(self, request: Change, answer: Answer) -> None:
        """Notes ids and turns for later requests."""
        own = self._of(request.session)
        if own is None:
            return
        if isinstance(answer, Inserted):
            own.results.append(answer.result)
        elif isinstance(request, Turn) and isinstance(answer, Done):
            own.turns.append(request.turn)

    def with_content(self, request: Change) -> Change:
        """The same request again, under the same key, with all content that it named by its hash."""
        assert isinstance(request, Result)
        body = request.body
        if isinstance(body, ReadBody):
            body = msgspec.structs.replace(body, content=self._given(body.content))
        elif isinstance(body, ChangeBody):
            changes = [
                msgspec.structs.replace(change, before=None if change.before is None else self._given(change.before))
                for change in body.changes
            ]
            body = msgspec.structs.replace(body, changes=changes)
        return msgspec.structs.replace(request, id=self.next_id(), body=body)

    def _given(self, content: Content) -> Content:
        return content if content.sha256 is UNSET else Content(data=self._contents[content.sha256])

    def _put(self, path: str, data: bytes) -> None:
        self.files[path] = self._contents[_hash(data)] = data

    def next_id(self) -> int:
        self._ids += 1
        return self._ids

    def _of(self, session: str) -> Own | None:
        return next((own for own in (self._own, self._shared) if own.name == session), None)

    def _key(self) -> str:
        """Mostly in rising order, as the client makes them, and some in none."""
        number = f"{self.name}-{self._ids:09}"
        return number if self._chance.random() < 0.8 else f"{self._chance.randrange(16**8):08x}-{number}"

    def _session(self) -> Own:
        return self._shared if self._chance.random() < 0.2 else self._own

    def _result(self, own: Own, tool: str, body: TextBody | ReadBody | ChangeBody) -> Result:
        args = {"n": self._ids, "words": self._words(self._chance.randrange(1, 80))}
        if tool == "bash" and self._chance.random() < 0.3:
            args = {"same": True}
        return Result(
            id=self.next_id(), session=own.name, key=self._key(), tool=tool, args=args, body=body, call="call"
        )

    def _words(self, chars: int) -> str:
        at = self._chance.randrange(len(_PROSE) - chars)
        return _PROSE[at : at + chars]

    def _large(self) -> str:
        return "".join(f"{self._chance.random()}\n{self._words(20_000)}\n" for _ in range(LARGE_CHARS // 20_000 + 1))

    def _text(self) -> Change:
        size = self._chance.random()
        if size < 0.05:
            text = self._large()
        elif size < 0.1:
            text = self._words(40_000)
        elif size < 0.25 and self._said:
            text = self._chance.choice(self._said)
        else:
            text = self._words(self._chance.randrange(4000))
            self._said = [*self._said[-20:], text]
        return self._result(self._session(), "bash", TextBody(text=text, error=self._chance.random() < 0.1))

    def _read(self) -> Change:
        path = f"/home/{self.name}/{self._chance.randrange(30)}.txt"
        if path not in self.files or self._chance.random() < 0.3:
            large = self._chance.random() < 0.06
            self._put(path, (self._large() if large else self._words(self._chance.randrange(12_000))).encode())
        data = self.files[path]
        content = Content(text=data.decode()) if self._chance.random() < 0.5 else Content(data=data)
        return self._result(self._own, "read", self._read_body(path, content))

    def _read_again(self) -> Change | None:
        """By the hash alone."""
        if not self.files:
            return None
        path = self._chance.choice(sorted(self.files))
        return self._result(self._own, "read", self._read_body(path, Content(sha256=_hash(self.files[path]))))

    def _read_body(self, path: str, content: Content) -> ReadBody:
        offset, limit = (1, 2000) if self._chance.random() < 0.7 else (self._chance.randrange(1, 40), 20)
        return ReadBody(path=path, absolute=path, offset=offset, limit=limit, content=content)

    def _read_window(self) -> Change | None:
        large = [path for path, data in self.files.items() if data.count(b"\n") > 60]
        if not large:
            return None
        path = self._chance.choice(sorted(large))
        lines = self.files[path].decode().split("\n")
        total = len(lines) - (not lines[-1])
        text = "\n".join(lines[9:49]) + "\n"
        window = Window(text=text, lines=total, sha256=_hash(self.files[path]))
        body = ReadBody(path=path, absolute=path, offset=10, limit=40, content=Content(window=window))
        return self._result(self._own, "read", body)

    def _change(self) -> Change | None:
        small = sorted(path for path, data in self.files.items() if len(data) < LARGE_CHARS)
        if not small:
            return None
        path = self._chance.choice(small)
        before = self.files[path]
        after = before[: len(before) // 2].decode(errors="ignore").encode() + b"\nchanged\n"
        self._put(path, after)
        change = FileChange(
            path=path,
            absolute=path,
            before=Content(sha256=_hash(before)) if self._chance.random() < 0.5 else Content(data=before),
            after=Content(data=after),
        )
        return self._result(self._own, "edit", ChangeBody(changes=[change], note="a note"))

    def _recall(self) -> Change | None:
        own = self._session()
        if not own.results:
            return None
        result = self._chance.choice(own.results) if self._chance.random() < 0.9 else "ffff"
        offset = self._chance.choice([1, 1, 5])
        return Recall(id=self.next_id(), session=own.name, key=self._key(), result=result, offset=offset)

    def _message(self) -> Change:
        text = self._large() if self._chance.random() < 0.04 else self._words(self._chance.randrange(1000))
        role = self._chance.choice(["user", "assistant"])
        own = self._session()
        return Message(id=self.next_id(), session=own.name, key=self._key(), role=role, text=text)  # type: ignore[arg-type]

    def _turn(self) -> Change:
        self._own.turns_made += 1
        return Turn(id=self.next_id(), session=self._own.name, turn=f"turn {self._own.turns_made}")

    def _carry(self) -> Change:
        results = self._chance.choice(["all", "none", self._own.results[-5:]])
        return Carry(id=self.next_id(), session=self._own.name, key=self._key(), results=results)  # type: ignore[arg-type]

    def _take_back(self) -> Change | None:
        if not self._own.turns:
            return None
        turns = [self._own.turns.pop() for _ in range(min(2, len(self._own.turns)))]
        return TakeBack(id=self.next_id(), session=self._own.name, key=self._key(), turns=turns)

    def _compact(self) -> Change:
        return Compact(id=self.next_id(), session=self._own.name, key=self._key())

    def _delete(self) -> Change | None:
        if not self.deletable:
            return None
        return Delete(id=self.next_id(), session=self.deletable.pop(0))


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
