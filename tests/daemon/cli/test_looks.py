from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.daemon.cli.conftest import Filled
from waybread_daemon.cli.faults import CommandFault
from waybread_daemon.cli.looks import all_sessions, chosen_devices, find_device, find_session, session_fields
from waybread_daemon.store.contract import Reader
from waybread_daemon.store.sqlite import open_accounts, open_reader


@pytest.fixture
def reader(filled: Filled) -> Iterator[Reader]:
    with open_reader(filled.data / "waybread.sqlite") as reader:
        yield reader


def refusal(reader: Reader, session: str, device: str | None = None) -> str:
    with pytest.raises(CommandFault) as caught:
        find_session(reader, session, device)
    return str(caught.value)


def test_a_session_of_one_device_is_found_by_its_id_alone(reader: Reader, filled: Filled) -> None:
    found = find_session(reader, "work", None)
    assert (found.device.device, found.session.title) == (filled.phone, "a\ttitle")


def test_a_session_on_several_devices_asks_for_one_of_them(reader: Reader, filled: Filled) -> None:
    assert refusal(reader, "same") == (
        f"several devices have a session 'same': name one with --device, {filled.phone} (phone) or {filled.laptop} (laptop)"
    )
    assert find_session(reader, "same", filled.laptop).session.kind == "chat"
    assert find_session(reader, "same", filled.phone).session.kind == "agent"


def test_an_unknown_session_names_the_nearest_one(reader: Reader) -> None:
    assert refusal(reader, "wrok") == "there is no session 'wrok': is it 'work'? `waybread sessions` lists them"
    assert refusal(reader, "zzz") == "there is no session 'zzz': `waybread sessions` lists them"


def test_a_deleted_session_is_told_from_an_unknown_one(reader: Reader) -> None:
    assert refusal(reader, "gone") == "the session 'gone' was deleted, and all that it stored with it"


def test_a_name_given_for_an_id_is_answered_with_the_id(reader: Reader, filled: Filled) -> None:
    with pytest.raises(CommandFault) as caught:
        find_device(reader, "laptop")
    assert str(caught.value) == (
        f"there is no device with the id 'laptop': the id of the device of that name is {filled.laptop}"
    )


def test_an_unknown_device_points_to_the_list(reader: Reader) -> None:
    assert refusal(reader, "work", "nobody") == (
        "there is no device with the id 'nobody': `waybread device list` shows them"
    )


def test_without_an_id_all_devices_are_chosen(reader: Reader, filled: Filled) -> None:
    assert [device.device for device in chosen_devices(reader, None)] == [filled.phone, filled.laptop]
    assert [device.device for device in chosen_devices(reader, filled.laptop)] == [filled.laptop]


def test_sessions_that_were_deleted_are_in_no_list(reader: Reader, filled: Filled) -> None:
    phone = find_device(reader, filled.phone)
    assert [session.session for session in all_sessions(reader, phone)] == ["work", "same"]


def test_a_device_without_sessions_has_an_empty_list(tmp_path: Path) -> None:
    with open_accounts(tmp_path / "waybread.sqlite") as accounts:
        device = accounts.add_device("d", "n", 1)
    with open_reader(tmp_path / "waybread.sqlite") as reader:
        assert list(all_sessions(reader, device)) == []


def test_what_is_told_of_a_session_comes_in_one_order(reader: Reader) -> None:
    session = find_session(reader, "work", None).session
    fields = session_fields(session)
    assert " ".join(fields) == "kind title directory results turn head read_only opened_ms changed_ms"
    assert fields == {name: getattr(session, name) for name in fields}
