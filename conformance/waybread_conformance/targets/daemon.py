"""A running daemon, over its websocket. Each case is tried in every form in which a file's content may be sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count

from waybread_conformance.targets.contract import Answer, PlainStep, TargetError
from waybread_conformance.targets.requests import RequestTarget
from waybread_conformance.wire import Wire, WireError

ANSWER_TIMEOUT_S = 60.0
FORMS = ("content, msgpack", "content, json", "window, json", "hash, msgpack")
FORMS_WITHOUT_FILES = FORMS[:2]


class DaemonTarget(RequestTarget):
    """Steps become requests of the link, in both codecs."""

    patient = False

    def __init__(self, url: str, token: str) -> None:
        super().__init__()
        self.label = url
        self._url = url
        self._token = token
        self._wires: dict[str, Wire] = {}
        self._ids = count(1)
        self._codec = "msgpack"

    def forms(self, steps: Sequence[PlainStep]) -> Sequence[str]:
        """Whole content, window, hash alone first; both codecs."""
        return FORMS if any(step["do"] in ("read", "change") for step in steps) else FORMS_WITHOUT_FILES

    def begin(self, kind: str, form: str) -> None:
        """Open a new session in the form's codec."""
        contents, codec = form.split(", ")
        self._leave()
        self._codec = codec
        super().begin(kind, contents)

    def restart(self) -> None:
        """A client cannot restart the daemon; a new connection at least finds the session as it is stored."""
        self._hang_up()

    def close(self) -> None:
        """Delete the last session and close the connections."""
        self._leave()
        for wire in self._wires.values():
            wire.close()
        self._wires.clear()

    def ask(self, request: Mapping[str, object]) -> Answer:
        """Send a request and give what the daemon answers."""
        number = next(self._ids)
        try:
            wire = self._wire()
            wire.send({"id": number, **request})
            answer = wire.receive(ANSWER_TIMEOUT_S)
        except WireError as error:
            self._wires.pop(self._codec, None)
            raise TargetError(str(error)) from error
        if answer.get("re") != number:
            raise TargetError(f"the answer to request {number} is wanted, got {answer!r:.200}")
        if answer.get("type") == "error":
            return {**answer, "error": answer.get("code")}
        return answer

    def _wire(self) -> Wire:
        """The connection of the form's codec; made, with hello said, where there is none."""
        wire = self._wires.get(self._codec)
        if wire is None:
            wire = Wire(self._url, self._codec)
            wire.send({"type": "hello", "id": next(self._ids), "token": self._token, "client": "waybread conformance"})
            welcome = wire.receive(ANSWER_TIMEOUT_S)
            if welcome.get("type") != "welcome":
                raise WireError(f"no welcome: {welcome.get('message', welcome)}")
            self._wires[self._codec] = wire
        return wire

    def _hang_up(self) -> None:
        wire = self._wires.pop(self._codec, None)
        if wire is not None:
            wire.close()

    def _leave(self) -> None:
        try:
            self._delete()
        except TargetError:
            self._hang_up()
            self._session = ""
