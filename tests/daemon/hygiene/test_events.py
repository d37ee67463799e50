"""Events as they are stored: their bytes never change their meaning."""

import msgspec
import pytest

from waybread_daemon.hygiene.events import (
    Answered,
    Carried,
    Changed,
    Compacted,
    Event,
    Opened,
    Read,
    Searched,
    TakenBack,
    TurnBegan,
    decode_event,
    encode_event,
)

SHA = bytes(range(32))
# As the first release stored them. A change that breaks one of these loses sessions: a new event takes a new tag.
STORED: list[tuple[str, Event]] = [
    ("9201a56167656e74", Opened("agent")),
    ("9201a463686174", Opened("chat")),
    ("9201a66f7061717565", Opened("opaque")),
    ("9202a574c3a9206f", TurnBegan("té o")),
    (
        "980312a4612e7079a72f782f612e7079c420" + SHA.hex() + "01cce0cd0154",
        Read(18, "a.py", "/x/a.py", SHA, 1, 224, 340),
    ),
    ("980301a165a22f65c420" + SHA.hex() + "000000", Read(1, "e", "/e", SHA, 0, 0, 0)),
    ("930402c420" + SHA.hex(), Searched(2, SHA)),
    ("9205ce00010000", Answered(65536)),
    ("93060392a22f61a22f62", Changed(3, ("/a", "/b"))),
    ("920792a174a175", TakenBack(("t", "u"))),
    ("920790", TakenBack(())),
    ("92089301020a", Carried((1, 2, 10))),
    ("920890", Carried(())),
    ("9208c0", Carried(None)),
    ("9409a56167656e7409a174", Compacted("agent", 9, "t")),
]


@pytest.mark.parametrize("stored, event", STORED)
def test_events_are_stored_and_read_in_the_form_of_the_first_release(stored: str, event: Event) -> None:
    assert encode_event(event).hex() == stored
    assert decode_event(bytes.fromhex(stored)) == event


def test_every_event_has_a_golden_form() -> None:
    assert {type(event) for _, event in STORED} == set(Event.__args__)


def test_fields_that_a_later_release_adds_at_the_end_are_passed_over() -> None:
    assert decode_event(msgspec.msgpack.encode([2, "t", "later"])) == TurnBegan("t")


def test_an_event_of_no_known_tag_is_no_event() -> None:
    with pytest.raises(msgspec.ValidationError):
        decode_event(msgspec.msgpack.encode([99, 1]))
