"""Texts as tools answer them: recorded ones where there are any, else generated ones of the same sizes."""

from __future__ import annotations

import functools
import json
import random
from dataclasses import dataclass
from typing import Any

from tests.transcripts.recorded import FOLDER, files, results

_SAMPLE = (
    "def class return import self None True error warning test passed failed value path file line number request answer "
    "session store commit reader writer daemon client socket frame bytes text INFO DEBUG 0x7f3a9c src/app/main.py "
    "tests/test_link.py /usr/lib/python3.11/asyncio/base_events.py ======= ------- 127.0.0.1:8787 sha256 [100%] = ( ) { } "
    "-> : => ok ms KiB 12 47 1,024 3.14 2026-10-01T08:30:12Z"
)
_WORDS = _SAMPLE.split()
_LINE_CHARS = 64
# Deciles of the sizes of recorded bodies, in bytes: median 231, mean some 1,700.
_BODY_BYTES = (12, 40, 80, 140, 231, 420, 800, 1_700, 3_600, 10_500)
_ARGS_BYTES = (40, 60, 90, 120, 180, 260, 400, 700, 1_500, 5_200)
_TOOLS = ("bash", "read", "edit", "grep", "glob", "web_fetch")


@dataclass(frozen=True)
class ToolResult:
    """What a tool was called with and what it answered."""

    tool: str
    args: dict[str, Any]
    text: str


def log_text(size_bytes: int, seed: int = 0, line_chars: int = _LINE_CHARS) -> str:
    """ASCII lines of words and numbers of `line_chars` characters each, `size_bytes` in all."""
    chance = random.Random(seed)
    # Lines are drawn from a pool: text of 60 MB has to be there in a second.
    pool = [_line(chance, line_chars) for _ in range(min(4096, size_bytes // line_chars + 1))]
    lines = chance.choices(pool, k=size_bytes // line_chars + 1)
    return "".join(lines)[:size_bytes]


def _line(chance: random.Random, chars: int) -> str:
    words: list[str] = []
    length = 0
    while length < chars:
        word = chance.choice(_WORDS) if chance.random() < 0.8 else str(chance.randrange(10**6))
        words.append(word)
        length += len(word) + 1
    return " ".join(words)[: chars - 1] + "\n"


@functools.cache
def real_results() -> tuple[ToolResult, ...]:
    """Results of agents: those recorded, in their order, or generated ones of the same sizes."""
    if has_recordings():
        return tuple(recorded_results())
    chance = random.Random(1)
    return tuple(
        ToolResult(
            chance.choice(_TOOLS),
            {"command": log_text(_size(chance, _ARGS_BYTES), number)},
            log_text(_size(chance, _BODY_BYTES), -number),
        )
        for number in range(2_000)
    )


def has_recordings() -> bool:
    """Whether recorded sessions lie where the tests look for them."""
    return FOLDER.is_dir()


def recorded_results() -> list[ToolResult]:
    """All recorded results. Half a character, which some recordings hold, is no text and is replaced."""
    recorded = [result for path in files("claude__", "codex__") for result in results(path)]
    return [ToolResult(result.tool, _valid(result.args), _valid(result.text)) for result in recorded]


def _valid(value: Any) -> Any:
    return json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))


def _size(chance: random.Random, deciles: tuple[int, ...]) -> int:
    return max(1, int(chance.choice(deciles) * chance.uniform(0.7, 1.3)))
