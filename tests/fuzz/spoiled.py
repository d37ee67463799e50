"""What becomes of a good message on its way to a fuzzer: fields taken, swapped and added; bytes flipped, cut and joined."""

from __future__ import annotations

import random
from typing import Any, cast

import msgspec

from tests.fuzz.made import Map, message

Chance = random.Random
Frame = bytes | str

ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 2**53, -(2**53), 2**63, 2**64 - 1, 1.0, 1.5, -0.0, 1e308, "", "x", "#0001", "f9", "\u2028",
    "z" * 1025, [], {}, [None], [[]], {"a": {"b": [1, {"c": None}]}}, {"type": "ping", "id": 1}, "all", "none",
)  # fmt: skip
ODD_BINARY: tuple[Any, ...] = (
    b"", b"\xff" * 9, msgspec.msgpack.Ext(5, b"ext"), msgspec.msgpack.Ext(-1, bytes(4)), {1: 2}, {None: 1}, {b"k": 1},
    float("nan"), float("inf"),
)  # fmt: skip
MARKERS = tuple(
    bytes([first]) for first in (0xC1, 0xC4, 0xC6, 0xC7, 0xC9, 0xD8, 0xDB, 0xDD, 0xDF, 0x8F, 0x9F, 0xBF, 0xFF)
)


def encode(value: Any, *, text: bool) -> bytes:
    return msgspec.json.encode(value) if text else msgspec.msgpack.encode(value)


def spoiled(chance: Chance, type_: str, *, text: bool) -> bytes:
    """An encoded message, good or with a few things done to it."""
    made = message(chance, type_, text=text)
    fate = chance.random()
    if fate < 0.55:
        return encode(made, text=text)
    if fate < 0.88:
        value: Any = made
        for _ in range(chance.choice((1, 1, 1, 2, 3))):
            value = _twisted(chance, value, text=text)
        return encode(value, text=text)
    data = encode(made, text=text)
    for _ in range(chance.choice((1, 1, 2, 4))):
        data = _damaged(chance, data)
    return data


def _twisted(chance: Chance, value: Any, *, text: bool) -> Any:
    """The message with something done to one place in it, at whatever depth."""
    if isinstance(value, dict):
        fields = cast("Map", value)
        if fields and chance.random() < 0.4:
            name = chance.choice(list(fields))
            return {**fields, name: _twisted(chance, fields[name], text=text)}
        return _twisted_map(chance, fields, text=text)
    items = _items(value)
    if items and chance.random() < 0.5:
        at = chance.randrange(len(items))
        return [*items[:at], _twisted(chance, items[at], text=text), *items[at + 1 :]]
    return chance.choice(ODD if text else (*ODD, *ODD_BINARY))


def _items(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []


def _twisted_map(chance: Chance, fields: Map, *, text: bool) -> Map:
    names = list(fields)
    match chance.randrange(5):
        case 0 if names:
            gone = chance.choice(names)
            return {name: value for name, value in fields.items() if name != gone}
        case 1 if names:
            return {**fields, chance.choice(names): chance.choice(ODD if text else (*ODD, *ODD_BINARY))}
        case 2 if len(names) > 1:
            one, other = chance.sample(names, 2)
            return {**fields, one: fields[other], other: fields[one]}
        case 3 if names:
            old = chance.choice(names)
            return {(f"{name}s" if name == old else name): value for name, value in fields.items()}
        case _:
            return {**fields, f"x{chance.randrange(9)}": chance.choice(ODD if text else (*ODD, *ODD_BINARY))}


def _damaged(chance: Chance, data: bytes) -> bytes:
    at, to = sorted((chance.randint(0, len(data)), chance.randint(0, len(data))))
    match chance.randrange(8):
        case 0:
            return data[:at]
        case 1:
            return data[:at] + data[to:]
        case 2:
            return data[:at] + chance.randbytes(chance.randint(1, 4)) + data[at:]
        case 3 if data:
            flipped = bytearray(data)
            flipped[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
            return bytes(flipped)
        case 4:
            return data + data[at:to]
        case 5:
            return data[:at] + chance.choice(MARKERS) + data[at:]
        case 6:
            return data[:at] + data[at : at + 40] * chance.randint(2, 30) + data[at:]
        case _:
            return chance.randbytes(chance.randint(0, 60))


def nested(chance: Chance, *, text: bool) -> bytes:
    """A message with something deep in it."""
    depth = chance.choice((60, 64, 65, 500, 3000, 20_000))
    if text:
        opened, closed = chance.choice((("[", "]"), ('{"a":', "}")))
        inner = opened * depth + "1" + closed * depth
        return f'{{"type":"result","id":1,"session":"f0","key":"deep","tool":"t","args":{{"a":{inner}}},"body":1}}'.encode()
    head = msgspec.msgpack.encode({"type": "result", "id": 1, "session": "f0", "key": "deep", "tool": "t"})
    inner_bytes = chance.choice((b"\x91", b"\x81\xa1a")) * depth + b"\x01"
    return b"\x87" + head[1:] + b"\xa4args" + inner_bytes + b"\xa4body\x01"


JSON_ODDITIES = (
    '{"type":"ping","id":1,"id":2}',
    '{"type":"ping","id":NaN}',
    '{"type":"ping","id":1,"x":Infinity}',
    '{"type":"ping","id":1,"x":"\\ud800"}',
    '{"type":"message","id":3,"session":"f0","key":"s","role":"user","text":"\\udfff"}',
    '{"type":"message","id":3,"session":"f0","key":"s","role":"user","text":"\\ud83d\\ude00"}',
    '{"type":"ping","id":1e0}',
    '{"type":"ping","id":1.0}',
    '{"type":"ping","id":01}',
    '{"type":"ping","id":+1}',
    '{"type":"ping","id":1,}',
    "{'type':'ping','id':1}",
    '{"type":"ping","id":1}x',
    ' {"type" : "ping" , "id" : 5 } ',
    '\ufeff{"type":"ping","id":1}',
    '{"type":"ping","id":' + "9" * 5000 + "}",
    '{"type":"ping","id":1,"x":"\x01"}',
    '{"type":"ping","id":1} {"type":"ping","id":2}',
    "null", "[]", '"ping"', "1", "", " ", "{", "}", "[" * 50, '{"type":"ping","id":1,"\\u0000":0}',
    '{"\\u0074ype":"ping","id":9}',
)  # fmt: skip


def odd_json(chance: Chance) -> bytes:
    return chance.choice(JSON_ODDITIES).encode()


def as_text(data: bytes) -> str | None:
    """The bytes as a text frame, None where they are no UTF-8: WebSocket has no such frame."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def parts_of(data: bytes, piece_bytes: int, *, text: bool) -> list[bytes]:
    """An encoded message in parts, as a client sends it."""
    pieces = [data[at : at + piece_bytes] for at in range(0, len(data), piece_bytes)] or [b""]
    return [
        encode({"type": "part", "index": index, "last": index == len(pieces) - 1, "data": piece}, text=text)
        for index, piece in enumerate(pieces)
    ]
