"""Runs the conversations of link.json against a running daemon, in each codec."""

from __future__ import annotations

import contextlib
import http.client
import secrets
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count
from typing import cast
from urllib.parse import urlsplit

from waybread_conformance.cases import LinkCase, Step
from waybread_conformance.context_runner import Outcome
from waybread_conformance.describe import expand, to_bytes
from waybread_conformance.expect import Difference
from waybread_conformance.match import Scope
from waybread_conformance.wire import ClosedError, RefusedError, Wire, WireError

ANSWER_TIMEOUT_S = 30.0
MAIN = "main"

Map = Mapping[str, object]


class _WrongError(Exception):
    """A step went wrong: `difference` says how."""

    def __init__(self, difference: Difference) -> None:
        super().__init__(difference)
        self.difference = difference


class _Conversation:
    """One run of one case: its connections by name, and what came on them that no step has asked for yet."""

    def __init__(self, case: LinkCase, url: str, tokens: Mapping[str, str], codec: str) -> None:
        self._url = url
        self._codec = codec
        self._wires: dict[str, Wire] = {}
        self._answers: dict[str, deque[Map]] = {}
        self._pushes: dict[str, deque[Map]] = {}
        self._ids = count(1)
        self._named = case.define
        self._tokens = tokens
        self.scope = Scope(secrets.token_hex(8), tokens, self._encode, case.define)
        self._does: Mapping[str, Callable[[Step, str], None]] = {
            "connect": self._connect,
            "ask": self._ask,
            "send": self._send,
            "expect": self._expect,
            "expect_close": self._expect_close,
            "silence": self._silence,
            "close": self._close,
            "http": self._http,
        }

    def do(self, step: Step) -> None:
        """Carry out one step. Raises `_WrongError` where the daemon does something else than it should."""
        self._does[str(step["do"])](step, str(step.get("on", MAIN)))

    def end(self) -> None:
        """Close whatever is still open, and delete the sessions: the daemon may be one in use."""
        for wire in self._wires.values():
            wire.close()
        for role in ("device", "other"):
            if self.scope.sessions and role in self._tokens:
                # What went wrong has been told by then; a daemon that is gone keeps nothing to delete.
                with contextlib.suppress(WireError):
                    self._delete_sessions(self._tokens[role])

    def _delete_sessions(self, token: str) -> None:
        wire = Wire(self._url, self._codec)
        wire.send({"type": "hello", "id": 1, "token": token, "client": "conformance 1"})
        for number, session in enumerate(sorted(self.scope.sessions), start=2):
            wire.send({"type": "delete", "id": number, "session": session})
        for _ in range(len(self.scope.sessions) + 1):
            wire.receive(ANSWER_TIMEOUT_S)
        wire.close()

    def _encode(self, message: Map) -> bytes:
        return self._wires[MAIN].encode(message)

    def _connect(self, step: Step, on: str) -> None:
        refused = cast("Map | None", step.get("refused"))
        subprotocols = cast("list[str] | None", step.get("subprotocols"))
        try:
            wire = Wire(
                self._url, self._codec, subprotocols=subprotocols, origin=cast("str | None", step.get("origin"))
            )
        except RefusedError as error:
            if refused is None:
                raise
            self._check(refused, {"status": error.status, "body": error.body})
            return
        self._wires[on] = wire
        self._answers[on], self._pushes[on] = deque(), deque()
        if refused is not None:
            raise _WrongError(Difference("handshake", refused, "the connection was taken"))
        if "subprotocol" in step:
            self._check(step["subprotocol"], wire.subprotocol)
        if "as" in step:
            number = next(self._ids)
            hello = {"type": "hello", "id": number, "token": self._tokens[str(step["as"])], "client": "conformance 1"}
            wire.send({**hello, **cast("Map", step.get("with", {}))})
            self._check({"type": "welcome", "re": number, **cast("Map", step.get("expect", {}))}, self._answer(on))

    def _ask(self, step: Step, on: str) -> None:
        """Send a message with the next id, and check the answer to it."""
        number = next(self._ids)
        message = cast("Map", self.scope.fill(step["message"]))
        self._wires[on].send({"id": number, **message})
        expected = {"re": message.get("id", number), **cast("Map", step["expect"])}
        self._check(expected, self._answer(on))

    def _send(self, step: Step, on: str) -> None:
        """Send a message as it is, or a frame that need not be one. The daemon may close before all is sent."""
        with contextlib.suppress(ClosedError):
            if "message" in step:
                self._wires[on].send(cast("Map", self.scope.fill(step["message"])))
                return
            frame = expand(step["frame"], self._named)
            text = step["frame_kind"] == "text" if "frame_kind" in step else isinstance(frame, str)
            self._wires[on].send_frame(to_bytes(frame), text=text)

    def _expect(self, step: Step, on: str) -> None:
        expected = cast("Map", step["message"])
        self._check(expected, self._answer(on) if "re" in expected else self._push(on))

    def _expect_close(self, step: Step, on: str) -> None:
        try:
            message = self._wires[on].receive(ANSWER_TIMEOUT_S)
        except ClosedError as closed:
            self._check(step["code"], closed.code)
            return
        raise _WrongError(Difference("close", step["code"], message, "a message came, the close is wanted"))

    def _silence(self, step: Step, on: str) -> None:
        """Nothing may come for a while."""
        waiting = [*self._answers[on], *self._pushes[on]]
        if not waiting:
            try:
                waiting = [self._wires[on].receive(cast("float", step["seconds"]))]
            except ClosedError:
                raise
            except WireError:
                return
        raise _WrongError(Difference("message", None, waiting[0], "nothing is wanted"))

    def _close(self, step: Step, on: str) -> None:  # noqa: ARG002 - all steps are called alike
        self._wires.pop(on).close()

    def _http(self, step: Step, on: str) -> None:  # noqa: ARG002 - all steps are called alike
        address = urlsplit(self._url)
        form = http.client.HTTPSConnection if address.scheme == "wss" else http.client.HTTPConnection
        connection = form(address.hostname or "", address.port, timeout=ANSWER_TIMEOUT_S)
        try:
            connection.request("GET", str(step["path"]), headers=cast("dict[str, str]", step.get("headers", {})))
            response = connection.getresponse()
            self._check(step["expect"], {"status": response.status, "body": response.read().decode("utf-8", "replace")})
        except (OSError, http.client.HTTPException) as error:
            raise WireError(f"{step['path']} cannot be had: {error}") from error
        finally:
            connection.close()

    def _answer(self, on: str) -> Map:
        """The next message that is an answer; pushes that come before it wait for their step."""
        if self._answers[on]:
            return self._answers[on].popleft()
        while "re" not in (message := self._wires[on].receive(ANSWER_TIMEOUT_S)):
            self._pushes[on].append(message)
        return message

    def _push(self, on: str) -> Map:
        if self._pushes[on]:
            return self._pushes[on].popleft()
        while "re" in (message := self._wires[on].receive(ANSWER_TIMEOUT_S)):
            self._answers[on].append(message)
        return message

    def _check(self, expected: object, got: object) -> None:
        wrong = self.scope.mismatch(expected, got)
        if wrong:
            raise _WrongError(Difference("message", expected, got, wrong))


