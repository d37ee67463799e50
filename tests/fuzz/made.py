"""Messages at random, made from the contract's structs: of every type, with names that meet each other often."""

from __future__ import annotations

import base64
import functools
import hashlib
import random
from collections.abc import Callable
from typing import Any, cast, get_args

from msgspec import inspect

from waybread_protocol.messages import Content, FileChange, FromClient, Struct, type_of

Map = dict[str, Any]

CLIENT: dict[str, type[Struct]] = {type_of(struct): struct for struct in get_args(FromClient)}
REQUESTS = sorted(set(CLIENT) - {"part"})

INTEGER_MAX = 2**53 - 1
NUMBERS = (0, 1, -1, 2, 7, 128, 1000, 1001, 2000, 4096, 2**31, 2**32, INTEGER_MAX, -INTEGER_MAX)
TEXTS = (
    "",
    "a",
    "one\ntwo\n",
    "\r\n\ufeff",
    "\U0001f600" * 3,
    "x" * 129,
    "\x00\x1b[0m",
    "é\u2028",
    "#0001",
    "y" * 5000,
)
FILES = (b"", b"one\ntwo\nthree\n", b"bad \xff\xfe\n", b"\xef\xbb\xbfmark\n", b"l\n" * 2500, b"\xf0\x9f\x98\x80")
HASHES = tuple(hashlib.sha256(data).hexdigest() for data in (*FILES, b"nobody has this"))
SESSIONS = ("f0", "f1", "f2", "f3")
TOOLS = ("bash", "grep", "list", "glob", "search", "read", "edit")

Chance = random.Random


def message(chance: Chance, type_: str, *, text: bool) -> Map:
    """A message of this type that mostly fits the contract. `text`: for JSON, where bytes go as base64."""
    made = _struct(chance, CLIENT[type_], text=text)
    if type_ == "delete":
        # The sessions that all others are about stay.
        made["session"] = f"gone {chance.randrange(1000)}"
    return {"type": type_, **made}


def _struct(chance: Chance, struct: type[Struct], *, text: bool) -> Map:
    if struct is Content:
        return _content(
            chance, chance.choice(("text", "text", "bytes", "bytes", "sha256", "sha256", "window", "both")), text=text
        )
    info = _info(struct)
    made: Map = {}
    if info.tag_field == "kind":
        made["kind"] = info.tag
    for field in info.fields:
        if field.required or chance.random() < 0.5:
            named = _NAMED.get(field.encode_name)
            made[field.encode_name] = named(chance) if named else _value(chance, field.type, text=text)
    if struct is FileChange:
        sides = chance.choice(((True, True), (True, False), (False, True), (True, True)))
        for name, has in zip(("before", "after"), sides, strict=True):
            kind = chance.choice(("text", "bytes", "sha256"))
            made[name] = _content(chance, kind, text=text) if has else None
    return made


@functools.cache
def _info(struct: type[Struct]) -> inspect.StructType:
    info = inspect.type_info(struct)
    assert isinstance(info, inspect.StructType)
    return info


def _content(chance: Chance, kind: str, *, text: bool) -> Map:
    data = chance.choice(FILES)
    sha256 = hashlib.sha256(data).hexdigest()
    whole = {"bytes": base64.b64encode(data).decode() if text else data}
    match kind:
        case "text":
            return {"text": data.decode("utf-8", "replace")}
        case "bytes":
            return whole
        case "sha256":
            return {"sha256": chance.choice(HASHES)}
        case "window":
            window = {"text": data.decode("utf-8", "replace"), "lines": data.count(b"\n"), "sha256": sha256}
            return {"window": window}
        case _:
            return {**whole, "sha256": chance.choice((sha256, *HASHES))}


def _value(chance: Chance, kind: inspect.Type, *, text: bool) -> Any:
    match kind:
        case inspect.StructType():
            return _struct(chance, cast("type[Struct]", kind.cls), text=text)
        case inspect.UnionType(types=types):
            return _value(chance, chance.choice(types), text=text)
        case inspect.IntType():
            return chance.choice(NUMBERS) if chance.random() < 0.1 else chance.randint(1, 40)
        case inspect.StrType():
            return chance.choice(TEXTS)
        case inspect.BytesType():
            data = chance.randbytes(chance.randrange(30))
            return base64.b64encode(data).decode() if text else data
        case inspect.BoolType():
            return chance.random() < 0.5
        case inspect.LiteralType(values=values):
            return chance.choice(values)
        case inspect.ListType(item_type=item):
            return [_value(chance, item, text=text) for _ in range(chance.choice((1, 1, 1, 2, 3, 0)))]
        case inspect.DictType():
            return {chance.choice(TEXTS): _json(chance, 3) for _ in range(chance.randint(0, 3))}
        case _:
            return None


def _json(chance: Chance, depth: int) -> Any:
    kind = chance.randrange(8 if depth else 6)
    match kind:
        case 0:
            return None
        case 1:
            return chance.random() < 0.5
        case 2:
            return chance.choice((*NUMBERS, 2**63, 2**64 - 1, -(2**63)))
        case 3:
            return chance.choice((0.5, 1.0, -0.0, 1e300, 5e-324, 1e20))
        case 4 | 5:
            return chance.choice(TEXTS)
        case 6:
            return [_json(chance, depth - 1) for _ in range(chance.randint(0, 3))]
        case _:
            return {chance.choice(TEXTS): _json(chance, depth - 1) for _ in range(chance.randint(0, 3))}


def _fresh_key(chance: Chance) -> str:
    return f"k{chance.randrange(50)}" if chance.random() < 0.2 else f"{chance.getrandbits(64):016x}"


_NAMED: dict[str, Callable[[Chance], Any]] = {
    "id": lambda chance: chance.randint(1, 10_000) if chance.random() < 0.9 else chance.choice(NUMBERS),
    "session": lambda chance: chance.choice(SESSIONS),
    "key": _fresh_key,
    "turn": lambda chance: f"t{chance.randrange(40)}",
    "turns": lambda chance: [f"t{chance.randrange(40)}" for _ in range(chance.choice((1, 1, 2, 3, 0)))],
    "result": lambda chance: chance.choice(("1", "#0002", " #3\t", "ffff", "zz", "#", f"{chance.randrange(200):x}")),
    "tool": lambda chance: chance.choice(TOOLS),
    "sha256": lambda chance: chance.choice(HASHES),
    "path": lambda chance: chance.choice(("a.py", "./a.py", "b|c\n.md")),
    "absolute": lambda chance: chance.choice(("/p/a.py", "/p/b|c\n.md")),
    "token": lambda chance: chance.choice(("", "no.token", "a" * 400)),
    "code": lambda _: "",
}
"""Fields of whose name the value is drawn, so that requests are about the same things."""
