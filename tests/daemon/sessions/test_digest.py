"""What makes two requests the same."""

from waybread_daemon.sessions.digest import request_digest


def test_equal_fields_give_equal_digests_of_16_bytes() -> None:
    assert request_digest("result", "bash", b"{}", None, 3) == request_digest("result", "bash", b"{}", None, 3)
    assert len(request_digest("compact")) == 16


def test_every_difference_in_a_field_its_type_or_its_place_gives_another_digest() -> None:
    digests = [
        request_digest(*fields)
        for fields in (
            ("a", "b"),
            ("b", "a"),
            ("ab", ""),
            ("", "ab"),
            ("ab",),
            (b"ab",),
            (["ab"],),
            (["a", "b"],),
            (None,),
            ("",),
            (False,),
            (0,),
            (1,),
            ("1",),
            (),
        )
    ]
    assert len(set(digests)) == len(digests)


def test_the_digest_of_a_stored_request_never_changes() -> None:
    """It stands in stores: another digest would make every repeat after an update a conflict."""
    assert request_digest("result", "bash", b'{"a":1}', "call", "text", bytes(32), False).hex() == (
        "f3eb13bd0c617ef4c4658794cd98785c"
    )
