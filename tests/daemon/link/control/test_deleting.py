"""Deleting through the desk: as a device does it, and for good."""

from pathlib import Path

import pytest

from tests.daemon.office import Office, an_office, opening, text
from waybread_daemon.link.control.deleting import delete_device, delete_session
from waybread_daemon.store.contract import Device
from waybread_protocol.errors import ErrorCode, RequestError
from waybread_protocol.messages import Opened


async def owner(office: Office) -> Device:
    return (await office.store.look(lambda reader: reader.devices()))[0]


async def test_a_session_is_gone_and_its_deletion_is_an_entry(tmp_path: Path) -> None:
    async with an_office(tmp_path, "s", "other") as office:
        await office.insert(text("k1", "out"))
        assert await delete_session(office.desk, await owner(office), "s") is True
        page = await office.page()
        assert [(entry.kind, entry.session) for entry in page.entries] == [("opened", "other"), ("deleted", "s")]
        await office.error(text("k2", "more"), "gone")


async def test_what_was_sent_before_is_answered_before_it_is_deleted(tmp_path: Path) -> None:
    async with an_office(tmp_path, "s") as office:
        sent = [office.send(text(f"k{number}", "out")) for number in range(50)]
        await delete_session(office.desk, await owner(office), "s")
        assert [answer.done() for answer in sent] == [True] * 50
        assert [entry.seq for entry in (await office.page()).entries] == [52]


async def test_a_second_deletion_does_nothing(tmp_path: Path) -> None:
    async with an_office(tmp_path, "s") as office:
        device = await owner(office)
        assert await delete_session(office.desk, device, "s") is True
        head = await office.head()
        assert await delete_session(office.desk, device, "s") is False
        assert await office.head() == head


async def test_a_session_that_never_was_is_refused(tmp_path: Path) -> None:
    async with an_office(tmp_path) as office:
        with pytest.raises(RequestError) as caught:
            await delete_session(office.desk, await owner(office), "none")
    assert caught.value.code == ErrorCode.UNKNOWN_SESSION


async def test_a_full_disk_is_told_and_leaves_the_session(tmp_path: Path) -> None:
    async with an_office(tmp_path, "s") as office:
        office.failing.failing = True
        with pytest.raises(RequestError) as caught:
            await delete_session(office.desk, await owner(office), "s")
        assert caught.value.code == ErrorCode.STORAGE_FULL
        office.failing.failing = False
        assert (await office.ask(opening("s"), Opened)).created is False


async def test_a_device_goes_with_all_its_sessions_and_no_others(tmp_path: Path) -> None:
    async with an_office(tmp_path, "a", "b") as office:
        device, other = await owner(office), await office.another_device()
        await office.insert(text("k1", "out", "a"))
        assert await delete_device(office.desk, device) == 2
        await office.error(text("k2", "more", "a"), "gone")
        left = await office.store.look(lambda reader: [one.number for one in reader.devices()])
        assert left == [other.number]
        assert await office.store.look(lambda reader: reader.sessions(device.number, 0, 10)) == []
