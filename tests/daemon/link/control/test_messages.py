import msgspec
import pytest

from waybread_daemon.link.control.messages import (
    Asked,
    AskPair,
    AskStatus,
    Deleted,
    DeleteDevice,
    DeleteSession,
    PairedWith,
    Purged,
    Refused,
    Told,
    Void,
)


@pytest.mark.parametrize(
    "line,asked",
    [
        ('{"type":"status"}', AskStatus()),
        ('{"type":"pair"}', AskPair(name="", role="device", device="")),
        ('{"type":"pair","name":"p","role":"viewer","device":"d"}', AskPair(name="p", role="viewer", device="d")),
        ('{"type":"delete_session","device":"d","session":"s"}', DeleteSession(device="d", session="s", wait=False)),
        ('{"type":"delete_device","device":"d","wait":true}', DeleteDevice(device="d", wait=True)),
    ],
)
def test_a_request_is_told_by_its_type_and_has_defaults(line: str, asked: Asked) -> None:
    assert msgspec.json.decode(line, type=Asked) == asked


@pytest.mark.parametrize(
    "line",
    [
        *("{}", '{"type":"stop"}', '{"type":"pair","role":"owner"}', '{"type":"pair","name":"%s"}' % ("x" * 129)),
        *('{"type":"delete_session","device":"d"}', '{"type":"delete_session","device":"d","session":""}'),
    ],
)
def test_any_other_line_is_no_request(line: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(line, type=Asked)


@pytest.mark.parametrize(
    "told,line",
    [
        (
            PairedWith(device="d", name="n", role="agent", token="t", token_name="x"),
            '{"type":"paired","device":"d","name":"n","role":"agent","token":"t","token_name":"x"}',
        ),
        (Void(why="late"), '{"type":"void","why":"late"}'),
        (Deleted(sessions=1), '{"type":"deleted","sessions":1}'),
        (Purged(), '{"type":"purged"}'),
        (Refused(message="no"), '{"type":"error","message":"no"}'),
    ],
)
def test_an_answer_is_one_object_with_its_type(told: Told, line: str) -> None:
    assert msgspec.json.encode(told).decode() == line
    assert msgspec.json.decode(line, type=Told) == told
