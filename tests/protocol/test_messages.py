"""Who may send what, and what answers it."""

import inspect

import pytest

from tests.protocol.arbitrary import CLIENT, DAEMON
from waybread_protocol import answers, requests
from waybread_protocol.limits import type_of
from waybread_protocol.messages import REQUESTS, ROLES, BaseRequest, Hello, Open, Part, Struct


def test_requests_stand_in_the_order_in_which_they_are_spoken() -> None:
    assert list(REQUESTS) == [
        "hello", "describe", "ping", "open", "turn", "carry", "result", "recall", "take_back", "compact", "message",
        "show", "reads", "sessions", "sync", "history", "entry_text", "unfollow", "delete",
    ]  # fmt: skip


def test_a_device_may_do_all_an_agent_all_but_delete_and_a_viewer_only_look() -> None:
    assert ROLES["device"] == set(REQUESTS)
    assert ROLES["agent"] == set(REQUESTS) - {"delete"}
    assert ROLES["viewer"] == {
        "hello", "describe", "ping", "sessions", "sync", "history", "entry_text", "unfollow", "show", "reads",
    }  # fmt: skip


def test_every_request_names_an_answer_that_the_daemon_has() -> None:
    types = {type_of(message) for message in DAEMON}
    assert {request.answer for request in REQUESTS.values()} < types


@pytest.mark.parametrize(
    "module, union, base", [(requests, CLIENT, BaseRequest), (answers, DAEMON, answers.BaseAnswer)]
)
def test_every_message_of_a_module_is_in_its_union(module: object, union: list[type[Struct]], base: type) -> None:
    found = [member for _, member in inspect.getmembers(module, inspect.isclass) if issubclass(member, base)]
    assert {member for member in found if member is not base} <= set(union)


def test_only_part_has_no_number_among_what_clients_send() -> None:
    assert [struct for struct in CLIENT if "id" not in struct.__struct_fields__] == [Part]


def test_messages_are_immutable() -> None:
    message = Open(id=1, session="s", kind="chat")
    with pytest.raises(AttributeError):
        message.session = "other"  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]


def test_the_type_of_a_message_and_of_its_struct_are_the_same() -> None:
    assert type_of(Hello(id=1, client="c")) == type_of(Hello) == "hello"
