"""Tool results out of recorded agent sessions, where the folder with them lies beside the checkout."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, cast

FOLDER = Path(__file__).parents[3] / "shared" / "data" / "transcripts"
NUMBERED = re.compile(r"^ *(\d+)(?:→|\t)(.*)$")
NAMES = {"Grep": "grep", "Glob": "glob", "LS": "list", "Bash": "bash", "Read": "read"}

Json = dict[str, Any]


class Recorded(NamedTuple):
    """A call and what it answered."""

    call: str
    tool: str
    args: dict[str, Any]
    text: str
    error: bool


def files(*prefixes: str) -> list[Path]:
    """The recordings of these formats."""
    return sorted(path for path in FOLDER.glob("*.jsonl") if path.name.startswith(prefixes))


def results(path: Path) -> list[Recorded]:
    """The tool results of a recording, in order."""
    calls: dict[str, tuple[str, dict[str, Any]]] = {}
    found: list[Recorded] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        for call, name, args, text, error in _items(json.loads(line)):
            if text is None:
                calls[call] = NAMES.get(name, name), args
            else:
                tool, known = calls.get(call, ("unknown", {}))
                found.append(Recorded(call, tool, known, text, error))
    return found


def read_content(result: Recorded) -> tuple[str, int, str] | None:
    """Path, first line and text of a recorded read, its line numbers taken off; None where it is none."""
    path = result.args.get("file_path")
    lines = [NUMBERED.match(line) for line in result.text.split("\n")]
    while lines and lines[-1] is None:
        lines.pop()
    if result.tool != "read" or not isinstance(path, str) or not lines:
        return None
    shown = [match for match in lines if match is not None]
    numbers = [int(match[1]) for match in shown]
    if len(shown) != len(lines) or numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        return None
    return path, numbers[0], "\n".join(match[2] for match in shown) + "\n"


def _items(record: Json) -> Iterator[tuple[str, str, dict[str, Any], str | None, bool]]:
    message: Json = record.get("message") or {}
    payload: Json = record.get("payload") or {}
    if "content" in message and isinstance(message["content"], list):
        for block in cast("list[Json]", message["content"]):
            if block.get("type") == "tool_use":
                yield block["id"], block["name"], block["input"], None, False
            elif block.get("type") == "tool_result":
                yield block["tool_use_id"], "", {}, _text(block.get("content")), bool(block.get("is_error"))
    elif "call_id" in payload:
        if payload.get("type") in ("function_call", "custom_tool_call"):
            yield payload["call_id"], payload["name"], _arguments(payload), None, False
        elif payload.get("type") in ("function_call_output", "custom_tool_call_output"):
            yield payload["call_id"], "", {}, _output(payload["output"]), False


def _arguments(payload: dict[str, Any]) -> dict[str, Any]:
    text = payload.get("arguments", payload.get("input", ""))
    try:
        arguments: object = json.loads(text)
    except ValueError:
        return {"input": text}
    return cast("Json", arguments) if isinstance(arguments, dict) else {"input": text}


def _output(output: Any) -> str:
    if not isinstance(output, str):
        return json.dumps(output)
    try:
        return str(json.loads(output)["output"])
    except (ValueError, KeyError, TypeError):
        return output


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = cast("list[Json]", content or [])
    return "\n".join(str(part.get("text", json.dumps(part))) for part in parts)
