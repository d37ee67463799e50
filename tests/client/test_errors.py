"""The client's errors: sentences for a person, and what ends a link."""

import pytest

from waybread_client import Denied, LinkError, Refused
from waybread_client.errors import Lost, closed


@pytest.mark.parametrize("code", [4401, 4403])
def test_only_a_refused_or_revoked_token_ends_the_link(code: int) -> None:
    assert isinstance(closed(code, ""), Denied)


@pytest.mark.parametrize("code", [None, 1000, 1001, 1006, 1007, 1009, 1011, 1012, 1013, 4408, 4999])
def test_every_other_close_is_a_lost_connection(code: int | None) -> None:
    assert isinstance(closed(code, ""), Lost)


def test_errors_are_sentences_with_what_the_daemon_said() -> None:
    assert str(closed(4403, "by the operator")) == (
        "this device's token was revoked: by the operator (close code 4403)"
    )
    assert str(closed(1012, "")) == "the connection was closed with code 1012"
    assert str(closed(None, "")) == "the connection broke off"
    refused = Refused("gone", "the session was deleted")
    assert str(refused) == "gone: the session was deleted"
    assert isinstance(refused, LinkError)
