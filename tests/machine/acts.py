"""What the machine does, as Hypothesis strategies: steps that meet each other often, because their parts are few."""

from __future__ import annotations

import itertools
from typing import Any

from hypothesis import strategies as st

from tests.differential.requests import request
from tests.differential.steps import ARGS, CONTENTS, FILES, LIMITS, OFFSETS, TEXTS, TOOLS, Step

Steps = st.SearchStrategy[Step]
Map = dict[str, Any]

NAMES = ("a", "b", "c", "d")
TURNS = ("t1", "t2", "t3", "t4")
KEYED = ("read", "result", "change", "recall", "take_back", "carry", "compact", "message")
"""Steps that a key makes safe to send again."""

_KEYS = itertools.count()
_files = st.sampled_from(FILES)
# By their place, because Hypothesis writes a list out to describe it.
_contents = st.integers(0, 8).map(lambda at: CONTENTS[at])
_texts = st.integers(0, len(TEXTS) - 1).map(lambda at: TEXTS[at])
_NO_RANGE: Map = {}
_range: st.SearchStrategy[Map] = st.just(_NO_RANGE) | st.fixed_dictionaries(
    {"offset": st.sampled_from(OFFSETS), "limit": st.sampled_from(LIMITS)}
)
_ids = st.builds("#{:04x}".format, st.integers(0, 14)) | st.builds("{:X}".format, st.integers(1, 9)) | st.just("zz")


def _step(do: str, form: str = "text", **fields: Any) -> Step:
    return Step(do, fields, form)


def _read(file: tuple[str, str], content: bytes, window: Map, form: str) -> Step:
    return Step("read", {"path": file[0], "absolute": file[1], "content": content, **window}, form)


def _change(files: list[tuple[str, str]], sides: list[tuple[bytes | None, bytes | None]], note: str, form: str) -> Step:
    changes = [
        {"path": path, "absolute": absolute, "before": before, "after": after}
        for (path, absolute), (before, after) in zip(files, sides, strict=False)
    ]
    return Step("change", {"changes": changes, "note": note}, form)


def _recall(result: str, window: Map) -> Step:
    return Step("recall", {"result": result, **window})


_sides = st.tuples(_contents, _contents) | st.tuples(st.none(), _contents) | st.tuples(_contents, st.none())
turns = st.builds(_step, st.just("turn"), turn=st.sampled_from(TURNS))
reads = st.builds(_read, _files, _contents, _range, st.sampled_from(("text", "bytes", "declared", "hash", "window")))
results = st.builds(
    _step,
    st.just("result"),
    tool=st.sampled_from(TOOLS),
    args=st.sampled_from(ARGS),
    text=_texts,
    error=st.sampled_from((False, False, False, True)),
)
changes = st.builds(
    _change,
    st.lists(_files, min_size=1, max_size=2),
    st.lists(_sides, min_size=1, max_size=2),
    st.sampled_from(("", "a note")),
    st.sampled_from(("text", "bytes", "declared", "hash")),
)
recalls = st.builds(_recall, _ids, _range)
takings_back = st.builds(
    _step, st.just("take_back"), turns=st.lists(st.sampled_from((*TURNS, "never")), min_size=1, max_size=2)
)
carries = st.builds(
    _step, st.just("carry"), results=st.sampled_from(("all", "none")) | st.lists(_ids, min_size=0, max_size=4)
)
compactions = st.just(Step("compact"))
messages = st.builds(
    _step,
    st.just("message"),
    role=st.sampled_from(("user", "assistant", "system", "summary")),
    text=st.integers(0, 5).map(lambda at: TEXTS[at]),
)
openings = st.builds(
    _step, st.just("open"), kind=st.sampled_from(("agent", "agent", "chat", "opaque")), title=st.sampled_from(("", "é"))
)
deletions = st.just(Step("delete"))

arrangements: Steps = st.one_of(turns, turns, carries, takings_back, compactions)
endings: Steps = st.one_of(takings_back, takings_back, compactions, carries, turns)
inserts: Steps = st.one_of(reads, reads, results, changes, recalls)
dropped: Steps = st.one_of(inserts, inserts, turns, carries, compactions, messages).filter(
    lambda step: step.form != "hash"
)
"""What may be on its way when a link is cut. A hash may be refused once and taken the next time: that has its own way."""


def request_of(step: Step, session: str, *, whole: bool = False) -> Map:
    """A step as a request. One that has a key gets a fresh one."""
    made = request(step, session, whole=whole)
    return {**made, "key": f"m{next(_KEYS):08x}"} if step.do == "message" else made
