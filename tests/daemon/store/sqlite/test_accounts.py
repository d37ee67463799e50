"""Devices and tokens: the statements."""

from tests.daemon.store.opened import Opened, opened
from waybread_daemon.store.sqlite import accounts

__all__ = ["opened"]


def test_each_change_raises_the_version_by_one(opened: Opened) -> None:
    cursor = opened.cursor
    before = accounts.accounts_version(cursor)
    device = accounts.add_device(cursor, "dev", "phone", 1)
    accounts.add_token(cursor, "tok", device.number, "device", b"hash", 2)
    accounts.rename_device(cursor, device.number, "tablet")
    accounts.revoke(cursor, ["tok"], 3)
    assert accounts.accounts_version(cursor) == before + 4
    accounts.note_seen(cursor, {"tok": 4})
    assert accounts.accounts_version(cursor) == before + 4


def test_a_use_that_was_noted_late_does_not_turn_time_back(opened: Opened) -> None:
    device = accounts.add_device(opened.cursor, "dev", "phone", 1)
    accounts.add_token(opened.cursor, "tok", device.number, "device", b"hash", 2)
    accounts.note_seen(opened.cursor, {"tok": 9, "unknown": 9})
    accounts.note_seen(opened.cursor, {"tok": 5})
    token = accounts.token_of(opened.cursor, "tok")
    assert token is not None
    assert token.seen_ms == 9


def test_devices_are_numbered_in_the_order_in_which_they_were_made(opened: Opened) -> None:
    made = [accounts.add_device(opened.cursor, f"dev-{n}", "x", 9 - n) for n in range(3)]
    assert [device.number for device in made] == [1, 2, 3]
    assert accounts.all_devices(opened.cursor) == made
    assert accounts.all_tokens(opened.cursor) == []
