"""Steps as requests of the link, contents in each of their forms."""

from __future__ import annotations

import hashlib
import itertools
from typing import Any

from tests.differential.steps import Step

_KEYS = itertools.count()


def request(step: Step, session: str, *, whole: bool) -> dict[str, Any]:
    """A step's request. `whole`: contents of which only the hash was offered go along in full."""
    fields = dict(step.fields)
    match step.do:
        case "read":
            content = fields.pop("content")
            form = "declared" if whole else step.form
            sent = content_in(content, form, fields.get("offset", 1), fields.get("limit", 2000))
            body = {"kind": "read", **fields, "content": sent}
            return _keyed("result", session, tool="read", body=body)
        case "result":
            body = {"kind": "text", "text": fields["text"], "error": fields["error"]}
            return _keyed("result", session, tool=fields["tool"], args=fields["args"], body=body)
        case "change":
            form = "declared" if whole else step.form
            changes = [
                {
                    **change,
                    "before": None if change["before"] is None else content_in(change["before"], form),
                    "after": None if change["after"] is None else content_in(change["after"], form),
                }
                for change in fields["changes"]
            ]
            body = {"kind": "change", "changes": changes, "note": fields["note"]}
            return _keyed("result", session, tool="edit", body=body)
        case "recall" | "take_back" | "carry" | "compact" as do:
            return _keyed(do, session, **fields)
        case do:
            return {"type": do, "session": session, **fields}


def content_in(content: bytes, form: str, offset: int = 1, limit: int = 2000) -> dict[str, Any]:
    """A content in one of the forms of the link; text that is no UTF-8 goes as bytes."""
    sha256 = hashlib.sha256(content).hexdigest()
    if form == "hash":
        return {"sha256": sha256}
    if form == "window":
        return {"window": {**_window(content, offset, limit), "sha256": sha256}}
    try:
        sent: dict[str, Any] = {"bytes": content} if form == "bytes" else {"text": content.decode()}
    except UnicodeDecodeError:
        sent = {"bytes": content}
    return {**sent, "sha256": sha256} if form == "declared" else sent


def _window(content: bytes, offset: int, limit: int) -> dict[str, Any]:
    text = content.decode("utf-8", "replace")
    mark, text = ("\ufeff", text[1:]) if text.startswith("\ufeff") else ("", text)
    lines = text.split("\n")
    ended = [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
    first = max(offset, 1)
    count = limit if 1 <= limit <= 2000 else 2000
    shown = "".join(ended[first - 1 : first - 1 + count])
    return {"text": mark + shown if first == 1 or not ended else shown, "lines": len(ended)}


def _keyed(kind: str, session: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, "session": session, "key": f"k{next(_KEYS):08x}", **fields}
