"""Steps of the cases as requests of the link, contents in each of the forms in which they may be sent."""

from __future__ import annotations

import hashlib
import secrets
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import cast

from waybread_conformance.describe import to_bytes
from waybread_conformance.targets.contract import Answer, PlainStep, TargetError

WINDOW_LINES = 2000


class RequestTarget(ABC):
    """A target that takes the requests of the link: one session a case, with a fresh id, deleted when the case is over.

    `ask` gets a request without its `id`, and answers with `error` holding the code where it was refused.
    """

    def __init__(self) -> None:
        self._form = "content"
        self._session = ""
        self._kind = "agent"
        self._as_bytes = False

    @abstractmethod
    def ask(self, request: Mapping[str, object]) -> Answer:
        """The answer to a request. Raises `TargetError` where there is none."""

    @abstractmethod
    def restart(self) -> None:
        """Make the target find the session anew as it is stored."""

    def begin(self, kind: str, form: str) -> None:
        """Open a new session whose contents go out in this form: `content`, `window` or `hash`."""
        self._delete()
        self._form = form
        self._session = f"conformance-{secrets.token_hex(8)}"
        self._kind = kind
        self._as_bytes = False
        self._open()

    def step(self, step: PlainStep) -> Answer:
        """Send the step's request and give what the daemon answers."""
        match step["do"]:
            case "read":
                return self._read(step)
            case "result":
                body = {"kind": "text", "text": step["text"], "error": step.get("error", False)}
                return self._insert(str(step["tool"]), body, step.get("args", {}))
            case "change":
                return self._change(step)
            case "recall" | "take_back" | "carry" | "compact" as do:
                return self._ask({"type": do, **_fields(step), "key": _key()})
            case "turn" | "reads" | "show" as do:
                return self._ask({"type": do, **_fields(step)})
            case "restart":
                self.restart()
                self._open()
                return {}
            case do:
                raise TargetError(f"no request stands for the step {do!r}")

    def _read(self, step: PlainStep) -> Answer:
        content = cast("PlainStep", step["content"])
        whole = to_bytes(cast("str | bytes", content.get("text", content.get("bytes"))))
        body: dict[str, object] = {"kind": "read", **_fields(step), "content": self._sent(content, whole)}
        if self._form == "window":
            body["content"] = {"window": _window(whole, step.get("offset", 1), step.get("limit", WINDOW_LINES))}
        return self._offer("read", body, [body])

    def _change(self, step: PlainStep) -> Answer:
        changes: list[dict[str, object]] = []
        for change in cast("Sequence[PlainStep]", step["changes"]):
            sent = dict(change)
            for side in ("before", "after"):
                content = cast("PlainStep | None", change[side])
                if content is not None:
                    sent[side] = self._sent(content, to_bytes(cast("str | bytes", next(iter(content.values())))))
            changes.append(sent)
        body = {"kind": "change", "changes": changes, "note": step.get("note", "")}
        return self._offer(str(step.get("tool", "edit")), body, changes)

    def _sent(self, content: PlainStep, whole: bytes) -> dict[str, object]:
        """A content as it goes out: text alternately as text and as bytes; its hash beside it in the form `hash`."""
        self._as_bytes = not self._as_bytes
        sent: dict[str, object] = {"bytes": whole} if self._as_bytes else dict(content)
        return {**sent, "sha256": hashlib.sha256(whole).hexdigest()} if self._form == "hash" else sent

    def _offer(self, tool: str, body: Mapping[str, object], holders: Sequence[dict[str, object]]) -> Answer:
        """Insert; in the form `hash` offer the hashes alone, and the content when it is asked for."""
        if self._form != "hash":
            return self._insert(tool, body)
        kept = [dict(holder) for holder in holders]
        hashes: set[object] = set()
        for holder in holders:
            for name in ("content", "before", "after"):
                content = cast("PlainStep | None", holder.get(name))
                if content is not None:
                    holder[name] = {"sha256": content["sha256"]}
                    hashes.add(content["sha256"])
        key = _key()
        answer = self._insert(tool, body, key=key)
        if answer.get("error") != "content_needed":
            return answer
        needed = cast("list[object]", answer.get("needed", []))
        if not needed or not set(needed) <= hashes:
            raise TargetError(f"content_needed names {needed}, the request named {sorted(map(str, hashes))}")
        for holder, whole in zip(holders, kept, strict=True):
            holder.update(whole)
        return self._insert(tool, body, key=key)

    def _insert(self, tool: str, body: Mapping[str, object], args: object = None, key: str = "") -> Answer:
        return self._ask({"type": "result", "key": key or _key(), "tool": tool, "args": args or {}, "body": body})

    def _open(self) -> None:
        answer = self._ask({"type": "open", "kind": self._kind, "title": "conformance"})
        if "error" in answer:
            raise TargetError(f"the session cannot be opened: {answer.get('message', answer['error'])}")

    def _ask(self, request: Mapping[str, object]) -> Answer:
        return self.ask({"session": self._session, **request})

    def _delete(self) -> None:
        """Leave nothing behind where the target allows it; where it does not, the session stays."""
        if self._session:
            self._ask({"type": "delete"})
            self._session = ""


def _fields(step: PlainStep) -> dict[str, object]:
    return {name: value for name, value in step.items() if name not in ("do", "content")}


def _key() -> str:
    return secrets.token_hex(16)


def _window(content: bytes, offset: object, limit: object) -> Mapping[str, object]:
    """The lines of a file that a read asks for, as a client sends them that does not send the whole."""
    text = content.decode("utf-8", "replace")
    pieces = text.removeprefix("\ufeff").split("\n")
    lines = [piece + "\n" for piece in pieces[:-1]] + ([pieces[-1]] if pieces[-1] else [])
    first = max(1, cast("int", offset))
    size = cast("int", limit)
    size = min(size, WINDOW_LINES) if size >= 1 else WINDOW_LINES
    shown = "".join(lines[first - 1 : first - 1 + size])
    mark = "\ufeff" if text.startswith("\ufeff") and first == 1 else ""
    return {"text": mark + shown, "lines": len(lines), "sha256": hashlib.sha256(content).hexdigest()}
