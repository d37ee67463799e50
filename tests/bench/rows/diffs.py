"""Diffs of large files against libgit2 alone, and whether others wait for them."""

from __future__ import annotations

import ctypes
import importlib
import random
import time
from collections.abc import Callable

from tests.bench.figures import Figure, Rounds, median
from tests.bench.messages import Messages, alone, by_hash, hello, in_parts, ping
from tests.bench.programs.orders import Serial
from tests.bench.room import Room
from tests.bench.rows.large import meanwhile
from tests.bench.texts import log_text
from waybread_daemon.hygiene.answer import text_of
from waybread_daemon.hygiene.change import FileChange, change_answer, describe_change
from waybread_daemon.hygiene.session import State

_LINES = 50_000
_CHANGES = 500
_LINE_CHARS = 64
_TIMES = 3
_EDITS = 4
_PINGS = 100_000
_KINDS = {"few": "500 changes", "all": "nothing in common"}


def diffs(room: Room) -> list[Figure]:
    """A file of 50,000 lines with 500 changes, and two that have no line in common."""
    figures: list[Figure] = []
    for kind, before, after in _pairs():
        figures += [_alone(room, kind, before, after), _stall(room, kind, before, after)]
    return figures


def _pairs() -> list[tuple[str, bytes, bytes]]:
    chance = random.Random(1)
    lines = [f"{number} {line}\n" for number, line in enumerate(log_text(_LINES * _LINE_CHARS).splitlines())]
    changed = lines.copy()
    for at in chance.sample(range(len(lines)), _CHANGES):
        changed[at] = f"changed {at}\n"
    other = [f"other {line}" for line in lines]
    before = "".join(lines).encode()
    return [
        ("few", before, "".join(changed).encode()),
        ("all", before, "".join(other).encode()),
    ]


def _alone(room: Room, kind: str, before: bytes, after: bytes) -> Figure:
    bare = _Libgit2()
    rounds = Rounds()
    for _ in range(room.rounds):
        rounds.add("rules", _seconds(lambda: _change(before, after)))
        rounds.add("libgit2", _seconds(lambda: bare.diff(before, after)))
    what = f"diff of 50,000 lines, {_KINDS[kind]}, against libgit2"
    return Figure(f"diff_{kind}", what, 1.5, rounds.ratio("rules", "libgit2"), raw=rounds.raw("ms", 1e3))


def _change(before: bytes, after: bytes) -> str:
    described = describe_change([FileChange("a.py", "/a.py", before, after, bytes(32))])
    answer = change_answer(State(), described, "")
    return text_of(answer, answer.body)


def _seconds(work: Callable[[], object]) -> float:
    taken: list[float] = []
    for _ in range(_TIMES):
        begin = time.perf_counter()
        work()
        taken.append(time.perf_counter() - begin)
    return median(taken)


def _stall(room: Room, kind: str, before: bytes, after: bytes) -> Figure:
    """The longest that another link's ping takes while such edits are worked on, whose contents are there already."""
    daemon, large, small = room.daemon(kind), room.load(), room.load()
    token = daemon.token()
    messages = Messages("edits")
    large.open("link", daemon.url, [hello(token), messages.opening()])
    small.open("link", daemon.url, [hello(token)])
    first = messages.change("a.py", {"bytes": before}, {"bytes": after})
    large.ask(Serial("link", [in_parts(first)]))
    pings = alone([ping()] * _PINGS)
    rounds = Rounds()
    for _ in range(room.rounds):
        rounds.add("alone", max(small.latencies_s("link", pings[:2000])))
        edits = [messages.change("a.py", by_hash(before), by_hash(after)) for _ in range(_EDITS)]
        rounds.add("beside", max(meanwhile(small, pings, large, alone(edits))))
    daemon.stop()
    what = f"diff of 50,000 lines, {_KINDS[kind]}: others stalled"
    return Figure(f"diff_{kind}_stall", what, 10, rounds.median("beside") * 1e3, "ms", raw=rounds.raw("ms", 1e3))


class _Libgit2:
    """The two calls that a diff cannot be made without."""

    def __init__(self) -> None:
        module = importlib.import_module("pygit2._pygit2")
        library = ctypes.CDLL(str(module.__file__))
        library.git_libgit2_init()
        size, pointer = ctypes.c_size_t, ctypes.c_void_p
        self._from_buffers = library.git_patch_from_buffers
        self._from_buffers.argtypes = (pointer, *(ctypes.c_char_p, size, ctypes.c_char_p) * 2, pointer)
        self._to_buffer = library.git_patch_to_buf
        self._to_buffer.argtypes = (pointer, pointer)
        self._free_patch = library.git_patch_free
        self._free_patch.argtypes = (pointer,)
        self._free_buffer = library.git_buf_dispose
        self._free_buffer.argtypes = (pointer,)

    def diff(self, before: bytes, after: bytes) -> None:
        """Makes the diff's text where libgit2 makes it, and lets it go."""
        patch = ctypes.c_void_p()
        buffer = (ctypes.c_size_t * 3)()
        status = self._from_buffers(ctypes.byref(patch), before, len(before), None, after, len(after), None, None)
        status = status or self._to_buffer(ctypes.byref(buffer), patch)
        self._free_buffer(ctypes.byref(buffer))
        self._free_patch(patch)
        if status:
            raise RuntimeError(f"libgit2 gave {status}")
