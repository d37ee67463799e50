import base64
import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager

import pytest
from websockets.http11 import Request, Response
from websockets.sync.server import ServerConnection, serve
from websockets.typing import Subprotocol

from tests.conformance.fakes import json_daemon
from waybread_conformance.wire import ClosedError, RefusedError, Wire, WireError

Map = Mapping[str, object]


def echo(message: Map) -> Sequence[Map | int]:
    return [message]


def test_a_message_goes_out_and_comes_back() -> None:
    with json_daemon(echo) as url:
        wire = Wire(url, "json")
        wire.send({"type": "ping", "id": 1, "data": b"\xff"})
        assert (wire.subprotocol, wire.receive(5)) == ("waybread.v1.json", {"type": "ping", "id": 1, "data": "/w=="})
        wire.close()


def test_a_large_message_goes_in_parts_that_each_fit_into_a_frame() -> None:
    parts: list[Map] = []

    def keep(message: Map) -> Sequence[Map | int]:
        parts.append(message)
        return [{"re": 1}] if message["last"] else []

    with json_daemon(keep) as url:
        wire = Wire(url, "json")
        wire.send({"type": "x", "text": "x" * 1_200_000})
        assert wire.receive(5) == {"re": 1}
        wire.close()
    assert [(part["type"], part["index"], part["last"]) for part in parts] == [
        ("part", 0, False), ("part", 1, False), ("part", 2, True),
    ]  # fmt: skip
    joined = b"".join(base64.b64decode(str(part["data"])) for part in parts)
    assert joined == b'{"type":"x","text":"' + b"x" * 1_200_000 + b'"}'


def part(index: int, data: str, *, last: bool) -> Map:
    return {"type": "part", "index": index, "last": last, "data": base64.b64encode(data.encode()).decode()}


def test_parts_that_come_are_joined() -> None:
    with json_daemon(lambda _message: [part(0, '{"re"', last=False), part(1, ": 5}", last=True)]) as url:
        wire = Wire(url, "json")
        wire.send({"type": "ping"})
        assert wire.receive(5) == {"re": 5}
        wire.close()


@pytest.mark.parametrize(
    "answers",
    [[part(1, "{}", last=True)], [part(0, "{", last=False), {"re": 1}], [part(0, "[]", last=True)]],
    ids=["begin with another number", "broken off by another message", "join to what is no map"],
)
def test_parts_that_do_not_fit_together_are_an_error(answers: Sequence[Map]) -> None:
    with json_daemon(lambda _message: answers) as url:
        wire = Wire(url, "json")
        wire.send({"type": "ping"})
        with pytest.raises(WireError):
            wire.receive(5)
        wire.close()


def test_a_close_is_told_with_its_code() -> None:
    with json_daemon(lambda _message: [4401]) as url:
        wire = Wire(url, "json")
        wire.send({"type": "ping"})
        with pytest.raises(ClosedError) as caught:
            wire.receive(5)
        assert caught.value.code == 4401


def test_silence_is_an_error_after_a_while() -> None:
    with json_daemon(lambda _message: []) as url:
        wire = Wire(url, "json")
        with pytest.raises(WireError, match=r"nothing came within 0\.05 s"):
            wire.receive(0.05)
        wire.close()


def test_a_refused_handshake_is_told_with_its_status() -> None:
    with json_daemon(echo) as url, pytest.raises(RefusedError) as caught:
        Wire(url, "msgpack")
    assert caught.value.status == 400


def test_where_nobody_listens_is_an_error_that_names_the_address() -> None:
    with json_daemon(echo) as url:
        pass
    with pytest.raises(WireError, match=url):
        Wire(url, "json")


@contextmanager
def busy_daemon(*answers: tuple[int, str]) -> Generator[str]:
    """A daemon that answers each handshake but those after the last one with a status and a `Retry-After`."""
    left = list(answers)

    def answer(connection: ServerConnection, _: Request) -> Response | None:
        if not left:
            return None
        status, later = left.pop(0)
        response = connection.respond(status, "too many\n")
        response.headers["Retry-After"] = later
        return response

    with serve(
        lambda connection: connection.close(),
        "127.0.0.1",
        0,
        subprotocols=[Subprotocol("waybread.v1.json")],
        process_request=answer,
    ) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield "ws://{}:{}/link".format(*server.socket.getsockname()[:2])
        server.shutdown()
        thread.join()


def test_a_daemon_that_asks_to_come_back_later_is_asked_again_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    waited: list[float] = []
    monkeypatch.setattr("waybread_conformance.wire.sleep", waited.append)
    with busy_daemon((429, "42"), (503, "7")) as url:
        assert Wire(url, "json").subprotocol == "waybread.v1.json"
    assert waited == [42, 7]
    assert "the daemon asks to wait for 42 s: too many" in capsys.readouterr().err


@pytest.mark.parametrize("status, later", [(429, "91"), (429, ""), (503, "soon"), (403, "1")])
def test_a_refusal_that_names_no_time_or_too_long_a_one_is_told(
    monkeypatch: pytest.MonkeyPatch, status: int, later: str
) -> None:
    def never(seconds: float) -> None:
        pytest.fail(f"it waits for {seconds} s")

    monkeypatch.setattr("waybread_conformance.wire.sleep", never)
    with busy_daemon((status, later)) as url, pytest.raises(RefusedError) as caught:
        Wire(url, "json")
    assert caught.value.status == status


def test_a_daemon_that_never_has_room_is_not_waited_for_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    monkeypatch.setattr("waybread_conformance.wire.sleep", waited.append)
    with busy_daemon(*[(503, "40")] * 9) as url, pytest.raises(RefusedError):
        Wire(url, "json")
    assert waited == [40, 40]