def run_link(cases: Iterable[LinkCase], url: str, tokens: Mapping[str, str]) -> Iterator[Outcome]:
    """Run each case in each of its codecs. `tokens` by role: `device`, `agent`, `viewer`, and `other`, which is a
    device's own of another device. A case whose role has no token is passed over.
    """
    for case in cases:
        missing = {str(step["as"]) for step in case.steps if "as" in step} - set(tokens)
        missing |= {role for role in ("agent", "viewer", "other") if f"'$token': '{role}'" in str(case.steps)} - set(
            tokens
        )
        if missing:
            yield Outcome(case.name, "", passed_over=f"there is no token for {', '.join(sorted(missing))}")
            continue
        for codec in case.codecs:
            yield _run(case, url, tokens, codec)


def _run(case: LinkCase, url: str, tokens: Mapping[str, str], codec: str) -> Outcome:
    conversation = _Conversation(case, url, tokens, codec)
    at = 0
    step: Step = {}
    try:
        for at, step in enumerate(case.steps, start=1):  # noqa: B007 - both are told where a step goes wrong
            conversation.do(step)
    except _WrongError as wrong:
        return Outcome(case.name, codec, at, step, [wrong.difference])
    except WireError as error:
        return Outcome(case.name, codec, at, step, [Difference("connection", step.get("expect"), None, str(error))])
    finally:
        conversation.end()
    return Outcome(case.name, codec)
