"""A disk that fails while the daemon starts: a clear refusal or a whole start, and nothing half-made."""

from __future__ import annotations

import itertools
import shutil
from pathlib import Path

import apsw
import pytest

from tests.crash.survey import survey
from tests.faults.disk import CALLS, Call, Disk, Fault, Way
from tests.faults.house import calling, new_token, serving
from tests.faults.scenario import Courses, look_at_all
from waybread_daemon.link.accounts import make_device_id, make_token
from waybread_daemon.serving import STORE_NAME
from waybread_daemon.store.contract import StoreFault, StoreRefusal
from waybread_daemon.store.sqlite import open_accounts, open_reader
from waybread_daemon.store.sqlite.statements import Rows, run

WAYS: tuple[Way, ...] = ("EIO", "ENOSPC", "short")


def schema_of(data: Path) -> Rows:
    connection = apsw.Connection(str(data / STORE_NAME))
    try:
        return run(connection.cursor(), "SELECT name, sql FROM sqlite_schema ORDER BY name")
    finally:
        connection.close()


async def crashed_store(folder: Path, courses: Courses) -> tuple[Path, str]:
    """A store as a crash leaves it: what was acknowledged stands in its log."""
    data, crashed = folder / "data", folder / "crashed"
    token = new_token(data)
    async with serving(data) as url, calling(url, token) as caller:
        await courses.run(caller, "before")
        crashed.mkdir()
        for end in ("", "-wal"):
            shutil.copyfile(data / f"{STORE_NAME}{end}", crashed / f"{STORE_NAME}{end}")
    assert (crashed / f"{STORE_NAME}-wal").stat().st_size > 100_000
    return crashed, token


def check_refusal(refusal: StoreRefusal, data: Path, way: Way) -> None:
    """A sentence with the file's name, and with what to do: free some space where there was none left."""
    assert str(data / STORE_NAME) in str(refusal), refusal
    full = "is full: free some space there and start again." in str(refusal)
    assert full or str(refusal).endswith("start again, and look at the disk if that does not help."), refusal
    assert not (full and way == "EIO")


@pytest.mark.parametrize("call", CALLS)
async def test_a_first_start_that_fails_at_any_call_refuses_clearly_and_the_next_makes_the_whole_store(
    tmp_path: Path, call: Call
) -> None:
    async with serving(tmp_path / "whole"):
        pass
    whole = schema_of(tmp_path / "whole")
    refused = 0
    for at in itertools.count(1):
        data = tmp_path / str(at)
        disk = Disk(f"disk {tmp_path.name} {at}")
        way = WAYS[at % 3]
        disk.fail(Fault((call,), way, at, 1))
        try:
            async with serving(data, disk):
                # A fault that only keeps SQLite from tidying up afterwards keeps nobody from starting.
                failed = disk.failed
                disk.mend()
        except StoreRefusal as refusal:
            check_refusal(refusal, data, way)
            failed = 1
            refused += 1
        if not failed:
            break
        async with serving(data):
            pass
        token = new_token(data)
        assert survey(data / STORE_NAME).lines == {}
        assert schema_of(data) == whole
        if at % 10 == 1:
            async with serving(data) as url, calling(url, token) as caller:
                await Courses().run(caller, "after")
    assert refused or call in ("delete", "truncate")


@pytest.mark.parametrize("call", CALLS)
async def test_a_start_after_a_crash_that_fails_at_any_call_loses_nothing(tmp_path: Path, call: Call) -> None:
    courses = Courses()
    crashed, token = await crashed_store(tmp_path, courses)
    for at in itertools.count(1):
        data = tmp_path / str(at)
        shutil.copytree(crashed, data)
        disk = Disk(f"disk {tmp_path.name} {at}")
        way = WAYS[at % 3]
        disk.fail(Fault((call,), way, at, 1))
        try:
            async with serving(data, disk):
                failed = disk.failed
                disk.mend()
        except StoreRefusal as refusal:
            check_refusal(refusal, data, way)
            failed = 1
        if not failed:
            break
        found = survey(data / STORE_NAME)
        assert found.head(1) == courses.seq
        if at % 10 == 1:
            async with serving(data) as url, calling(url, token) as caller:
                await courses.check(caller)
        shutil.rmtree(data)


@pytest.mark.parametrize("calls", [("write",), ("write", "sync", "truncate", "delete")])
async def test_a_daemon_starts_on_a_full_disk_after_a_crash_and_everything_that_only_looks_works(
    tmp_path: Path, calls: tuple[Call, ...]
) -> None:
    courses = Courses()
    crashed, token = await crashed_store(tmp_path, courses)
    disk = Disk(f"disk {tmp_path.name}")
    disk.fail(Fault(calls, "ENOSPC"))
    async with serving(crashed, disk) as url, calling(url, token) as caller:
        await courses.check(caller)
        await look_at_all(caller, "before-main")
        disk.mend()
        await courses.run(caller, "after")
    async with serving(crashed) as url, calling(url, token) as caller:
        await courses.check(caller)


async def test_a_first_start_on_a_full_disk_says_that_it_is_full(tmp_path: Path) -> None:
    disk = Disk(f"disk {tmp_path.name}")
    disk.fail(Fault(("write",), "ENOSPC"))
    with pytest.raises(StoreRefusal, match="is full: free some space there"):
        async with serving(tmp_path / "data", disk):
            pass


@pytest.mark.parametrize("call", ["open", "read", "write", "sync", "size"])
def test_a_command_that_fails_at_any_call_says_why_and_its_token_is_there_whole_or_not_at_all(
    tmp_path: Path, call: Call
) -> None:
    data = tmp_path / "data"
    new_token(data)
    known, sentences = 1, list[str]()
    for at in itertools.count(1):
        disk = Disk(f"disk {tmp_path.name} {at}")
        disk.fail(Fault((call,), WAYS[at % 3], at, 1))
        token = make_token()
        done = False
        try:
            with open_accounts(data / STORE_NAME, vfs=disk.name) as accounts:
                device = accounts.add_device(make_device_id(), f"device {at}", 1)
                accounts.add_token(token.token, device.number, "device", token.secret_hash, 1)
                done = True
        except StoreRefusal as refusal:
            check_refusal(refusal, data, WAYS[at % 3])
        except StoreFault as fault:
            sentences.append(fault.sentence)
        with open_reader(data / STORE_NAME) as reader:
            found = reader.token(token.token)
            assert (found is not None) == done
            known += done
            assert len(reader.tokens()) == known
        if not disk.failed:
            break
    assert all("Nothing of this was stored" in sentence for sentence in sentences)
    assert sentences or call in ("open", "size")
