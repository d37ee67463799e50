"""Random sessions: steps that meet each other often, because paths, contents, turns and arguments are few."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

KINDS = ("agent", "agent", "chat", "opaque")
TURNS = ("t1", "t2", "t3", "t4", "t5")
FILES = (("a.py", "/p/a.py"), ("./a.py", "/p/a.py"), ("b|c\n.md", "/p/b|c\n.md"), ("a.py", "/other/a.py"))
TOOLS = ("bash", "grep", "list", "glob", "search")
ARGS: tuple[dict[str, Any], ...] = ({}, {"p": 1}, {"p": 1.0}, {"b": {"y": 1, "x": [1.0, None]}, "a": "é"}, {"p": "1"})
FORMS = ("text", "bytes", "hash", "window", "declared")


def _lines(count: int, text: str = "line {n}", end: str = "\n") -> str:
    return "".join(text.format(n=n) + end for n in range(1, count + 1))


CONTENTS: tuple[bytes, ...] = (
    b"",
    b"\xef\xbb\xbf",
    b"one\n",
    b"one",
    _lines(9).encode(),
    _lines(9).replace("line 5", "line V").encode(),
    _lines(30, "row {n}\r").encode(),
    b"\xef\xbb\xbf" + _lines(12).encode(),
    "a\x0cb\u2028c\rd\n\n\n€\U0001f600\n".encode(),
    b"bad \xff\xe2\x82 bytes\nand \xf0\x9f more\n",
    _lines(2100).encode(),
    _lines(2100).replace("line 1000\n", "line M\nline MM\n").encode(),
    ("x" * 300 + "\n").encode() * 200,
)
TEXTS: tuple[str, ...] = (
    "",
    "\n",
    "out",
    "out\n",
    "a\n\n\n",
    _lines(400),
    _lines(401),
    _lines(399) + "\n\n\n",
    "y" * 40_000,
    "y" * 40_001,
    "\U0001f600" * 39_999 + "\n\n",
    "z" * 30_000 + "\ntail",
    _lines(300, "w" * 200 + " {n}"),
    "h\n" * 500 + "q" * 20_000,
    "q" * 20_001 + "\n" + "h\n" * 500,
)
OFFSETS = (1, 1, 1, 0, -3, 2, 5, 9, 10, 13, 50, 2000, 2001, 2**53 - 1)
LIMITS = (2000, 2000, 1, 3, 8, 0, -1, 2001, 500, -(2**53) + 1)


@dataclass(frozen=True)
class Step:
    """What to do, the fields of it, and how contents go out."""

    do: str
    fields: dict[str, Any] = field(default_factory=dict[str, Any])
    form: str = "text"


class Palette:
    """The few files and contents of one session, so that its steps meet each other."""

    def __init__(self, chance: random.Random) -> None:
        self.files = chance.sample(FILES, 2)
        self.contents = chance.sample(CONTENTS, 3)
        self.texts = chance.sample(TEXTS, 4)


def session(seed: int, most_steps: int) -> tuple[str, list[Step]]:
    """A session's kind and its steps."""
    chance = random.Random(seed)
    kind = chance.choice(KINDS)
    palette = Palette(chance)
    return kind, [_step(chance, palette) for _ in range(chance.randint(3, most_steps))]


def _step(chance: random.Random, palette: Palette) -> Step:
    makers = {
        _read: 10,
        _result: 6,
        _change: 3,
        _recall: 4,
        _turn: 4,
        _take_back: 3,
        _carry: 2,
        _compact: 1,
        _look: 2,
        _again: 1,
    }
    return chance.choices(list(makers), list(makers.values()))[0](chance, palette)


def _read(chance: random.Random, palette: Palette) -> Step:
    path, absolute = chance.choice(palette.files)
    content = chance.choice(palette.contents)
    fields: dict[str, Any] = {"path": path, "absolute": absolute, "content": content}
    if chance.random() < 0.7:
        fields |= {"offset": chance.choice(OFFSETS), "limit": chance.choice(LIMITS)}
    return Step("read", fields, chance.choice(FORMS))


def _result(chance: random.Random, palette: Palette) -> Step:
    return Step(
        "result",
        {
            "tool": chance.choice(TOOLS),
            "args": chance.choice(ARGS),
            "text": chance.choice(palette.texts),
            "error": chance.random() < 0.1,
        },
    )


def _change(chance: random.Random, palette: Palette) -> Step:
    changes: list[dict[str, Any]] = []
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        path, absolute = chance.choice(palette.files)
        before = chance.choice((None, *palette.contents))
        after = chance.choice(palette.contents) if before is None else chance.choice((None, *palette.contents))
        changes.append({"path": path, "absolute": absolute, "before": before, "after": after})
    note = chance.choice(("", "", "a note", "two\nlines\n"))
    return Step("change", {"changes": changes, "note": note}, chance.choice(("text", "bytes", "hash", "declared")))


def _recall(chance: random.Random, palette: Palette) -> Step:
    number = chance.randint(0, 14)
    written = chance.choice((f"#{number:04x}", f"{number:x}", f" #{number:X}\t", f"{number:08x}", "zz\x1b", "# 1"))
    fields: dict[str, Any] = {"result": written}
    if chance.random() < 0.6:
        fields |= {"offset": chance.choice(OFFSETS), "limit": chance.choice(LIMITS)}
    return Step(chance.choice(("recall", "recall", "show")), fields)


def _turn(chance: random.Random, palette: Palette) -> Step:
    return Step("turn", {"turn": chance.choice(TURNS)})


def _take_back(chance: random.Random, palette: Palette) -> Step:
    return Step("take_back", {"turns": chance.choices((*TURNS, "never"), k=chance.randint(1, 3))})


def _carry(chance: random.Random, palette: Palette) -> Step:
    named = [f"#{number:04x}" for number in chance.sample(range(1, 16), chance.randint(0, 8))]
    return Step("carry", {"results": chance.choice(("all", "all", "none", named, [*named, "nonsense"]))})


def _compact(_chance: random.Random, _palette: Palette) -> Step:
    return Step("compact")


def _look(_chance: random.Random, _palette: Palette) -> Step:
    return Step("reads")


def _again(chance: random.Random, palette: Palette) -> Step:
    """The last keyed request once more, or the state folded again from what is stored."""
    return Step(chance.choice(("repeat", "restart")))
